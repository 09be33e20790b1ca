"""Signing in, in a browser here or elsewhere, with an honest authorisation server and with hostile answers."""

import socket
import threading
from urllib.parse import urlsplit

import pytest
from tests.cli.conftest import call, is_one_sentence  # noqa: F401
from tests.mail.oauth.authority import CLIENT, SCOPE, SECRET, browse, opened_by

from hinged.mail.config import ConfigError
from hinged.mail.oauth.clients import client_of
from hinged.mail.oauth.device import sign_in_elsewhere
from hinged.mail.oauth.endpoint import RefusedError
from hinged.mail.oauth.loopback import sign_in
from hinged.mail.sources.source import SourceError, UnreachableError


@pytest.fixture
def client(authority, home):
    home.write_text(authority.settings())
    return client_of("localhost")


def sentence_of(raised):
    text = str(raised.value)
    assert text.endswith(".")
    assert text.isprintable()
    assert len(text) < 400
    return text


# ------------------------------------------------------------------ in a browser on this machine
def test_the_user_allows_access_in_a_browser(client, authority):
    pages = []
    tokens = sign_in(client, "jane@example.org", lambda page: pages.append((page, *browse(page))))
    (page, status, text) = pages[0]
    assert (status, "You can close this page" in text) == (200, True)
    assert tokens.refresh in authority.refreshing
    assert tokens.access.startswith("access.")
    asked = opened_by(page)
    assert (asked["client_id"], asked["scope"], asked["login_hint"]) == (CLIENT, SCOPE, "jane@example.org")
    assert urlsplit(asked["redirect_uri"]).hostname == "127.0.0.1"
    ((path, given),) = authority.asked[1:]
    assert (path, given["client_secret"]) == ("token", SECRET)
    assert len(given["code_verifier"]) >= 43, "RFC 7636, 4.1"
    assert given["code_verifier"] not in page
    assert SECRET not in page
    assert tokens.access not in repr(tokens)


def test_each_time_all_that_is_secret_differs(client):
    pages = []
    for _ in range(2):
        sign_in(client, "jane", lambda page: (pages.append(opened_by(page)), browse(page)))
    for key in ("state", "code_challenge", "redirect_uri"):
        assert pages[0][key] != pages[1][key]


def test_whoever_does_not_know_the_state_changes_nothing(client, authority):
    def show(page):
        asked = opened_by(page)
        back, state = asked["redirect_uri"], asked["state"]
        for way, status in [
            ("/?code=evil", 400),
            ("/?code=evil&state=", 400),
            (f"/?code=evil&state={state[:-1]}", 400),
            ("/?code=evil&state=%ff%fe", 400),
            ("/?error=access_denied&state=guess", 400),
            (f"/?state={state}", 400),
            (f"/other?code=evil&state={state}", 404),
            (f"/favicon.ico?code=evil&state={state}", 404),
            (f"//evil.example/?code=evil&state={state}", 404),
        ]:
            assert browse(back + way)[0] == status, way
        idle = socket.create_connection(("127.0.0.1", urlsplit(back).port))  # browsers open some in advance
        assert browse(page)[0] == 200
        assert browse(f"{back}/?code=evil&state={state}")[0] == 410, "an answer counts once"
        idle.close()

    assert sign_in(client, "jane", show).refresh in authority.refreshing
    assert "evil" not in str(authority.asked)


def test_nothing_listens_but_on_this_machine(client):
    def show(page):
        port = urlsplit(opened_by(page)["redirect_uri"]).port
        with pytest.raises(ConnectionRefusedError):  # another address of this machine, as the network would use
            socket.create_connection(("127.0.0.2", port), timeout=5)
        browse(page)

    sign_in(client, "jane", show)


def test_a_user_who_refuses_is_believed(client, authority):
    authority.refuses = "access_denied"
    with pytest.raises(RefusedError) as raised:
        sign_in(client, "jane", browse)
    assert sentence_of(raised) == "127.0.0.1 refused: access_denied, no, not now; access was not allowed."
    assert [path for path, _ in authority.asked] == ["authorize"]


def test_a_user_who_does_not_come_is_not_waited_for_for_ever(client):
    with pytest.raises(SourceError, match="nobody allowed access within 0 s"):
        sign_in(client, "jane", lambda page: None, patience=0.01)


