"""The file of accounts: what is wrong in it is named with its line, and changes leave the rest as it is."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from tests.cli.conftest import call, is_one_sentence  # noqa: F401
from tests.mail.letters import letter, make_maildir

from hinged.mail.config import CLIENT_KEYS, KEYS, ConfigError, add, clients, config_path, load, remove

ROOT = Path(__file__).parents[2]


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    path = Path(config_path())
    path.parent.mkdir(parents=True)
    return path


GOOD = """# mine
[accounts.home]
source = "imaps://jane@imap.example.org/"  # all of it
keywords = true

[accounts.old]
source = "~/Mail"
min_gap = 1
"""


def test_the_path_is_that_of_platformdirs(monkeypatch):
    from platformdirs import user_config_dir

    for home in (None, "", " ", "/somewhere"):
        if home is None:
            monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
        else:
            monkeypatch.setenv("XDG_CONFIG_HOME", home)
        assert Path(config_path()).parent == Path(user_config_dir("hinged", appauthor=False))


def test_accounts_are_read_and_no_file_is_no_account(file):
    assert load() == {}
    file.write_text(GOOD)
    assert load() == tomllib.loads(GOOD)["accounts"]


@pytest.mark.parametrize(("text", "line", "said"), [
    ('[accounts.a]\nsource = "/a"\nkeyword = true\n', 3, "the nearest is 'keywords'"),
    ('[accounts.a]\nsource = "/a"\nqqq = 1\n', 3, "there are source, state"),
    ('[accounts.a]\nsource = "/a"\n[accounts.b]\nsource = "/b"\n\nmin_gap = "1"\n', 6, "min_gap must be a number"),
    ('[accounts.a]\nsource = 7\n', 2, "source must be text in quotes; got 7"),
    ('[accounts.a]\nsource = "/a"\npage = 1\n', 3, "page must be true or false; got 1"),
    ('[accounts.a]\nsource = "Mail"\n', 2, "absolute path or an address"),
    ('[accounts.a]\nsource = "/a"\nstate = "imap://x"\n', 3, "absolute path"),
    ('\n[accounts.a]\nfolder = "x"\n', 2, "lacks the key 'source'"),
    ('[accounts."a b"]\nsource = "/a"\n', 1, "letters, digits"),
    ('[account.a]\nsource = "/a"\n', 1, "the nearest is 'accounts'"),
    ('accounts = 1\n', 1, "are tables"),
    ('[accounts]\na = "/a"\n', 2, "as a table"),
    ('[accounts.a]\nsource = \n', 2, "is not TOML"),
    ('accounts.a = {source = "/a", keyword = true}\n', None, "the nearest is 'keywords'"),
])  # fmt: skip
def test_what_is_wrong_is_named_with_its_line(file, call, text, line, said):  # noqa: F811
    file.write_text(text)
    code, out, err = call("mail", "config", "check")
    assert (code, out) == (1, "")
    assert is_one_sentence(err), err
    assert said in err
    assert str(file) in err
    assert re.findall(r"line (\d+)", err) == ([] if line is None else [str(line)])


def test_what_is_no_text_is_refused(file):
    file.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load()


def test_adding_and_removing_leave_the_rest_as_it_is(file):
    file.write_text(GOOD.rstrip("\n"))
    strange = 'a "b" \\ \x7f\x01 é 日本'
    add("new-1", {"source": "/new", "folder": strange, "page": True})
    assert file.read_text("utf-8").startswith(GOOD)
    assert load()["new-1"] == {"source": "/new", "folder": strange, "page": True}
    for name, said in (("home", "already"), ("a b", "letters, digits")):
        with pytest.raises(ConfigError, match=said):
            add(name, {"source": "/x"})
    with pytest.raises(ConfigError, match="absolute path"):
        add("c", {"source": "x"})
    remove("home")
    assert file.read_text("utf-8").startswith("# mine\n[accounts.old]\n")
    assert list(load()) == ["old", "new-1"]
    with pytest.raises(ConfigError, match="there are old, new-1"):
        remove("home")
    file.write_text('accounts.a = {source = "/a"}\n')
    with pytest.raises(ConfigError, match="with an editor"):
        remove("a")


def test_clients_and_accounts_leave_each_other_alone(file):
    file.write_text('[oauth.home]\nclient_id = "1"\n\n' + GOOD)
    add("work", {"client_id": "2", "client_secret": "s"}, "oauth")
    with pytest.raises(ConfigError, match="a client 'work' already"):
        add("work", {"client_id": "3"}, "oauth")
    remove("home")
    assert list(load()) == ["old"]
    assert clients() == {"home": {"client_id": "1"}, "work": {"client_id": "2", "client_secret": "s"}}


def test_only_the_owner_can_read_a_new_file(file):
    add("a", {"source": "/a"})
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.fixture
def small(tmp_path):
    filed = {
        "INBOX": [letter("tax form", "ann@example.com", name="new")],
        "Work": [letter("tax form", "ann@example.com", name=f"w{i}") for i in range(15)],
        "Home": [letter("cake", "bob@example.org", name=f"h{i}") for i in range(15)],
    }
    return make_maildir(tmp_path / "small", filed)


def test_commands_take_the_name_of_an_account(file, call, small, tmp_path):  # noqa: F811
    assert call("mail", "config")[1].startswith("There are no accounts")
    assert call("mail", "config", "add", "mine", small, "--state", tmp_path / "state", "--keywords")[0] == 0
    assert json.loads(call("mail", "config", "show", "--json")[1])["mine"]["keywords"]
    assert call("mail", "config", "path")[1] == f"{file}\n"
    assert "mine" in call("mail", "config")[1]
    assert "30 messages learnt" in call("mail", "learn", "--account", "mine")[1]
    assert (tmp_path / "state" / "journal.sqlite").exists()
    assert "Work" in call("mail", "suggest", "--account=mine")[1]
    assert "Work" in call("mail", "suggest", "-", "--account", "mine", stdin=letter("tax form").decode())[1]
    assert call("mail", "pin", "--account", "mine", "ann@example.com", "Home")[0] == 0
    assert json.loads(call("mail", "status", "--account", "mine", "--json")[1])["pins"] == {"ann@example.com": "Home"}
    assert "30 messages in 2 folders" in call("mail", "replay", "--account", "mine")[1], "a replay takes no state"
    for words, said in (
        (("suggest", "--account", "yours"), "there is no account 'yours'"),
        (("suggest", "--account"), "no name"),
        (("suggest", "--account", "mine", "--account", "mine"), "names one account"),
        (("run", small, "--account", "mine"), "not both"),
        (("run", "--account", "yours"), "there is no account 'yours'"),
        (("run", "--state", tmp_path), "name one SOURCE"),
    ):
        code, out, err = call("mail", *words)
        assert (code in (1, 2), out) == (True, "")
        assert is_one_sentence(err), err
        assert said in err
    assert call("mail", "config", "remove", "mine", "--json")[0] == 0
    assert "name the mail" in call("mail", "run")[2]


@pytest.mark.parametrize(("source", "said"), [
    ("imaps://jane:secret@imap.example.org/", "must not contain a password"),
    ("imaps://imap.example.org/", "lacks the user"),
])  # fmt: skip
def test_no_account_is_added_that_cannot_be_opened(file, call, source, said):  # noqa: F811
    code, _, err = call("mail", "config", "add", "a", source)
    assert (code, said in err, "secret" in err) == (1, True, False)
    assert not file.exists()


def test_a_check_finds_mail_that_is_not_there(file, call, small):  # noqa: F811
    add("a", {"source": str(small)})
    assert "1 account and no mistakes" in call("mail", "config", "check")[1]
    add("b", {"source": str(small / "nowhere")})
    assert "the source of b does not exist" in call("mail", "config", "check")[2]


def test_every_key_is_explained():
    for name, keys in (("mail_run.md", KEYS), ("mail_oauth.md", CLIENT_KEYS)):
        page = (ROOT / "docs" / name).read_text("utf-8")
        for key in keys:
            assert f"| `{key}` |" in page, key
