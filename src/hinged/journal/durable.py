"""A learner that survives: every example is in the journal before it is acknowledged."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from hinged.estimators.files import load
from hinged.journal.erasing import JOURNAL, SNAPSHOT, remove_files
from hinged.journal.errors import JournalError, told
from hinged.journal.journal import Journal
from hinged.journal.learning import Example, Receipt, learn_in_order
from hinged.journal.lock import FolderLock
from hinged.journal.replaying import learn_again, rename_is_exact, shown
from hinged.journal.settings import estimator_of, functions_of, keep_settings

__all__ = ["DurableModel"]


class DurableModel:
    """A model in a folder: a journal of all it was taught, and a snapshot of what it learnt from that.

    `learn` returns when the example is on the disk. Whatever happens then (kill -9, power loss), opening the folder
    again gives the same model, to the last bit: the snapshot, and the journal after it learnt once more.

    Several processes may have a folder open and write to it. Each change holds the folder's lock, first learns what
    others wrote since, then appends and learns: every model is that of the journal's one order. See docs/journal.md.

    Parameters
    ----------
    folder : where journal, snapshot and lock lie; made where there is none
    model : estimator or function that makes one, optional
        What to begin with, unfitted; its settings are kept in the journal. May be left out for a folder that exists,
        unless settings are functions, which have to be given again. An estimator of other settings than the folder's
        is refused; a function (a class is one) is asked only where the folder is new.
    read_only : bool, default False
        Only look; shows what was acknowledged when this was opened, or by the last `refresh`.
    snapshot_every : int, default 1000
        After so many lines of the journal a snapshot is written.
    fsync : bool, default True
        False does not wait for the disk: power loss may take the last examples, a killed process none.
    wait : float, default 30
        Seconds that a change waits for another process to finish its own, before `InUseError` is raised.

    Attributes
    ----------
    model : the estimator; ask it whatever you like, but teach it through `learn`
    journal : Journal
    show : function of (what, done, total), or None
        Told how far it has come while the whole journal is learnt anew, as after `forget`.
    lock : threading.RLock
        Held by the thread that writes or refreshes.

    Examples
    --------
    >>> import hinged, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with DurableModel(folder, hinged.TextClassifier()) as kept:
    ...     kept.learn("tax form due", "work", key="message 1").new
    ...     kept.learn("cake recipe", "home", key="message 2").new
    ...     kept.learn("tax form due", "work", key="message 1").new
    True
    True
    False
    >>> with DurableModel(folder) as kept:
    ...     kept.rename("work", "office")
    ...     kept.model.predict_one("the tax")
    'office'
    """

    model: Any
    show: Callable[[str, int, int], None] | None = None

    def __init__(
        self,
        folder: str | os.PathLike[str],
        model: Any = None,
        *,
        read_only: bool = False,
        snapshot_every: int = 1000,
        fsync: bool = True,
        wait: float = 30.0,
    ) -> None:
        self.folder, self.read_only, self.snapshot_every, self.wait = Path(folder), read_only, snapshot_every, wait
        self.lock, self._held = threading.RLock(), False  # `_held`: whether this process holds the folder's lock
        self._ahead = False  # whether the model differs from the journal: during a write, or after one that failed
        self._at = self._seen = self._version = 0  # last line learnt; that of the snapshot; what `version` said then
        if read_only:
            self._open(model, fsync)
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as problem:
            raise told(problem, self.folder) from problem
        with self._holding():  # so that of several processes one makes the journal
            self._open(model, fsync)

    def _open(self, model: Any, fsync: bool) -> None:
        self.journal = Journal(self.folder / JOURNAL, read_only=self.read_only, fsync=fsync)
        try:
            self._file = self.journal.file()
            self._begun_with = keep_settings(self.journal, model, self.folder)
            self._catch_up()
        except BaseException:
            self.journal.close()
            raise

    # ------------------------------------------------------------------ learning
    def learn(self, x: Any, y: Any, key: str | None = None, weight: float | None = None) -> Receipt:
        """Learn one example; it is on the disk when this returns."""
        (receipt,) = self.learn_many([Example(x, y, key, weight)])
        if receipt.error is not None:
            raise receipt.error
        return receipt

    def learn_many(self, examples: Iterable[Example]) -> list[Receipt]:
        """Learn several examples with one wait for the disk; one that is refused does not hinder the others.

        Parameters
        ----------
        examples : what to learn, in this order
            Those of a list are learnt together where that gives the same weights. Others are taken one by one inside
            the transaction: an iterator may look at the journal as it is by then, and write
            to it (`Journal.append`, `Journal.run`), and its lines are kept together with the examples or not at all.
        """
        with self.changing():
            with self._learning():
                receipts = learn_in_order(self.model, self.journal, examples)
            if self.journal.last - self._seen >= self.snapshot_every:
                self._snapshot_if_possible()
        return receipts

    def declare(self, labels: Iterable[Hashable]) -> None:
        """Make labels known before any of their examples came."""
        labels = list(labels)
        with self.changing(), self._learning():
            self.model.declare(labels)
            self.journal.append("declare", [], labels)

    # ------------------------------------------------------------------ edits
    def forget(self, label: Hashable) -> None:
        """Forget a label: the model becomes what it would be without any of its examples, whose content is erased."""
        with self.changing():
            self._check_known(label)
            with self.journal.transaction():
                self._ahead = True  # until the model has followed the journal
                self.journal.forget(label)
            (self.folder / SNAPSHOT).unlink(missing_ok=True)  # which remembers
            self._rebuild()
            self._shrink_if_possible()

    def rename(self, old: Hashable, new: Hashable) -> None:
        """Call a label by another name, as if it had never had the old one."""
        with self.changing():
            self._check_known(old)
            if new in self.labels():
                raise ValueError(f"label {new!r} exists already; use merge({old!r}, {new!r}) to join the two.")
            with self.journal.transaction():
                self._ahead = True
                self.journal.rename(old, new)
            if rename_is_exact(self.model, self.journal):
                self.model.rename_label(old, new)
                self._ahead = False
                self._snapshot_if_possible()
            else:
                self._rebuild()

    def merge(self, source: Hashable, into: Hashable) -> None:
        """Make one label of two: the model becomes what it would be if `source` had always been `into`."""
        with self.changing():
            self._check_known(source)
            self._check_known(into)
            if source == into:
                raise ValueError(f"merge needs two labels; got {source!r} twice.")
            with self.journal.transaction():
                self._ahead = True
                self.journal.rename(source, into, kind="merge")
            self._rebuild()

    def retract(self, key: str, label: Hashable) -> None:
        """Take back one example: the model becomes what it would be without it, and its content is erased."""
        with self.changing():
            seq = self.journal.find(key, label)
            if seq is None:
                raise ValueError(f"nothing was learnt under the key {key!r} and the label {label!r}.")
            model, seen = self._base()
            if seen >= seq:
                model, seen = self._fresh(), 0
            with self.journal.transaction():
                self._ahead = True
                self.journal.retract(seq)
            (self.folder / SNAPSHOT).unlink(missing_ok=True)  # which remembers
            learn_again(model, self.journal.examples(seen))
            self.model, self._ahead = model, False
            self._snapshot_if_possible()
            self._shrink_if_possible()

    def labels(self) -> list[Hashable]:
        """The labels known by now."""
        return list(self.model.known_labels())

    def _check_known(self, label: Hashable) -> None:
        if not hasattr(self.model, "rename_label"):
            raise TypeError(f"labels can be edited for Classifier and Ranker; this is a {type(self.model).__name__}.")
        if label not in self.labels():
            raise ValueError(f"label {label!r} is not known; known are {self.labels()[:10]!r}.")

    # ------------------------------------------------------------------ the folder
    def snapshot(self) -> None:
        """Write the model as it is now, so that opening the folder has less to learn again."""
        with self.changing():
            if not hasattr(self.model, "model_"):
                return
            path = self.folder / SNAPSHOT
            if not path.exists():
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))  # the file that replaces it keeps this mode
            last = self.journal.last
            self.model.notes = {**self.model.notes, "journal": self.journal.get("id"), "seq": last}
            try:
                self.model.save(path)
            except OSError as problem:
                raise told(problem, path) from problem
            self._seen = last

    @property
    def is_ahead_of_its_snapshot(self) -> bool:
        """Whether something was learnt since the last snapshot was written or read."""
        return self.journal.last > self._seen

    def _snapshot_if_possible(self) -> None:
        try:
            self.snapshot()
        except JournalError:  # the journal holds everything: the next one to open the folder learns it again
            self._seen = self.journal.last

    def _shrink_if_possible(self) -> None:
        with suppress(JournalError):  # the edit is done; SQLite cuts its log later, at the latest when it is closed
            self.journal.shrink()

    def erase(self) -> None:
        """Remove the journal and the snapshot, and close; other processes that have them open are told so."""
        with self.changing():
            self.journal.close()
            self.read_only = True
            remove_files(self.folder)

    def close(self) -> None:
        """Write a snapshot where the last one is far behind, and let go of the folder."""
        with self.lock:
            if not self.read_only and self._at - self._seen > self.snapshot_every // 10:
                self._snapshot_if_possible()
            self.read_only = True
            self.journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    # ------------------------------------------------------------------ other processes
    @contextmanager
    def changing(self) -> Iterator[None]:
        """Hold the folder for one change, with the model as the journal has it by now.

        Whoever writes to the journal, or to tables of their own beside it, does so inside; other processes wait
        meanwhile, up to `wait` seconds. May be nested.

        Raises
        ------
        InUseError
            Where another process did not finish in time; nothing was changed.
        """
        with self.lock:
            if self.read_only:
                raise JournalError(f"{self.folder} was opened to be read, or is closed; open it to write.")
            if self._held:
                yield
                return
            with self._holding():
                self._follow()
                try:
                    yield
                finally:
                    if not (self._ahead or self.read_only):
                        self._at = self.journal.last

    def refresh(self) -> None:
        """Learn what other processes wrote since; where they wrote nothing, this costs a few microseconds.

        Raises
        ------
        JournalError
            Where another process erased the journal.
        """
        with self.lock:
            if not self._held:
                self._follow()

    @contextmanager
    def _holding(self) -> Iterator[None]:
        try:
            held = FolderLock(self.folder, self.wait)
        except JournalError:
            raise
        except FileNotFoundError:
            raise self._erased() from None
        except OSError as problem:
            raise told(problem, self.folder) from problem
        self._held = True
        try:
            yield
        finally:
            self._held = False
            held.release()

    def _follow(self) -> None:
        """Become what the journal says by now: learn the lines of others, or start again where they edited some."""
        if self.journal.file() != self._file:
            raise self._erased()
        if self._ahead:
            self._catch_up()
        elif self.journal.version() != self._version:
            with self.journal.transaction(to_write=False):
                edited = self.journal.last_edit(self._at) > 0
                if not edited:
                    self._ahead = True  # until all of it is learnt
                    learn_again(self.model, self.journal.examples(self._at))
                    self._at, self._version = self.journal.last, self.journal.version()
                    self._ahead = False
            if edited:
                self._catch_up()

    def _erased(self) -> JournalError:
        return JournalError(
            f"{self.folder} was erased or replaced by another process; open it again to go on with what is there now."
        )

    @contextmanager
    def _learning(self) -> Iterator[None]:
        """A transaction in which the model learns; if it fails, the model is put right before the caller is told."""
        try:
            with self.journal.transaction():
                self._ahead = True
                yield
            self._ahead = False
        except BaseException:
            with suppress(JournalError):  # then the next write tries again
                if self._ahead:
                    self._catch_up()
            raise

    def _fresh(self) -> Any:
        return estimator_of(self.journal.get("model"), self._begun_with)

    def _catch_up(self) -> None:
        """Become the snapshot, if it is sound and no label was edited since, and learn what came after it."""
        with self.journal.transaction(to_write=False):  # others may write while this one only looks
            model, seen = self._base()
            learn_again(model, self.journal.examples(seen))
            self._at, self._version = self.journal.last, self.journal.version()
        if not seen and self._held:
            (self.folder / SNAPSHOT).unlink(missing_ok=True)  # it may remember what was forgotten
        self.model, self._seen, self._ahead = model, seen, False

    def _base(self) -> tuple[Any, int]:
        """The snapshot and the line it was written after, if it is sound and no label was edited since.

        It is loaded before the journal is looked at: what others write in between can only make it useless.
        """
        stored = self._stored()
        notes = getattr(stored, "_notes", None) or {}
        seen = notes.get("seq", -1) if notes.get("journal") == self.journal.get("id") else -1
        return (stored, seen) if self.journal.last_edit() <= seen <= self.journal.last else (self._fresh(), 0)

    def _stored(self) -> Any:
        """The model of the snapshot; None where there is none, or it is damaged: the journal has it all."""
        path = self.folder / SNAPSHOT
        try:
            return load(path, **functions_of(self._begun_with)) if path.exists() else None
        except (OSError, ValueError):
            return None

    def _rebuild(self) -> None:
        """Learn the whole journal anew; until then the old model answers."""
        model = self._fresh()
        learn_again(model, shown(self.journal.examples(), self.show, self.journal.last))
        self.model, self._ahead = model, False
        self._snapshot_if_possible()