def test_a_code_of_another_request_is_worth_nothing(client, authority):
    """PKCE: somebody has the browser return with a code that was given for another challenge."""

    def show(page):
        asked = opened_by(page)
        authority.codes["stolen"] = {**asked, "code_challenge": "of-somebody-else"}
        browse(f"{asked['redirect_uri']}/?code=stolen&state={asked['state']}")

    with pytest.raises(RefusedError, match="invalid_grant"):
        sign_in(client, "jane", show)


HTML = {"Content-Type": "text/html"}
GOOD = '"token_type": "Bearer", "expires_in": 60}'


@pytest.mark.parametrize(("answer", "kind", "said"), [
    ((200, HTML, "<html>Log in to the network of this hotel</html>"), UnreachableError, "HTTP status 200"),
    ((503, HTML, "busy"), UnreachableError, "HTTP status 503"),
    ((429, {}, '{"error": "slow_down"}'), UnreachableError, "HTTP status 429"),
    ((200, {}, "[]"), UnreachableError, "HTTP status 200"),
    ((200, {}, "[" * 60_000), UnreachableError, "HTTP status 200"),
    ((200, {}, '{"access_token": "' + "x" * 100_000), UnreachableError, "HTTP status 200"),
    ((400, {}, '{"error": 7}'), UnreachableError, "HTTP status 400"),
    ((400, {}, '{"error": "\\u001b[2J\\n", "error_description": "' + "long " * 500 + '"}'), RefusedError, "[2J, long"),
    ((401, {}, '{"error": "invalid_client"}'), RefusedError, "check client_id and client_secret"),
    ((200, {}, "{" + GOOD), UnreachableError, "tokens that can be used"),
    ((200, {}, '{"access_token": "a b", ' + GOOD), UnreachableError, "tokens that can be used"),
    ((200, {}, '{"access_token": "a\\u0001auth=", ' + GOOD), UnreachableError, "tokens that can be used"),
    ((200, {}, '{"access_token": "a", "token_type": "mac"}'), UnreachableError, "tokens that can be used"),
    ((200, {}, '{"refresh_token": ["r"], "access_token": "a", ' + GOOD), UnreachableError, "tokens that can be used"),
])  # fmt: skip
def test_an_answer_that_cannot_be_meant_is_one_sentence(client, authority, answer, kind, said):
    authority.spoilt["token"] = [answer]
    with pytest.raises(kind) as raised:
        sign_in(client, "jane", browse)
    assert said in sentence_of(raised)


def test_secrets_do_not_follow_a_redirect(client, authority):
    for status in (302, 307):
        authority.spoilt["token"] = [(status, {"Location": f"{authority.address}/elsewhere"}, "")]
        with pytest.raises(UnreachableError, match=f"HTTP status {status}"):
            sign_in(client, "jane", browse)
    assert "elsewhere" not in {path for path, _ in authority.asked}


def test_a_server_that_is_away_or_hangs_up_is_said(client, authority):
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        away = f"http://127.0.0.1:{deaf.getsockname()[1]}/token"

        def hang_up(page):
            browse(page)
            deaf.listen()

        deaf.settimeout(5)
        thread = threading.Thread(target=lambda: deaf.accept()[0].close())
        thread.start()
        with pytest.raises(UnreachableError, match=r"127\.0\.0\.1 cannot be reached for OAuth2"):
            sign_in(client._replace(token=away), "jane", hang_up)
        thread.join()
    with pytest.raises(UnreachableError, match="Connection refused"):
        sign_in(client._replace(token=away), "jane", browse)


# ------------------------------------------------------------------ on another device
def test_the_user_allows_access_on_another_device(client, authority):
    shown, pauses = [], []
    authority.spoilt["token"] = [(503, HTML, "busy")]
    tokens = sign_in_elsewhere(client, lambda *what: shown.append(what), pauses.append)
    assert shown == [(f"{authority.address}/activate", "WDJB-MJHT")]
    assert pauses == [2, 4, 4, 9], "longer after a failure, five seconds longer after slow_down"
    assert tokens.refresh in authority.refreshing


@pytest.mark.parametrize(("code", "said"), [
    ("access_denied", "access was not allowed"),
    ("expired_token", "nobody allowed access in time"),
    ("something_new", "refused: something_new."),
])  # fmt: skip
def test_a_device_that_is_refused_is_said(client, authority, code, said):
    authority.refuses = code
    with pytest.raises(RefusedError) as raised:
        sign_in_elsewhere(client, lambda *what: None, lambda seconds: None)
    assert said in sentence_of(raised)


