"""A durable model: every example is in the journal before it is acknowledged."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from hinged.estimators.learner import Learner
from hinged.journal.beginning import begun, forget, keep_settings, rename
from hinged.journal.errors import ErasedError, JournalError, journal_error
from hinged.journal.estimator_settings import estimator_of, model_in
from hinged.journal.folder import JOURNAL, SNAPSHOT, FolderLock, remove_files
from hinged.journal.journal import Journal
from hinged.journal.learning import Example, Receipt, learn_again, learn_in_order, rename_is_exact, with_progress

__all__ = ["DurableModel"]


class DurableModel:
    """A model in a folder: a journal of all its examples, and a snapshot of what it learnt from them.

    `learn` returns when the example is on the disk. Whatever happens then (kill -9, power loss), opening the folder
    again gives the same model, to the last bit: the snapshot, updated with the rest of the journal.

    Several processes may open a folder and write to it. Each change takes the folder's lock, learns what others have
    written since, then appends and learns, so that all processes follow one order of examples. See docs/journal.md.

    Parameters
    ----------
    folder : folder of the journal, the snapshot and the lock; created if needed
    model : estimator or function that returns one, optional
        For a new folder: the journal stores its settings, and what it has learnt already, with which the model begins.
        May be omitted for an existing folder, unless settings are functions, which must be given again. An estimator
        with other settings than the folder's is refused; a function (such as a class) is called only for a new folder.
    read_only : bool, default False
        Only read; shows what was acknowledged when this was opened, or by the last `refresh`.
    snapshot_every : int, default 1000
        Lines of the journal between two snapshots.
    fsync : bool, default True
        False does not wait for the disk: power loss may lose the last examples, a killed process loses none.
    wait : float, default 30
        Seconds that a change waits for the lock of another process before `InUseError` is raised.

    Attributes
    ----------
    model : the estimator; predict with it directly, but teach it through `learn`
    journal : Journal
    show : function of (what, done, total), or None
        Called with the progress while the whole journal is learnt again, as after `forget`.
    lock : threading.RLock
        That of the journal; held by the thread that writes or refreshes.

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

    model: Learner
    show: Callable[[str, int, int], None] | None = None

    def __init__(
        self,
        folder: str | os.PathLike[str],
        model: Learner | Callable[[], Learner] | None = None,
        *,
        read_only: bool = False,
        snapshot_every: int = 1000,
        fsync: bool = True,
        wait: float = 30.0,
    ) -> None:
        self.folder, self.read_only, self.snapshot_every, self.wait = Path(folder), read_only, snapshot_every, wait
        self._held = False  # True if this process holds the folder's lock
        self._ahead = False  # True if the model differs from the journal: during a write, or after a failed one
        self._at = self._seen = self._version = 0  # last line learnt, that of the snapshot, the journal's version then
        if read_only:
            self._open(model, fsync)
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as problem:
            raise journal_error(problem, self.folder) from problem
        with self._holding():  # so that only one of several processes creates the journal
            self._open(model, fsync)

    def _open(self, model: Learner | Callable[[], Learner] | None, fsync: bool) -> None:
        self.journal = Journal(self.folder / JOURNAL, read_only=self.read_only, fsync=fsync)
        self.lock = self.journal.lock
        try:
            self._file = self.journal.file()
            self._begun_with = keep_settings(self.journal, model, self.folder)
            self._catch_up()
        except BaseException:
            self.journal.close()
            raise

    # ------------------------------------------------------------------ learning
    def learn(self, x: object, y: object, key: str | None = None, weight: float | None = None) -> Receipt:
        """Learn one example; it is on the disk when this returns."""
        (receipt,) = self.learn_many([Example(x, y, key, weight)])
        if receipt.error is not None:
            raise receipt.error
        return receipt

    def learn_many(self, examples: Iterable[Example]) -> list[Receipt]:
        """Learn several examples in one commit; a refused example does not stop the others.

        Parameters
        ----------
        examples : examples, in the order of learning
            A list is learnt in batches where these give the same weights. An iterator is consumed one by one inside
            the transaction: it may read the journal and write to it (`Journal.append`, `Journal.run`), and its lines
            are committed together with the examples or not at all.
        """
        with self.changing():
            with self._learning():
                receipts = learn_in_order(self.model, self.journal, examples)
            if self.journal.last - self._seen >= self.snapshot_every:
                self._snapshot_if_possible()
        return receipts

    def declare(self, labels: Iterable[Hashable]) -> None:
        """Declare labels before any of their examples."""
        labels = list(labels)
        with self.changing(), self._learning():
            self.model.declare(labels)
            self.journal.append("declare", [], labels)

    # ------------------------------------------------------------------ edits
    def forget(self, label: Hashable) -> None:
        """Forget a label: the model becomes what it would be without its examples, whose content is erased."""
        with self.changing():
            self._check_known(label)
            with self.journal.transaction():
                self._ahead = True  # until the model has followed the journal
                forget(self.journal, label, self._begun_with)
            (self.folder / SNAPSHOT).unlink(missing_ok=True)  # it still contains the label
            self._rebuild()
            self._shrink_if_possible()

    def rename(self, old: Hashable, new: Hashable) -> None:
        """Rename a label, as if it had always had the new name."""
        with self.changing():
            self._check_known(old)
            if new in self.labels():
                raise ValueError(f"label {new!r} exists already; use merge({old!r}, {new!r}) to merge the two.")
            with self.journal.transaction():
                self._ahead = True
                rename(self.journal, old, new, self._begun_with)
            if rename_is_exact(self.model, self.journal):
                self.model.rename_label(old, new)
                self._ahead = False
                self._snapshot_if_possible()
            else:
                self._rebuild()

    def merge(self, source: Hashable, into: Hashable) -> None:
        """Merge two labels: the model becomes what it would be if `source` had always been `into`."""
        with self.changing():
            self._check_known(source)
            self._check_known(into)
            if source == into:
                raise ValueError(f"merge needs two labels; got {source!r} twice.")
            with self.journal.transaction():
                self._ahead = True
                rename(self.journal, source, into, self._begun_with, "merge")
            self._rebuild()

    def become_ranker(self) -> None:
        """Continue with a ranker of the same settings, for sets of labels; each label so far is a set of one."""
        with self.changing():
            if self.model.task != "classify" or not all(type(label) is str for label in self.labels()):
                raise TypeError(f"a ranker comes from a classifier of texts; got {self.model}, {self.labels()[:3]}.")
            stored = self.journal.get("model")
            stored["estimator"] = stored["estimator"].replace("Classifier", "Ranker")
            estimator_of(stored, self._begun_with).check_settings()  # raises before anything has changed
            with self.journal.transaction():
                self._ahead = True
                self.journal.put("model", stored)
                self.journal.append("become", [], [stored["estimator"]])
            self._rebuild()

    def retract(self, key: str, label: object) -> None:
        """Unlearn one example: the model becomes what it would be without it, and its content is erased."""
        with self.changing():
            seq = self.journal.find(key, label)
            if seq is None:
                raise ValueError(f"no example with the key {key!r} and the label {label!r} was learnt.")
            model, seen = self._base()
            model, seen = (model, seen) if seen < seq else (self._fresh(), 0)
            with self.journal.transaction():
                self._ahead = True
                self.journal.retract(seq)
            (self.folder / SNAPSHOT).unlink(missing_ok=True)  # it still contains the label
            learn_again(model, self.journal.examples(seen))
            self.model, self._ahead = model, False
            self._snapshot_if_possible()
            self._shrink_if_possible()

    def labels(self) -> list[Hashable]:
        """Return the labels known so far."""
        return list(self.model.known_labels())

    def _check_known(self, label: Hashable) -> None:
        if not hasattr(self.model, "rename_label"):
            raise TypeError(f"labels can be edited for Classifier and Ranker; this is a {type(self.model).__name__}.")
        if label not in self.labels():
            raise ValueError(f"label {label!r} is not known; known are {self.labels()[:10]!r}.")

    # ------------------------------------------------------------------ the folder
    def snapshot(self) -> None:
        """Write the model to disk, so that opening the folder has less to learn again."""
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
                raise journal_error(problem, path) from problem
            self._seen = last

    @property
    def is_ahead_of_its_snapshot(self) -> bool:
        """True if something was learnt since the last snapshot was written or read."""
        return self.journal.last > self._seen

    def _snapshot_if_possible(self) -> None:
        try:
            self.snapshot()
        except JournalError:  # the journal is complete: the next opening learns from it
            self._seen = self.journal.last

    def _shrink_if_possible(self) -> None:
        with suppress(JournalError):  # the edit is done; SQLite truncates its log later, at the latest on close
            self.journal.shrink()

    def erase(self) -> None:
        """Remove the journal and the snapshot, and close; other processes that have them open get an error."""
        with self.changing():
            self.journal.close()
            self.read_only = True
            remove_files(self.folder)

    def close(self) -> None:
        """Write a snapshot if the last one is far behind, and close the folder."""
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
        """Take the lock for one change, with the model brought up to date with the journal.

        All writes to the journal, and to tables beside it, happen inside; other processes wait up to `wait` seconds.
        May be nested.

        Raises
        ------
        InUseError
            If another process did not finish in time; nothing was changed.
        """
        with self.lock:
            if self.read_only:
                raise JournalError(f"{self.folder} was opened read-only, or is closed; open it for writing.")
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

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Take the lock, as `changing` does, and commit all writes inside, or none."""
        with self.changing(), self.journal.transaction():
            yield

    def refresh(self) -> None:
        """Learn what other processes have written since; if they wrote nothing, this takes a few microseconds.

        Raises
        ------
        JournalError
            If another process has erased the journal.
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
            raise ErasedError(self.folder) from None
        except OSError as problem:
            raise journal_error(problem, self.folder) from problem
        self._held = True
        try:
            yield
        finally:
            self._held = False
            held.release()

    def _follow(self) -> None:
        """Bring the model up to date: learn the lines of other processes, or start again if they edited some."""
        if self.journal.file() != self._file:
            raise ErasedError(self.folder)
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

    @contextmanager
    def _learning(self) -> Iterator[None]:
        """A transaction in which the model learns; if it fails, the model is restored before the exception goes on."""
        try:
            with self.journal.transaction():
                self._ahead = True
                yield
            self._ahead = False
        except BaseException:
            with suppress(JournalError):  # the next write tries again
                if self._ahead:
                    self._catch_up()
            raise

    def _fresh(self) -> Learner:
        return begun(self.journal, self._begun_with)

    def _catch_up(self) -> None:
        """Load the snapshot if it is valid, and learn the rest of the journal."""
        with self.journal.transaction(to_write=False):  # other processes may write meanwhile
            model, seen = self._base()
            learn_again(model, self.journal.examples(seen))
            self._at, self._version = self.journal.last, self.journal.version()
        if not seen and self._held:
            (self.folder / SNAPSHOT).unlink(missing_ok=True)  # it may contain what was forgotten
        self.model, self._seen, self._ahead = model, seen, False

    def _base(self) -> tuple[Learner, int]:
        """Return the snapshot and its last line, if it is valid and no label was edited since; else a new model and 0.

        It is loaded before the journal is read: what others write in between can only make it obsolete.
        """
        stored = model_in(self.folder / SNAPSHOT, self._begun_with)
        notes = {} if stored is None else stored.notes
        seen = notes.get("seq", -1) if notes.get("journal") == self.journal.get("id") else -1
        if stored is None or not 0 <= seen <= self.journal.last or self.journal.last_edit(seen):
            return self._fresh(), 0
        return stored, seen

    def _rebuild(self) -> None:
        """Learn the whole journal again; meanwhile the old model answers."""
        model = self._fresh()
        learn_again(model, with_progress(self.journal.examples(), self.show, self.journal.last))
        self.model, self._ahead = model, False
        self._snapshot_if_possible()
