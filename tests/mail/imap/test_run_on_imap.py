"""A running assistant whose servers come and go."""

import json
import signal

from tests.mail.imap.dovecot import PASSWORD, Dovecot
from tests.mail.imap.letters import deliver, file_away
from tests.mail.imap.program import Program
from tests.mail.letters import letter, make_maildir

from hinged.cli.asking import ask
from hinged.mail.running.service import GAVE_UP


def test_each_account_goes_on_by_itself_whatever_happens_to_the_others(tmp_path, monkeypatch, capsys):
    """One server is down at the start, another one rejects the password; a Maildir is watched beside them."""
    monkeypatch.setenv("HINGED_MAIL_PASSWORD", PASSWORD)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    root = make_maildir(tmp_path / "mail", {"INBOX": [], "Work": [letter(name="1")]})
    server = Dovecot()
    try:
        user = server.new_user()
        other = server.client(user)
        other.create_folder("Work")
        deliver(other, "Work", 1, 2)
        deliver(other, "INBOX", 3)
        other.shutdown()
        nobody = server.url("nobody")
        server.kill()
        with Program(server.url(user), root, "--json", command="run") as program:
            assert "nothing listens" in program.says('"away"')
            program.says('"learnt"')
            server.start()
            program.says("2@example.org")
            assert json.loads(program.says('"back"'))["account"] == server.url(user)
            other = server.client(user)
            file_away(other, 3, "Work")
            program.says("3@example.org")
            other.shutdown()
            assert ask(["mail", "suggest", server.url(user)]) == 0
            assert ask(["mail", "suggest", server.url(user)]) == 0  # over the same connection
            assert ask(["mail", "pin", str(root), "ann@example.com", "Work"]) == 0
            server.kill()
            assert ask(["mail", "suggest", server.url(user)]) == 1
            assert "nothing listens" in capsys.readouterr().err
            server.start()
            assert ask(["mail", "suggest", server.url(user)]) == 0
            assert program.stop(signal.SIGTERM) == 143
        with Program(nobody, command="run") as program:
            program.says("did not accept the password", "err")
            assert program.ends() == GAVE_UP
            assert "is no longer watched" in program.lines["err"][-1]
    finally:
        server.close()
