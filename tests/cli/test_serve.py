"""`hinged serve`: what it does without serving."""

import json
import re
from concurrent.futures import ThreadPoolExecutor

from tests.cli.conftest import is_one_sentence

from hinged.service.access import Tokens, create_token, read_tokens, revoke_token


def test_tokens_are_listed_by_their_ids_and_revoked(call, tmp_path):
    code, first, said = call("serve", tmp_path, "--create-token", "mail:write")
    second = json.loads(call("serve", tmp_path, "--create-token", "*:read", "--json")[1])
    id, name = re.search(r"id (\w{8}) \((\S+)\)", said).groups()
    assert (code, name) == (0, "mail:write")
    assert call("serve", tmp_path, "--list-tokens")[1].splitlines() == [f"{id}  mail:write", f"{second['id']}  *:read"]
    assert call("serve", tmp_path, "--revoke-token", id)[0] == 0
    left = json.loads(call("serve", tmp_path, "--list-tokens", "--json")[1])
    assert left == [{"id": second["id"], "model": "*", "scope": "read"}]
    tokens = Tokens(tmp_path / "tokens.json")
    assert (tokens.find(first.strip()), tokens.find(second["token"]).id) == (None, second["id"])


def test_a_broken_file_of_tokens_is_one_sentence(call, tmp_path):
    (tmp_path / "tokens.json").write_text("[")
    for options in (["--port", "0"], ["--list-tokens"], ["--create-token", "mail:read"], ["--revoke-token", "1"]):
        code, out, err = call("serve", tmp_path, *options)
        assert (code, out) == (1, "")
        assert is_one_sentence(err)
        assert "is not a file of tokens" in err


def test_tokens_that_are_made_at_once_are_all_kept(tmp_path):
    path = tmp_path / "new" / "tokens.json"
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda n: create_token(path, f"model{n}", "read"), range(40)))
        known = Tokens(path)
        assert sorted(known.find(one).model for one in made) == sorted(f"model{n}" for n in range(40))
        list(pool.map(lambda token: revoke_token(path, token.id), read_tokens(path)[5:]))
    assert len(read_tokens(path)) == 5
