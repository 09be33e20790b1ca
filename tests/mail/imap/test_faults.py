"""What providers and machines do to a running assistant: nothing is lost, and nothing is done twice."""

import resource
import time
from contextlib import contextmanager, suppress
from queue import SimpleQueue

import pytest
from tests.mail.imap.letters import deliver, file_away, numbers_in
from tests.mail.imap.spoiling import Spoiler

from hinged.journal import JournalError
from hinged.mail import Assistant, SelfFiling, Watcher, look, watching
from hinged.mail.running import accounts
from hinged.mail.running.accounts import Account, RunningAccount
from hinged.mail.sources.imap import box, open_imap
from hinged.mail.watching import Away, Back, MessageFiled, MessageLearnt, Suggested

LEARNT = 110


class Pauses:
    """Takes the place of `pauses`: as many, but short; `taken` has the number of each since the last success."""

    def __init__(self):
        self.taken = []

    def __call__(self):
        for number in range(1000):
            self.taken.append(number)
            yield 0.01


class Refusing:
    """Lets a proxy answer a command itself, the first so many times."""

    def __init__(self, command, answer, times):
        self.command, self.answer, self.left, self.refused = command, answer, times, 0

    def __call__(self, line):
        if self.command not in line or self.left == 0:
            return None
        self.left -= 1
        self.refused += 1
        return b"", b"%s %s\r\n" % (line.split()[0], self.answer)


class FallingSilent(Spoiler):
    """Does not close the connection where it passes on nothing any more, as a network that has gone."""

    def _answers(self, near, far, cut):
        with suppress(OSError):
            while content := far.recv(65536):
                if not cut.is_set():
                    near.sendall(content)
            while near.recv(1):
                pass
        for one in (near, far):
            one.close()


@contextmanager
def running(address, state):
    told = SimpleQueue()
    one = RunningAccount(Account("home", address, state), lambda account, event: told.put(event))
    one.start()
    try:
        yield told
    finally:
        one.close()


@pytest.mark.parametrize(("command", "answer"), [
    (b" LOGIN ", b"NO [UNAVAILABLE] Maximum number of connections exceeded"),
    (b" FETCH ", b"NO [THROTTLED] Request is throttled. Suggested Backoff Time: 92415 milliseconds"),
    (b" FETCH ", b"NO [OVERQUOTA] Account exceeded command or bandwidth limits. (Failure)"),
    (b" LIST ", b"NO Mailboxes are being moved"),
])  # fmt: skip
def test_a_provider_that_throttles_or_says_no_is_asked_less_and_less_often(
    server, user, other, tmp_path, monkeypatch, command, answer
):
    other.create_folder("Work")
    deliver(other, "Work", 1, 2, 3)
    within, outside = Pauses(), Pauses()
    monkeypatch.setattr(box, "pauses", within)
    monkeypatch.setattr(accounts, "pauses", outside)
    monkeypatch.setattr(watching, "SOON", 0.01)
    refusing = Refusing(command, answer, times=6)
    with (
        Spoiler("127.0.0.1", server.port, refusing) as way,
        running(f"imap://{user}@127.0.0.1:{way.port}/?insecure&timeout=5", tmp_path / "state") as told,
    ):
        events = [told.get(timeout=20)]
        while not isinstance(events[-1], Back):
            events.append(told.get(timeout=20))
    assert refusing.refused == 6
    assert [type(one) for one in events] == [Away, MessageLearnt, MessageLearnt, MessageLearnt, Back], events
    assert answer.split(b" ", 1)[1].decode().rstrip(".") in events[0].sentence
    assert max(within.taken + outside.taken) >= 4, "pauses grow until all goes well"


# ------------------------------------------------------------------ filing by itself
@pytest.fixture
def learnt(opened, other, tmp_path_factory):
    """A mailbox of two folders; makes assistants that have learnt their messages, each on a machine of its own."""
    for name in ("Work", "Play"):
        other.create_folder(name)
    deliver(other, "Work", *range(1, LEARNT, 2), subject="tax form")
    deliver(other, "Play", *range(2, LEARNT, 2), subject="chess", words="a game of chess", From="bob@example.com")
    machines = []

    class Machine:
        def __init__(self, source):
            machines.append(self)
            self.source, self.told = source, []
            self.assistant = Assistant(tmp_path_factory.mktemp("machine"), fsync=False)
            look(self.assistant, source)
            filing = SelfFiling(self.assistant, source, 0.75)
            self.watcher = Watcher(self.assistant, source, "INBOX", self.told.append, filing=filing)
            self.turn()

        def turn(self):
            self.told.clear()
            self.watcher.turn()
            return [type(one) for one in self.told]

    yield Machine
    for one in machines:
        one.assistant.close()


def everywhere(other):
    return {
        name: numbers
        for name in ("INBOX", "Work", "Play")
        if (numbers := [n for n in numbers_in(other, name) if n >= 200])
    }


def test_two_machines_move_a_message_once_and_never_again_once_it_was_put_back(learnt, opened, other):
    one, two = learnt(opened()), learnt(opened())
    deliver(other, "INBOX", 200, subject="tax form")
    move, raced = two.source.move, []

    def slower(place, folder):  # the other machine is between this one's look and its move
        raced.append(one.turn())
        return move(place, folder)

    two.source.move = slower
    assert two.turn() == [MessageFiled, Suggested]
    assert raced == [[MessageFiled]]
    assert "no longer in INBOX, so it was not moved" in two.told[0].failed
    assert everywhere(other) == {"Work": [200]}
    two.source.move = move
    assert (one.turn(), two.turn()) == ([], [MessageLearnt]), "to the other it is a filing of the user's, once"
    assert (one.turn(), two.turn()) == ([], [])
    file_away(other, 200, "INBOX", source="Work")
    assert (one.turn(), two.turn()) == ([Suggested], [])
    deliver(other, "INBOX", 202, subject="tax form")
    assert one.turn() == [MessageFiled]
    assert two.turn() == [MessageLearnt]
    file_away(other, 202, "INBOX", source="Work")
    assert (two.turn(), one.turn()) == ([Suggested], [Suggested]), "also one that the second never saw in the inbox"
    assert everywhere(other) == {"INBOX": [200, 202]}


def test_a_server_that_falls_silent_in_a_move_is_left_and_the_message_is_moved_once(server, user, other, learnt):
    swallowed = []

    def spoil(line):
        if b" MOVE " in line and not swallowed:
            swallowed.append(line)
            return line, None  # it is done, and nothing more is heard
        return None

    with FallingSilent("127.0.0.1", server.port, spoil) as way:
        source = open_imap(f"imap://{user}@127.0.0.1:{way.port}/?insecure&timeout=1")
        machine = learnt(source)
        deliver(other, "INBOX", 200, subject="tax form")
        began = time.monotonic()
        assert machine.turn() == [MessageFiled]
        assert time.monotonic() - began > 0.9, "it was silent"
        assert machine.told[0].failed == ""
        assert everywhere(other) == {"Work": [200]}
        assert len(swallowed) == 1
        assert machine.turn() == []
        source.close()


def test_with_a_full_disk_nothing_is_moved_until_there_is_room(learnt, opened, other):
    machine = learnt(opened())
    deliver(other, "INBOX", 200, subject="tax form")
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(JournalError, match="nothing that was acknowledged is lost"):
            machine.turn()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY if hard == -1 else hard, hard))
    assert everywhere(other) == {"INBOX": [200]}
    assert machine.turn() == [MessageFiled]
    assert everywhere(other) == {"Work": [200]}