def test_a_code_that_has_expired_is_asked_about_no_more(client, authority):
    authority.device = lambda given: (200, {}, PENDING % (f"{authority.address}/a", 20))
    authority.devices["d"] = ["authorization_pending"] * 99
    pauses = []
    with pytest.raises(SourceError, match="before the code expired"):
        sign_in_elsewhere(client, lambda *what: None, pauses.append)
    assert pauses == [5, 5, 5, 5]


PENDING = '{"device_code": "d", "user_code": "u", "verification_uri": "%s", "expires_in": %s}'


@pytest.mark.parametrize("body", [
    PENDING % ("javascript:alert(1)", 60),
    PENDING % ("http://login.example.org/", 60),
    PENDING % ("https://[", 60),
    '{"user_code": "u", "verification_uri": "https://login.example.org/"}',
    '{"device_code": 7, "user_code": "u", "verification_uri": "https://login.example.org/"}',
    "<html>",
])  # fmt: skip
def test_a_code_that_cannot_be_meant_is_not_shown(client, authority, body):
    authority.spoilt["device"] = [(200, {}, body)]
    shown = []
    with pytest.raises(UnreachableError) as raised:
        sign_in_elsewhere(client, lambda *what: shown.append(what), lambda seconds: None)
    assert "did not answer" in sentence_of(raised)
    assert shown == []


# ------------------------------------------------------------------ whose client
def test_large_providers_are_known_but_for_the_client(home):
    assert client_of("imap.gmail.com") is None
    home.write_text('[oauth.google]\nclient_id = "me"\n[oauth.microsoft]\nclient_id = "mine"\ntoken = "https://t/"\n')
    google, microsoft = map(client_of, ("imap.gmail.com", "outlook.office365.com"))
    assert (google.client_id, google.credentials) == ("me", {"client_id": "me"})
    assert google.token.startswith("https://oauth2.googleapis.com/")
    assert (microsoft.token, microsoft.redirect) == ("https://t/", "localhost")
    assert all(address.startswith("https://") for one in (google, microsoft) for address in (one.authorize, one.token))
    with pytest.raises(SourceError, match=r"imap\.gmail\.com has no way to sign in on another device"):
        sign_in_elsewhere(google, print)


@pytest.mark.parametrize(("text", "said"), [
    ('[oauth.test]\nserver = "localhost"\n', "lacks the key 'client_id'"),
    ('[oauth.test]\nserver = "localhost"\nclient_id = "x"\n', "lacks the key 'scope'"),
    ('[oauth.test]\nclientid = "x"\n', "line 2: there is no key 'clientid' for a client; the nearest is 'client_id'"),
    ('[oauth.test]\nclient_id = 7\n', "line 2: client_id must be text"),
    ('[oath.test]\nclient_id = "x"\n', "the nearest is 'oauth'"),
])  # fmt: skip
def test_a_client_that_is_written_wrongly_is_one_sentence(home, text, said):
    home.write_text(text)
    with pytest.raises(ConfigError) as raised:
        client_of("localhost")
    assert said in sentence_of(raised)
    assert str(home) in sentence_of(raised)


@pytest.mark.parametrize(("more", "said"), [
    ({"redirect": "example.org"}, "redirect must be 127.0.0.1 or localhost; got 'example.org'"),
    ({"redirect": "[::1]"}, "redirect must be"),
    ({"token": "http://login.example.org/"}, "token must be an https:// address"),
])  # fmt: skip
def test_a_check_of_the_file_finds_what_nobody_should_use(authority, home, call, more, said):  # noqa: F811
    home.write_text(authority.settings())
    assert call("mail", "config", "check")[0] == 0
    home.write_text(authority.settings(**more))
    code, out, err = call("mail", "config", "check")
    assert (code, out, is_one_sentence(err)) == (1, "", True), err
    assert said in err


@pytest.mark.parametrize("key", ["authorize", "token", "device"])
@pytest.mark.parametrize(
    "address", ["http://login.example.org/", "ftp://127.0.0.1/", "file:///etc/passwd", "https://["]
)
def test_secrets_go_nowhere_without_encryption(authority, home, key, address):
    home.write_text(authority.settings(**{key: address}))
    with pytest.raises(ConfigError, match=rf"\[oauth\.test\] {key} must be an https:// address"):
        client_of("localhost")
