"""Signals, kills and pipes: the real program in processes of its own."""

import io
import itertools
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.streams import examples, write_jsonl

import hinged
from hinged.cli.interrupts import Interrupts

PROGRAM = [sys.executable, "-c", "from hinged.cli.main import main; main()"]
LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"


def started(*arguments):
    """The program with pipes on all sides."""
    pipe = subprocess.PIPE
    return subprocess.Popen([*PROGRAM, *map(str, arguments)], stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def feed(program, n, rows):
    """Pipe in `n` examples, leave the pipe open, and wait until the table has that many rows."""
    program.stdin.write("".join(json.dumps({"label": y, "text": x}) + "\n" for y, x in examples(n)))
    program.stdin.flush()
    return [program.stdout.readline() for _ in range(rows + 1)]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_saves_what_has_been_learnt(tmp_path, number, code):
    with started("learn", "-", "--model", tmp_path / "m.hinged") as program:
        assert feed(program, 64, 7)[-1].split()[0] == "64"
        program.send_signal(number)
        out, err = program.communicate(timeout=60)
    assert program.returncode == code
    assert "saved" in err
    assert "Traceback" not in err
    assert "64 examples learnt" in out
    assert hinged.load(tmp_path / "m.hinged").n_rounds_ == 64


def test_a_signal_before_anything_is_learnt_writes_nothing(call, tmp_path, monkeypatch):
    class Silent(io.RawIOBase):
        """A pipe into which nothing comes but a signal."""

        def readable(self):
            return True

        def readinto(self, view):
            os.kill(os.getpid(), signal.SIGINT)
            raise AssertionError("the signal was not heeded while waiting")

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Silent())))
    code, _, err = call("learn", "--model", tmp_path / "m.hinged")
    assert code == 130
    assert "nothing was learnt" in err
    assert not (tmp_path / "m.hinged").exists()


def test_two_signals_while_saving_leave_the_old_model(call, tmp_path, monkeypatch):
    path = write_jsonl(tmp_path / "a.jsonl", 20)
    call("learn", path, "--model", tmp_path / "m.hinged")
    before = (tmp_path / "m.hinged").read_bytes()

    def twice(file):
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr("hinged.io.model_file.os.fsync", twice)
    code, _, err = call("learn", path, "--model", tmp_path / "m.hinged")
    assert code == 143
    assert "Traceback" not in err
    assert (tmp_path / "m.hinged").read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["a.jsonl", "m.hinged"]


def test_signals_end_a_stream_between_its_items():
    before = signal.getsignal(signal.SIGINT)
    with Interrupts("stopping") as interrupts:
        stream = interrupts.while_going(itertools.count())
        assert next(stream) == 0
        os.kill(os.getpid(), signal.SIGINT)
        assert list(stream) == []
        assert not interrupts.going()
        assert interrupts.exit_code == 130
        with pytest.raises(SystemExit) as stopped:
            os.kill(os.getpid(), signal.SIGINT)
        assert stopped.value.code == 130
    assert signal.getsignal(signal.SIGINT) is before


def test_signals_end_a_stream_that_waits():
    def waits():
        yield 1
        os.kill(os.getpid(), signal.SIGTERM)
        raise AssertionError("the signal was not heeded while waiting")

    with Interrupts("stopping") as interrupts:
        assert list(interrupts.while_going(waits())) == [1]
        assert interrupts.exit_code == 143


def test_a_model_file_is_never_half_written(tmp_path):
    write_jsonl(tmp_path / "mail.jsonl", 40)
    kills = 200 if LONG else 10
    program = [sys.executable, str(Path(__file__).with_name("kills.py")), str(tmp_path), str(kills), "1"]
    done = subprocess.run(program, capture_output=True, text=True, check=True, timeout=900)
    result = json.loads(done.stdout)
    rounds = result["rounds"]
    assert len(rounds) >= kills
    assert all(n % 40 == 0 for n in rounds), "a model holds whole runs only"
    assert rounds == sorted(rounds), "no model is ever replaced by an older one"
    assert rounds[-1] > 0


def test_predictions_flow_while_the_pipe_is_open(tmp_path):
    model = hinged.TextClassifier().fit([x for _, x in examples(50)], [y for y, _ in examples(50)])
    model.save(tmp_path / "m.hinged")
    with started("predict", "-", "--model", tmp_path / "m.hinged") as program:
        for text in ("the invoice", "cake for grandma"):
            program.stdin.write(json.dumps({"text": text}) + "\n")
            program.stdin.flush()
            assert program.stdout.readline().strip() == model.predict_one(text)
        program.stdin.close()
        assert program.wait(timeout=60) == 0


def test_a_reader_that_has_had_enough_ends_the_program_quietly(tmp_path):
    path = write_jsonl(tmp_path / "a.jsonl", 3000)
    model = hinged.TextClassifier().fit([x for _, x in examples(50)], [y for y, _ in examples(50)])
    model.save(tmp_path / "m.hinged")
    with started("predict", path, "--model", tmp_path / "m.hinged", "--json") as program:
        program.stdout.readline()
        program.stdout.close()
        assert program.wait(timeout=60) == 0
        assert program.stderr.read() == ""


def test_learning_goes_on_when_nobody_reads_the_table(tmp_path):
    path = write_jsonl(tmp_path / "a.jsonl", 3000)
    with started("learn", path, "--model", tmp_path / "m.hinged") as program:
        program.stdout.readline()
        program.stdout.close()
        assert program.wait(timeout=60) == 0
        (reading,) = program.stderr.read().splitlines()
        assert reading.startswith(f"reading {path}: ")
    assert hinged.load(tmp_path / "m.hinged").n_rounds_ == 3000


def test_a_disk_that_is_full_is_told_with_the_file(tmp_path):
    path = write_jsonl(tmp_path / "a.jsonl", 2000)
    targets = ("learn", path, "--model", "m.hinged"), ("convert", path, "b.jsonl"), ("convert", path, "b.csv.gz")
    program = (
        "import json, resource, signal, sys; from hinged.cli.main import main\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))\n"
        "for target in json.loads(sys.argv[1]):\n"
        "    try: main(target)\n"
        "    except SystemExit as end: print('ended', end.code, file=sys.stderr)\n"
    )
    given = [sys.executable, "-c", program, json.dumps(targets)]
    done = subprocess.run(given, capture_output=True, text=True, cwd=tmp_path, check=True)
    *said, rest = done.stderr.split("ended 1\n")
    assert (len(said), rest) == (len(targets), "")
    for target, words in zip(targets, said, strict=True):
        assert target[-1] in words
        assert "File too large" in words
        assert "Traceback" not in words


def test_the_package_is_a_program_too(tmp_path):
    done = subprocess.run([sys.executable, "-m", "hinged", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"hinged {hinged.__version__}\n"
