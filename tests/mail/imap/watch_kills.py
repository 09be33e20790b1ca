"""`hinged mail watch`, or `run`, in forked children that are killed at random, while another program files messages.

Run as a program: folder, number of kills, seed, command. Forking spares every child the start-up, so that most kills
come while something is read, learnt, marked or told. Says at the end what was lost, what was learnt, and how the last
child, which was asked to stop, ended.
"""

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

from tests.journal.models import same
from tests.mail.imap.dovecot import PASSWORD, Dovecot
from tests.mail.imap.letters import deliver, file_away, numbers_in

from hinged.cli.main import main
from hinged.mail import Assistant, look, open_source, write_demo

FOLDERS = ("Work", "Play.Games", "Home")
LONGEST = 0.6  # seconds that a child may live


class User:
    """Gets mail, and files it with a program of their own."""

    def __init__(self, server, rng):
        self.name = server.new_user()
        self.client, self.rng, self.lies = server.client(self.name), rng, {}
        self.filed = Counter()  # how often each message was put into each folder
        for folder in FOLDERS:
            self.client.create_folder(folder)

    def act(self):
        """A message comes, or one is filed, or filed anew."""
        if not self.lies or self.rng.random() < 0.4:
            number = len(self.lies) + 1
            deliver(self.client, "INBOX", number, subject=self.rng.choice(["tax form", "chess", "cake"]))
            self.lies[number] = "INBOX"
        else:
            number = self.rng.choice(sorted(self.lies))
            target = self.rng.choice([folder for folder in FOLDERS if folder != self.lies[number]])
            file_away(self.client, number, target, source=self.lies[number])
            self.lies[number] = target
            self.filed[f"{number}@example.org", target.replace(".", "/")] += 1


def started(command, url, folder):
    child = os.fork()
    if child == 0:
        os.dup2(os.open(folder / "told", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 1)
        os.dup2(os.open(folder / "stderr", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 2)
        try:
            main(["mail", command, url, "--state", str(folder / "state"), "--keywords", "--json"])
        except SystemExit as stopped:
            os._exit(stopped.code or 0)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(99)
    return child


def acknowledged(folder):
    """What children told they had learnt, in whole lines."""
    path = folder / "told"
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    told = []
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:  # the last line of one that was killed, and the first of the next
            continue
        if event["event"] == "learnt":
            told.append((event["message"], event["folder"]))
    return told


def learnt(folder, running=False):
    """What the journal holds. Where no child is running, it is opened as the next one would open it."""
    try:
        with Assistant(folder / "state", read_only=running) as assistant:
            return [(event.key, event.label) for event in assistant.kept.journal.examples()]
    except (OSError, ValueError):
        if running:  # it has not begun yet
            return []
        raise


def too_often(pairs, filed):
    """How many lines no filing accounts for; a message that comes back to a folder leaves a line without a key."""
    returned = Counter()
    for (_, label), times in filed.items():
        returned[None, label] += times - 1
    return (Counter(pairs) - (filed + returned)).total()


def run(command, folder, kills, rng, server):
    user = User(server, rng)
    url = server.url(user.name)
    lost = []
    for _ in range(kills):
        child = started(command, url, folder)
        end = time.monotonic() + rng.random() * LONGEST
        while time.monotonic() < end:
            user.act()
            time.sleep(rng.random() * 0.05)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, (folder / "stderr").read_text()
        pairs = learnt(folder)
        assert not too_often(pairs, user.filed), "nothing is learnt more often than it was filed"
        lost += sorted(set(acknowledged(folder)) - set(pairs))
    ready = (folder / "stderr").read_text().count("Ctrl-C stops")
    child = started(command, url, folder)
    due = {(f"{n}@example.org", lies.replace(".", "/")) for n, lies in user.lies.items() if lies != "INBOX"}
    end = time.monotonic() + 60
    while time.monotonic() < end and not (
        due <= set(learnt(folder, running=True)) and (folder / "stderr").read_text().count("Ctrl-C stops") > ready
    ):
        time.sleep(0.05)
    os.kill(child, signal.SIGTERM)
    _, status = os.waitpid(child, 0)
    pairs = learnt(folder)
    with Assistant(folder / "state") as kept:
        model = kept.model
    (folder / "state" / "snapshot.hinged").unlink(missing_ok=True)
    with Assistant(folder / "state") as again:
        assert same(again.model, model), "the journal alone gives the same model"
    found = {number: name for name in ("INBOX", *FOLDERS) for number in numbers_in(user.client, name)}
    return {
        "lost": lost,
        "missing": sorted(due - set(pairs)),
        "too often": too_often(pairs, user.filed),
        "learnt": len(pairs),
        "acknowledged": len(set(acknowledged(folder))),
        "mail as the user left it": found == user.lies,
        "code": os.waitstatus_to_exitcode(status),
        "complaints": (folder / "stderr").read_text().count("Traceback"),
    }


if __name__ == "__main__":
    folder, kills, rng = Path(sys.argv[1]), int(sys.argv[2]), random.Random(int(sys.argv[3]))
    write_demo(folder / "demo", 60, 3)
    with Assistant(folder / "demo state") as assistant:  # loads the loops before the first fork
        look(assistant, open_source(folder / "demo"))
    os.environ["HINGED_MAIL_PASSWORD"] = PASSWORD
    server = Dovecot()
    try:
        print(json.dumps(run(sys.argv[4], folder, kills, rng, server)))
    finally:
        server.close()
