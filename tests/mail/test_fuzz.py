"""Messages damaged in every way, from their bytes to the journal and a suggestion: none crashes, none hangs."""

import gc
import json
import os
import random
import time
from dataclasses import asdict
from email.message import EmailMessage

import pytest
from tests.mail.letters import letter

from hinged.mail import Assistant, Filed, Thresholds
from hinged.mail.demo import letters
from hinged.mail.message import read_message

MESSAGES = 100_000 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 600
PIECES = [
    b"\x00", b"\xff\xfe", b"\r", b"\n", b"\n\n", b"=?utf-8?q?", b"?=", b"=?iso-2022-jp?b?", b"<", b">", b"<!--",
    b"<script>", b"--", b"boundary=", b"charset=", b"utf-16", b"utf-7", b"idna", b"base64", b"quoted-printable",
    b"uuencode", b"=", b'"', b"Content-Type: multipart/mixed; boundary=B\n\n--B\n",
    b"Content-Type: message/rfc822\n\n", b"filename*0*=", b"%", b";", b"Content-Transfer-Encoding: ", b"Date: ",
    b"begin 644 a\n", b"&#x110000;", b"@", b",", b"(", b"[", b":", b"From ", b"In-Reply-To: <\xe9@x>\n", b"\xc3",
    b"References: <", b"Message-ID: <", b"&#xd800;", b"+2AA-",
]  # fmt: skip


def seeds():
    built = EmailMessage()
    built["From"], built["To"], built["Subject"] = "Ä <a@b.c>", "x@y.z, w@v.u", "Grüße " * 20
    built.set_content("çà " * 50)
    built.add_alternative("<p>&eacute;<br>" * 20, subtype="html")
    built.add_attachment(b"\x00" * 200, maintype="image", subtype="png", filename="ü.png")
    inner = EmailMessage()
    inner.set_content("inside")
    built.add_attachment(inner)
    return [built.as_bytes(), letter(), *(one.raw for one in letters(30, 3))]


def damaged(rng, whole):
    data = bytearray(rng.choice(whole))
    for _ in range(rng.randint(1, 8)):
        at, kind = rng.randrange(len(data) + 1), rng.random()
        if kind < 0.4:
            data[at:at] = rng.choice(PIECES) * rng.choice((1, 1, 1, 50))
        elif kind < 0.6:
            del data[at : at + rng.randrange(200)]
        elif kind < 0.8:
            data[at : at + 1] = bytes([rng.randrange(256)])
        else:
            other = rng.choice(whole)
            data[at:at] = other[: rng.randrange(len(other))]
    return bytes(data)


@pytest.fixture
def _what_earlier_tests_left_costs_nothing():
    """Let collections of garbage pass over the objects of thousands of tests before this one."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("_what_earlier_tests_left_costs_nothing")
def test_no_damaged_message_crashes_or_hangs(tmp_path):
    rng, whole, slowest = random.Random(0), seeds(), 0.0
    with Assistant(tmp_path, fsync=False, thresholds=Thresholds(messages=2)) as assistant:
        assistant.learn([Filed(read_message(raw), f"folder {i % 2}") for i, raw in enumerate(whole)])
        for i in range(MESSAGES):
            raw = damaged(rng, whole)
            began = time.process_time()
            message = read_message(raw)
            suggestion = assistant.suggest(message)
            slowest = max(slowest, time.process_time() - began)
            assert len(message.id) in range(1, 201)
            json.dumps([asdict(message), asdict(suggestion)], ensure_ascii=False).encode()  # can be printed
            if i % 4 == 0:
                assistant.learn([Filed(message, f"folder {i % 7}")])
    assert slowest < 1.0
