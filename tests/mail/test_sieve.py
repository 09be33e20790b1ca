"""Pins and sure senders as a Sieve script, compiled and run by the real Pigeonhole."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.conftest import call  # noqa: F401
from tests.mail.letters import letter, make_maildir
from tests.mail.pigeonhole import Home

from hinged.mail import Assistant, look, open_source
from hinged.mail.senders import home_of, senders_and_folders, sure_senders
from hinged.mail.sieve import BEGIN, END, REQUIRE, SieveRule, rules_of, script_with
from hinged.mail.sources.folder_names import from_utf7, to_utf7


@pytest.fixture
def home():
    one = Home()
    yield one
    one.close()


@pytest.fixture
def mail(call, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return lambda *arguments, **more: call("mail", *arguments, **more)


#: Senders as they can be learnt, which contain neither blanks nor quotes, and lists, which can contain anything.
SENDERS = ["*@example.com", "?x@example.com", "/*c@example.org", "#d@example.org", "o'neil+tag@example.com"]
LISTS = ['a "b" <c.example.org>', "back\\slash\\", 'q"]{discard;}#', "bücher → 日本", "*.example.org"]


def test_sure_is_what_was_promised_of_all_earlier_mail():
    assert home_of(Counter(Work=9), 0.9) == home_of(Counter(Work=28, Home=1), 0.9) == "Work"
    assert home_of(Counter(Work=8), 0.9) is None
    assert home_of(Counter(Work=4), 0.5) is None, "nothing is sure of fewer than five"
    mail = [("ann@x", "Work")] * 19 + [("bob@x", "Home")] * 18 + [("", "Home")] * 50 + [("eve@x", "Home")] * 59
    assert sure_senders([*mail, ("eve@x", "Work")], 0.95) == [("eve@x", "Home", 59, 1), ("ann@x", "Work", 19, 0)]


def test_no_folder_is_sure_for_a_sender_whose_messages_lie_in_several(tmp_path):
    mail = tmp_path / "mail"
    both = [letter("hello", "ann@example.com", name=f"both{i}") for i in range(25)]
    one = [letter("hello", "bob@example.org", name=f"one{i}") for i in range(25)]
    make_maildir(mail, {"INBOX": [], "Work": both, "Tax": [*both, *one]})
    with Assistant(tmp_path / "state", fsync=False) as assistant:
        look(assistant, open_source(mail))
        found = senders_and_folders(assistant)
    assert sorted(set(found)) == [("ann@example.com", ""), ("bob@example.org", "Tax")]
    assert sure_senders(found, 0.95) == [("bob@example.org", "Tax", 25, 0)]


def test_pins_and_sure_senders_are_filed_by_the_server(home, mail):
    def some(sender, folder, n=19):
        return [letter("hello", sender, name=f"{folder}-{sender}-{i}") for i in range(n)]

    make_maildir(
        home.mail,
        {
            "INBOX": [],
            to_utf7("Work/Bücher & Co"): some("ann@example.com", "books"),
            "Home": [*some("bob@example.org", "home"), *some("eve@example.net", "home", 18)],
            "Boss": some("boss@example.com", "boss", 3),
            "Lists": some("news@example.org", "lists", 3),
            "Gone": some("zoe@example.org", "gone"),
        },
    )
    mail("learn", home.mail)
    for who, folder in [
        ("boss@example.com", "Boss"), ("@example.com", "Home"), ("Chess <chess.example.org>", "Lists"),
        ("list@example.org", "Lists"), ("nobody@example.org", "Gone"),
    ]:  # fmt: skip
        assert mail("pin", home.mail, who, folder)[0] == 0
    for path in sorted((home.mail / ".Gone").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    (home.mail / ".Gone").rmdir()
    code, out, err = mail("sieve", home.mail)
    assert code == 0
    assert "nobody@example.org is pinned to Gone, which is gone" in err
    assert "4 pins and 1 sure sender written." in err
    assert home.compiles(out) == ""
    for path in home.mail.rglob("cur/*"):
        path.unlink()
    for sender, more, folder in [
        ("Ann@Example.com", {}, "Home"),  # the domain's pin comes before what was learnt
        ("Bob <bob@example.org>", {}, "Home"),
        ("boss@example.com", {}, "Boss"),
        ("x@sub.example.com", {}, "INBOX"),
        ("eve@example.net", {}, "INBOX"),  # 18 times is not sure enough
        ("zoe@example.org", {}, "INBOX"),
        ("carl@example.net", {"List_Id": "Chess\n <chess.example.org>"}, "Lists"),
        ("carl@example.net", {"List_Id": "All <list@example.org>"}, "Lists"),
        ("xboss@example.com.org", {}, "INBOX"),
    ]:
        assert home.deliver(letter("new", sender, **more)) == [folder], sender
    assert '"ann@example.com"' not in out, "where a pin decides, what was learnt is not written"
    assert mail("unpin", home.mail, "@example.com")[0] == 0
    assert home.compiles(mail("sieve", home.mail)[1]) == ""
    (found,) = home.deliver(letter("new", "Ann@Example.com"))
    assert from_utf7(found) == "Work.Bücher & Co"
    rules = json.loads(mail("sieve", home.mail, "--right", "9/10", "--separator", "/", "--json")[1])["rules"]
    assert [(one["who"], one["folder"]) for one in rules if one["kind"] == "sender"] == [
        ("bob@example.org", "Home"),
        ("eve@example.net", "Home"),
        ("ann@example.com", "Work/Bücher & Co"),
    ]


def test_hostile_names_mean_nothing_but_themselves(home):
    senders, lists = 'We "quote"', "a\\b *"
    make_maildir(home.mail, {"INBOX": [], senders: [], lists: []})
    rules = rules_of(dict.fromkeys(LISTS, lists), [(who, senders) for who in SENDERS])
    assert [rule.objection for rule in rules] == [""] * len([*SENDERS, *LISTS])
    assert home.compiles(script_with(rules, 'require "variables";\n')) == ""
    for who in SENDERS:
        assert home.deliver(letter("x", who)) == [senders], who
    for who in LISTS:
        assert home.deliver(letter("x", List_Id=who)) == [lists], who
    for who in ("ann@example.com", "yx@example.com", "c@example.org"):
        assert home.deliver(letter("x", who, List_Id="www.example.org")) == ["INBOX"], "no name is a pattern"
    for who in ("a\nb@x", "a\x00b@x", "${from}@x", "a\u2028b@x"):
        assert SieveRule("sender", who, "Home").objection != ""
        assert SieveRule("sender", "ann@x", who).objection != ""


def test_a_server_takes_a_script_by_managesieve_and_runs_it(home):
    make_maildir(home.mail, {"INBOX": [], to_utf7("Bücher"): []})
    script = script_with(rules_of({LISTS[3]: "Bücher"}, [("ann@example.com", "Bücher")]))
    assert [answer[:3] for answer in home.upload(script)] == [b"OK "] * 4
    assert [from_utf7(name) for name in home.deliver(letter("x", "Ann <ANN@example.com>"))] == ["Bücher"]
    assert home.deliver(letter("x", "bob@example.com")) == ["INBOX"]
    assert home.upload(script.replace(";", "", 1))[2].startswith(b"NO"), "one that is wrong is refused"


OWN = st.lists(st.sampled_from(["keep;", "", "# mine", 'require "vacation";', "stop;", "\t ü"])).map("\n".join)


@given(OWN, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_a_script_of_the_user_stays_as_it_is(own, newline, ended):
    own = own.replace("\n", newline) + newline * ended
    first = [SieveRule("sender", "ann@x", "Work")]
    written = script_with(first, own)
    assert script_with(first, written) == written
    used = "\r\n" if "\r\n" in own else "\n"
    first_line, *lines = written.split(used)
    begin, end = lines.index(BEGIN), lines.index(END)
    assert first_line == REQUIRE
    assert used.join(lines[:begin] + lines[end + 1 :]) == own + used * (not own.endswith(used) and own != "")
    other = script_with([SieveRule("sender", "bob@x", "Home")], written)
    assert script_with(first, other) == written


def test_rules_are_written_into_a_script_whose_own_rules_come_first(home, mail):
    make_maildir(
        home.mail, {"INBOX": [], "Urgent": [], "Home": [letter("x", "bob@x.org", name=f"{i}") for i in range(20)]}
    )
    mail("learn", home.mail)
    for path in home.mail.rglob("cur/*"):
        path.unlink()
    into = home.path / "own.sieve"
    own = 'require ["fileinto", "variables"];\nif header :is "subject" "now" { fileinto "Urgent"; stop; }\n'
    into.write_text(own)
    into.chmod(0o640)
    link = home.path / "link.sieve"
    link.symlink_to(into.name)
    code, out, err = mail("sieve", home.mail, "--into", link)
    assert (code, out, err) == (0, "", f"hinged: 0 pins and 1 sure sender written to {into}.\n")
    assert link.is_symlink()
    assert into.stat().st_mode & 0o777 == 0o640
    assert own in into.read_text()
    assert home.compiles(into.read_text()) == ""
    assert home.deliver(letter("now", "bob@x.org")) == ["Urgent"]
    assert home.deliver(letter("later", "bob@x.org")) == ["Home"]
    into.write_text(into.read_text().replace(END, ""))
    before = into.read_text()
    code, _, err = mail("sieve", home.mail, "--into", into)
    assert (code, into.read_text()) == (1, before)
    assert "it has 1 and 0" in err
    mail("off", home.mail)
    assert mail("sieve", home.mail, "--into", home.path / "new.sieve")[0] == 0
    assert not (home.path / "new.sieve").exists()
