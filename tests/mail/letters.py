"""Messages and mailboxes made up for tests."""

from hinged.mail import Filed, read_message
from hinged.mail.demo import letters


def letter(subject="tax", sender="ann@example.com", body="the form is due", name="1", **fields):
    """A plain message; underscores in the names of further fields stand for dashes."""
    more = "".join(f"{key.replace('_', '-')}: {value}\n" for key, value in fields.items())
    return f"From: {sender}\nSubject: {subject}\nMessage-ID: <{name}>\n{more}\n{body}\n".encode()


def message(*given, **fields):
    return read_message(letter(*given, **fields))


def some_filed(n=60, seed=0):
    """Generated messages and where they went."""
    return [Filed(read_message(one.raw), one.folder) for one in letters(n, 5, seed)]


def make_maildir(root, folders):
    """A Maildir++ of folder → list of raw messages; keys are numbers in order."""
    for name, raws in folders.items():
        place = root if name == "INBOX" else root / ("." + name.replace("/", "."))
        for part in ("cur", "new", "tmp"):
            (place / part).mkdir(parents=True, exist_ok=True)
        for i, raw in enumerate(raws):
            (place / "cur" / f"{1000 + i}.{abs(hash(name)) % 1000}.host:2,S").write_bytes(raw)
    return root
