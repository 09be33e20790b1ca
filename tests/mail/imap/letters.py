"""Messages for the tests, and ways of looking at a mailbox."""


def letter(number, subject="bills", words="the invoice is due", **headers):
    """A small message; its number tells its Message-ID and its date."""
    date = f"Mon, 2 Jan 2023 {8 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02} +0000"
    name = f"<{number}@example.org>"
    lines = {"From": "anna@example.org", "Date": date, "Subject": subject, "Message-ID": name} | headers
    return "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value).encode() + (
        f"\r\n{words} {number}\r\n".encode()
    )


def deliver(client, folder, *numbers, **headers):
    """Put messages into a folder."""
    for number in numbers:
        client.append(folder, letter(number, **headers))


def numbers_in(client, folder, criteria="ALL"):
    """The numbers of the messages in a folder, by their Message-IDs."""
    client.select_folder(folder, readonly=True)
    found = client.fetch(client.search(criteria), ["BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)]"])
    headers = [next(v for k, v in items.items() if k.startswith(b"BODY")) for _, items in sorted(found.items())]
    return [int(header.partition(b"<")[2].partition(b"@")[0] or 0) for header in headers]


def uid_of(client, folder, number):
    """The number that the server gave a message."""
    client.select_folder(folder)
    return client.search(["HEADER", "Message-ID", f"<{number}@example.org>"])[0]


def file_away(client, number, folder, source="INBOX"):
    """What the user does: move a message into a folder."""
    client.move([uid_of(client, source, number)], folder)
