"""Filing by itself in forked children that are killed at random, while mail arrives and the user moves some of it.

Run as a program: folder, number of kills, seed, and "dovecot" for mail on a server in place of a Maildir. Says at the
end what went wrong: messages that are lost or doubled, moved twice, moved without a record, or learnt without the user.
"""

import json
import os
import random
import sys
import time
from collections import Counter
from pathlib import Path

from tests.killing import killed
from tests.mail.letters import letter, make_maildir

from hinged.mail import Assistant, SelfFiling, Watcher, look, open_source, read_message
from hinged.mail.filed import MOVED, OPEN

KINDS = {"Work": ("tax form", "ann@example.com", "the form is due"), "Home": ("cake", "bob@example.org", "sugar")}
LEARNT, SHORTEST, LONGEST = 110, 0.1, 0.4
BEGUN = b"begun"
RIGHT = 0.6  # one folder is learnt before there is another, so its messages lead by little


def watch(address, state, tell):
    """Look at the mail again and again, until the kill."""
    with Assistant(state) as assistant:
        watcher = watcher_of(assistant, open_source(address))
        os.write(tell, BEGUN)
        while True:
            watcher.turn()
            time.sleep(0.002)


def watcher_of(assistant, source):
    return Watcher(assistant, source, "INBOX", lambda event: None, filing=SelfFiling(assistant, source, RIGHT))


def finish(assistant, source):
    """Do what the last kill left undone, and look at what the user did."""
    for _ in range(2):
        watcher_of(assistant, source).turn()
    look(assistant, source)


def where(source):
    """The folders in which each message lies."""
    found = {}
    for folder in source.folders():
        for _, raw in source.read(source.places(folder.name)):
            found.setdefault(read_message(raw).id, []).append(folder.name)
    return found


def moves_back(source, rng, already):
    """What a user does: move a message that was filed back, or on to another folder."""
    source.folders()
    places = [place for target in KINDS for place in source.places(target)[LEARNT // 2 :]]
    for place, raw in source.read(places):
        name = read_message(raw).id
        if name.startswith("new") and name not in already:
            already[name] = rng.choice(["INBOX", next(other for other in KINDS if other != place.folder)])
            source.move(place, already[name])
            return


def run(address, folder, kills, rng):
    state, user = folder / "state", open_source(address)
    for name, kind in KINDS.items():
        if name not in [one.name for one in user.folders()]:
            user.create(name)
            user.folders()
        for i in range(LEARNT // 2):
            user.deliver(name, letter(*kind, name=f"{name}{i}"))
    user.folders()
    with Assistant(state) as assistant:
        look(assistant, user)
        watcher_of(assistant, user).turn()
    arrived, moved_by_user = 0, {}
    for _ in range(kills):
        user.folders()
        for _ in range(4):
            arrived += 1
            user.deliver("INBOX", letter(*rng.choice(list(KINDS.values())), name=f"new{arrived}"))
        killed(lambda tell: watch(address, state, tell), rng.uniform(SHORTEST, LONGEST), BEGUN)
        moves_back(user, rng, moved_by_user)
    with Assistant(state) as assistant:
        source = open_source(address)
        finish(assistant, source)
        if not moved_by_user:  # a slow machine filed nothing before the kills
            moves_back(user, rng, moved_by_user)
            finish(assistant, source)
        entries = assistant.log.entries()
        lies = where(source)
        source.close()
        moves = Counter(one.move.message for one in entries)
        learnt = Counter(event.key for event in assistant.kept.journal.examples())
        open_ones = {one.move.message: one.move.target for one in entries if one.fate == OPEN}
        corrected = {one.move.message for one in entries if one.fate == MOVED}
    by_user = {name for name, target in moved_by_user.items() if target != "INBOX"}
    user.close()
    return {
        "arrived": arrived,
        "filed": len(entries),
        "moved by the user": len(moved_by_user),
        "lost": sorted(f"new{i}" for i in range(1, arrived + 1) if f"new{i}" not in lies),
        "doubled": sorted(name for name, places in lies.items() if len(places) > 1),
        "moved twice": sorted(name for name, times in moves.items() if times > 1),
        "not where the user put it": sorted(name for name, target in moved_by_user.items() if lies[name] != [target]),
        "not where the log says": sorted(name for name, target in open_ones.items() if lies[name] != [target]),
        "filed without a record": sorted(
            name
            for name, places in lies.items()
            if name.startswith("new") and places != ["INBOX"] and name not in moves
        ),
        "corrections missed": sorted(set(moved_by_user) & set(open_ones)),
        "learnt without the user": sorted(
            set(learnt) - by_user - {f"{k}{i}" for k in KINDS for i in range(LEARNT // 2)}
        ),
        "corrected": len(corrected),
    }


if __name__ == "__main__":
    folder, kills, rng = Path(sys.argv[1]), int(sys.argv[2]), random.Random(int(sys.argv[3]))
    if sys.argv[4:] == ["dovecot"]:
        from tests.mail.imap.dovecot import PASSWORD, Dovecot

        os.environ["HINGED_MAIL_PASSWORD"] = PASSWORD
        server = Dovecot()
        try:
            print(json.dumps(run(server.url(server.new_user()), folder, kills, rng)))
        finally:
            server.close()
    else:
        mail = make_maildir(folder / "mail", {"INBOX": []})
        print(json.dumps(run(str(mail), folder, kills, rng)))
