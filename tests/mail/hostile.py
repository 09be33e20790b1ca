"""Messages made to cost whoever reads them much time."""

from tests.mail.letters import letter

from hinged.mail.message import ENOUGH

FULL = ENOUGH - 2000  # bytes, so that the message is not cut before it ends
NESTED = b"Content-Type: multipart/mixed; boundary=%s\n\n--%s\n"


def nested(names):
    return b"".join(NESTED % (name, name) for name in names)


def fields_in(line, content=b""):
    return letter()[:-17] + line + b"\n\n" + content


def filled(piece, before=b"", after=b""):
    return before + piece * ((FULL - len(before)) // len(piece)) + after


DASHES = [b"-" * i for i in range(1, 60)]
HTML = b"Content-Type: text/html\n\n"
MIXED = b"Content-Type: multipart/mixed; boundary=B\n\n"

#: By name; each was slow in some parser, or would be in a careless one.
HOSTILE = {
    "semicolons behind an open quote": filled(b";", b'Content-Type: text/plain; x="', b"\n\nhello"),
    "semicolons": filled(b"; a=b", b"Content-Type: text/plain", b"\n\nhello"),
    "quotes": filled(b'"', b"Content-Type: text/plain; x=", b"\n\nhello"),
    "backslashes": filled(b'\\"', b'Content-Disposition: attachment; filename="', b"\n\nhello"),
    "sections of a parameter": filled(b"; filename*0*=a", b"Content-Disposition: attachment", b"\n\nhello"),
    "900 nested multiparts": nested(b"%d" % i for i in range(900)),
    "nested multiparts, one boundary": nested([b"B"] * 4000),
    "nested, boundaries within boundaries": filled(b"\n" + b"-" * 80, nested(DASHES)),
    "boundaries": filled(b"--B\n", MIXED),
    "boundaries that are none": filled(b"\n--Bx", MIXED),
    "parts with long fields": filled(b"--B\nContent-Type: text/plain; " + b"x=y;" * 900 + b"\n\nhello\n", MIXED),
    "parts with unknown charsets": b"".join(
        [MIXED, *(b"--B\nContent-Type: text/plain; charset=x%d\n\nhello\n" % i for i in range(3000))]
    ),
    "dotted words to": b"To: " + b"a." * 2000 + b"\n" + letter(),
    "dotted words from, to and cc": b"".join(b"%s: %s\n" % (f, b"ab." * 1400) for f in (b"From", b"To", b"Cc")) + b"\n",
    "addresses": b"To: " + b"a@b," * 2000 + b"\nCc: " + b"x@y.z," * 3000 + b"\n" + letter(),
    "at signs": b"To: " + b"@" * 4000 + b"\nCc: " + b"a@" * 4000 + b"\n" + letter(),
    "encoded words": b"Subject: " + b"=?utf-8?q?=41?= " * 4000 + b"\n" + letter(),
    "encoded words that never end": b"".join(
        b"%s: %s\n" % (f, b"=?a?q?" * 700) for f in (b"Subject", b"To", b"Cc", b"From", b"List-Id")
    ),
    "encoded words of charsets": b"Subject: " + b"".join(b"=?x%d?b?aaaa?= " % i for i in range(400)) + b"\n\n",
    "punycode": b"Subject: =?punycode?q?"
    + b"a-" * 1900
    + b"?=\nContent-Type: text/plain; charset=punycode\n\n"
    + b"a-" * 9999,
    "references": filled(b"<a@b> ", b"References: ", b"\n\nhello"),
    "references that never end": filled(b"<", b"References: ", b"\n\nhello"),
    "received": filled(b"Received: ;x\n"),
    "many fields": filled(b"a:\n"),
    "one field in many lines": filled(b" \n", b"Subject: x\n"),
    "lines": filled(b"\r", b"Subject: x\n"),
    "replies": b"Subject: " + b"Re: " * 1000 + b"\n\n",
    "reply marks": b"Subject: " + b"Re [1] " * 600 + b"\n\n",
    "html without ends": filled(b"<p", HTML),
    "html of tags": filled(b"<p>", HTML),
    "html of less-than signs": filled(b"<", HTML),
    "html of comments": filled(b"<!--", HTML),
    "html of scripts": filled(b"<script>", HTML),
    "html of scripts in scripts": filled(b"<script></style>", HTML),
    "html of entities": filled(b"&ab", HTML),
    "html of long numbers": filled(b"&#" + b"9" * 9000 + b";", HTML),
    "html in many parts": filled(b"--B\nContent-Type: text/html\n\n" + b"<b>&a" * 500 + b"\n", MIXED),
    "short words": filled(b"a b ", letter()),
    "different words": letter(body=" ".join(f"{i:x}" for i in range(60_000))),
    "one long word": filled(b"a", letter()),
    "quoted-printable": filled(b"=", b"Content-Transfer-Encoding: quoted-printable\n\n"),
    "base64": filled(b"=A", b"Content-Transfer-Encoding: base64\n\n"),
    "uuencode": filled(b"\nM", b"Content-Transfer-Encoding: uuencode\n\nbegin 644 a"),
    "utf-7": filled(b"+AAAA", b"Content-Type: text/plain; charset=utf-7\n\n"),
    "zeros": bytes(FULL),
}
