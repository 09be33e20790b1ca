"""The mail server of a domain, from a real name server that may be hostile."""

import struct
import time

import pytest
from tests import needs
from tests.cli.terminals import Terminal
from tests.mail.imap.naming import NameServer
from tests.mail.imap.test_setup import at_home  # noqa: F401

from hinged.mail.sources.imap.discovery import Named, named_server

TLS, STARTTLS = "_imaps._tcp.example.org", "_imap._tcp.example.org"


def named(patience=2.0):
    return named_server("example.org", patience)


def test_the_server_is_the_one_of_the_lowest_priority_and_the_greatest_weight(names):
    names.records[TLS] = [
        "SRV 10 0 993 backup.example.org.",
        "SRV 0 1 993 second.example.org.",
        "SRV 0 5 993 IMAP.Example.ORG.",
    ]
    assert named() == Named("imap.example.org", "imap.example.org", "imaps", True)
    assert names.asked == [TLS]


@pytest.mark.parametrize(("records", "found"), [
    ({STARTTLS: ["SRV 0 0 143 mail.example.org."]}, ("mail.example.org", "imap", True)),
    ({TLS: ["TXT hello"], STARTTLS: ["SRV 0 0 1143 mail.example.org."]}, ("mail.example.org:1143", "imap", True)),
    ({TLS: ["SRV 0 0 0 ."], STARTTLS: ["SRV 0 0 143 mail.example.org."]}, ("mail.example.org", "imap", True)),
    ({TLS: ["SRV 0 0 1993 imap.provider.example."]}, ("imap.provider.example:1993", "imaps", False)),
    ({TLS: ["SRV 0 0 993 imap.notexample.org."]}, ("imap.notexample.org", "imaps", False)),
    ({TLS: ["SRV 0 0 993 example.org."]}, ("example.org", "imaps", True)),
    ({TLS: ["CNAME there.example.net."]}, None),
])  # fmt: skip
def test_what_dns_names_is_found(names, records, found):
    names.records |= records
    answer = named()
    assert found == (answer and (answer.place, answer.scheme, answer.within))


@pytest.mark.parametrize("target", [
    ".", "localhost.", "127.0.0.1.", "a\\032b.example.org.", "evil.example\\@x.org.", "x\\047y.org.", "a\\010b.org.",
    "a\\:99.org.", "-a.org.", "imap.example.org\\?insecure.org.",
])  # fmt: skip
def test_a_name_that_is_none_of_a_server_is_ignored(names, target):
    names.records[TLS] = [f"SRV 0 0 993 {target}", "SRV 1 0 993 imap.example.org."]
    assert named().place == "imap.example.org"


def test_a_port_that_is_none_is_ignored(names):
    names.records[TLS] = ["SRV 0 0 0 imap.example.org.", "SRV 1 0 65535 imap.example.org."]
    assert named().place == "imap.example.org:65535"


POINTER = struct.pack("!HHHHHH", 0, 0x8180, 1, 1, 0, 0)[2:] + b"\xc0\x0c\x00\x21\x00\x01"
SPOILT = {
    "says nothing": lambda question, right: b"",
    "answers another question": lambda question, right: bytes([right[0] ^ 1]) + right[1:],
    "answers for another name": lambda question, right: right.replace(b"example", b"exampel"),
    "cuts its answer": lambda question, right: right[:2] + bytes([right[2] | 2]) + right[3:],
    "ends in the middle": lambda question, right: right[:-9],
    "sends a name that never ends": lambda question, right: question[:2] + POINTER,
    "echoes the question": lambda question, right: question,
    "fails": lambda question, right: right[:3] + bytes([right[3] | 2]) + right[4:],
    "refuses": lambda question, right: right[:3] + bytes([right[3] | 5]) + right[4:],
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_hostile_answer_names_nothing_and_does_not_hold_up(names, how):
    names.records[TLS] = names.records[STARTTLS] = ["SRV 0 0 993 imap.example.org."]
    names.spoil = SPOILT[how]
    began = time.monotonic()
    assert named(0.05) is None
    assert time.monotonic() - began < 5, "load can make it longer than 0.05 s"


def test_names_that_lead_to_each_other_name_nothing(names):
    names.records |= {TLS: ["CNAME a.example.org."], "a.example.org": [f"CNAME {TLS}."]}
    assert named(0.05) is None


def test_a_long_answer_comes_over_tcp(names):
    with_tcp = NameServer(tcp=True)
    try:
        needs.module("dns.resolver", "the extra mail").default_resolver.port = with_tcp.port
        with_tcp.records[TLS] = ["SRV 0 0 993 imap.example.org."]
        with_tcp.spoil = SPOILT["cuts its answer"]
        assert named().place == "imap.example.org"
    finally:
        with_tcp.close()


@pytest.mark.parametrize("domain", ["", ".", "a..b", "x" * 70 + ".org", "\ud800.org", "a b", "@", "example.org/\n"])
def test_a_domain_that_is_none_names_nothing(names, domain):
    assert named_server(domain, 0.1) is None


@pytest.mark.parametrize(("answer", "server"), [("", "imap.example.org"), ("y", "imap.provider.example:1993")])
def test_setup_asks_before_a_stranger_gets_the_password(names, at_home, answer, server):  # noqa: F811
    names.records[TLS] = ["SRV 0 0 1993 imap.provider.example."]
    with Terminal("mail", "setup", "jane@example.org", env=at_home, columns=400) as one:
        one.shows("DNS says that the mail of example.org is at imap.provider.example:1993, which does not belong to")
        one.shows("Do you know imap.provider.example as your provider? [y/N]:")
        one.types(f"{answer}\n")
        one.shows(f"Its mail server [{server}]:")
        assert "Password" not in one.text
