"""The page over HTTP: each path is a call of the desk; all of them run in one thread."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import ParamSpec, TypeAlias, TypeVar

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from hinged.journal import InUseError, Journal, JournalError
from hinged.mail.hits import filed_on_page
from hinged.mail.reading import Show
from hinged.mail.replaying import replay_journal
from hinged.mail.sources.source import Source, SourceError
from hinged.mail.web.desk import Desk

__all__ = ["Page"]

P = ParamSpec("P")
T = TypeVar("T")
Body: TypeAlias = dict[str, object]  # of a request
Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]
STATIC = Path(__file__).parent / "static"
LONGEST = 64 * 1024  # bytes of a request body
MOST_ROWS = 100
HEARTBEAT, STEP = 15.0, 0.5  # seconds
WAIT = 2.0
REST, LONGEST_REST = 1.0, 10.0  # seconds without filing before another look at the source; maximum delay of a look

STATUSES = {SourceError: 409, ValueError: 400, InUseError: 503, JournalError: 507}  # the first that fits counts
#: The inbox while the mail is being read for the first time.
NOTHING_YET: dict[str, object] = {
    "total": None, "start": 0, "at": None, "rows": [], "learnt": 0, "off": False, "undo": None, "needed": 0
}  # fmt: skip


class Page:
    """The application, with a thread that works at the desk, and one that watches the source.

    Parameters
    ----------
    desk : Desk
    another : function that opens the same source once more
        For the thread that watches, because a source serves one caller at a time.
    """

    def __init__(self, desk: Desk, another: Callable[[], Source]) -> None:
        self.desk, self.another = desk, another
        self._show: Show | None = None
        self._loaded: Callable[[], None] | None = None
        self.loading: dict[str, object] | None = {"what": "starting", "done": 0, "total": 0}
        self.failure: Exception | None = None
        self._worked = 0.0  # when the user last filed something or undid that
        self._due: float | None = None  # since when another look at the source is due
        self._worker = ThreadPoolExecutor(1, "desk")
        self._version, self._ending = 0, threading.Event()
        self._listening: set[asyncio.Event] = set()  # one for each event stream; used by the server's thread only
        self.app = Starlette(routes=self._routes(), lifespan=self._living)

    def _routes(self) -> list[Route | Mount]:
        gets: dict[str, Callable[[Request], object]] = {
            "/api/message": lambda r: self.desk.message(r.query_params.get("key", "")),
            "/api/folders": lambda r: self.desk.folders(),
            "/api/curve": lambda r: self.desk.hits.curve(),
            "/api/settings": lambda r: self.desk.settings(),
        }
        posts: dict[str, Callable[[Body], object]] = {
            "/api/file": lambda body: self._work(self.desk.file, _text(body, "key"), _text(body, "folder")),
            "/api/make": lambda body: self.desk.make(_text(body, "folder")),
            "/api/undo": lambda body: self._work(self.desk.undo),
            "/api/settings": lambda body: self.desk.change(_text(body, "what"), body.get("value")),
        }
        return [
            Route("/", lambda request: FileResponse(STATIC / "index.html")),
            Route("/api/inbox", self._inbox),
            *(Route(path, self._get(call)) for path, call in gets.items()),
            *(Route(path, self._post(call), methods=["POST"]) for path, call in posts.items()),
            Route("/api/events", self._events),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]

    def _work(self, do: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        try:
            return do(*given, **named)
        finally:
            self._worked = time.monotonic()

    # ------------------------------------------------------------------ requests
    async def _inbox(self, request: Request) -> Response:
        """Return the inbox, or the progress of reading the mail for the first time."""
        try:
            start, count = _number(request, "start", 0), min(MOST_ROWS, _number(request, "count", 50))
        except ValueError as problem:
            return _problem(400, str(problem))
        if self.loading is not None:
            return _Json({**NOTHING_YET, "loading": self.loading})
        return await self._answer(lambda: self.desk.rows(start, count, request.query_params.get("key", "")))

    def _get(self, call: Callable[[Request], object]) -> Endpoint:
        async def answer(request: Request) -> Response:
            return await self._answer(lambda: call(request))

        return answer

    def _post(self, call: Callable[[Body], object]) -> Endpoint:
        async def answer(request: Request) -> Response:
            raw = b""
            async for part in request.stream():
                raw += part
                if len(raw) > LONGEST:
                    return _problem(413, f"a request may have at most {LONGEST} bytes.")
            try:
                body = json.loads(raw or b"{}")
            except (ValueError, RecursionError):
                return _problem(400, "the request is not JSON.")
            if not isinstance(body, dict):
                return _problem(400, "the request must be a JSON object.")
            done = await self._answer(lambda: call(body))
            self._notify()
            done.headers["x-version"] = str(self._version)  # this client need not be notified
            return done

        return answer

    async def _answer(self, work: Callable[[], object]) -> Response:
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._worker, work)
        except (SourceError, ValueError, JournalError) as problem:
            return _problem(next(STATUSES[kind] for kind in STATUSES if isinstance(problem, kind)), str(problem))
        return _Json(found)

    async def _events(self, request: Request) -> Response:
        return StreamingResponse(self._stream(), media_type="text/event-stream")

    async def _stream(self) -> AsyncIterator[str]:
        seen, silence = self._version, 0.0
        yield "retry: 1000\n\n"
        news = asyncio.Event()
        self._listening.add(news)
        try:
            while not self._ending.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(news.wait(), STEP)
                news.clear()
                silence += STEP
                if self._version != seen:
                    seen, silence = self._version, 0.0
                    yield f"data: {seen}\n\n"
                elif silence >= HEARTBEAT:
                    silence = 0.0
                    yield ": still here\n\n"
        finally:
            self._listening.discard(news)

    def end(self) -> None:
        """End the event streams, so that the server can stop."""
        self._ending.set()

    def close(self) -> None:
        """Wait until the desk has finished its work."""
        self.end()
        self._worker.shutdown()

    def _notify(self) -> None:
        self._version += 1
        for news in self._listening:
            news.set()

    # ------------------------------------------------------------------ threads
    def at_first_look(self, show: Show | None, loaded: Callable[[], None]) -> None:
        """Set what to call with the progress of reading the mail for the first time, and at its end."""
        self._show, self._loaded = show, loaded

    @asynccontextmanager
    async def _living(self, app: Starlette) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()

        def notify() -> None:
            with suppress(RuntimeError):  # the page is closing
                loop.call_soon_threadsafe(self._notify)

        self._worker.submit(self._load)
        threads = [threading.Thread(target=run, args=(notify,), daemon=True) for run in (self._watch, self._replay)]
        for thread in threads:
            thread.start()
        yield
        self.close()

    def _load(self) -> None:
        """Read the mail for the first time, and report the progress."""

        def show(what: str, done: int, total: int) -> None:
            if self._ending.is_set():
                raise _EndedError
            self.loading = {"what": what, "done": done, "total": total}
            if self._show is not None:
                self._show(what, done, total)

        try:
            self.desk.refresh(show)
        except _EndedError:
            pass
        except Exception as problem:
            self.failure = problem
        self.loading = None
        if self._loaded is not None:
            self._loaded()

    def _watch(self, notify: Callable[[], None]) -> None:
        """Look again whenever another program may have filed something, but not between two filings of the user.

        A look lists all folders, which takes time.
        """
        source: Source | None = None
        try:
            while not self._ending.is_set():
                try:
                    source = source or self.another()
                    if source.wait(WAIT if self._due is None else REST):
                        self._mark_due()
                    self._look_if_due(notify)
                except Exception:  # requests report the same problem; the next look may succeed
                    self._mark_due()
                    self._ending.wait(WAIT)
        finally:
            if source is not None:
                source.close()

    def _mark_due(self) -> None:
        if self._due is None:
            self._due = time.monotonic()

    def _look_if_due(self, notify: Callable[[], None]) -> None:
        """Look if the user rests, or has kept a look waiting for too long; not while the page is closing."""
        now = time.monotonic()
        if self._due is None or self._ending.is_set():
            return
        if now - self._worked >= REST or now - self._due >= LONGEST_REST:
            if self._worker.submit(self.desk.refresh).result()["changed"]:
                notify()
            self._due = None

    def _replay(self, notify: Callable[[], None]) -> None:
        """Start the curve of hits with what the assistant would have suggested for the mail it learnt before."""
        desk = self.desk
        try:
            if self._worker.submit(desk.hits.replay).result() is not None:
                return
            with closing(Journal(desk.assistant.kept.journal.path, read_only=True)) as journal:
                here = filed_on_page(journal)
                hits = []
                for hit in replay_journal(journal, desk.assistant.thresholds, here):
                    if self._ending.is_set():
                        return
                    hits.append(hit)
            if hits:
                self._worker.submit(desk.hits.keep_replay, hits).result()
                notify()
        except (JournalError, RuntimeError):  # the journal was erased, or the page is closing
            pass


class _EndedError(Exception):
    """The page is closing while the mail is being read."""


def _number(request: Request, name: str, default: int) -> int:
    given = request.query_params.get(name, str(default))
    if not given.isascii() or not given.isdigit() or len(given) > 9:
        raise ValueError(f"{name} must be an integer; got {given[:40]!r}.")
    return int(given)


def _text(body: Body, name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} must be a string; got {value!r}.")
    return value


def _problem(status: int, why: str) -> Response:
    return _Json({"error": why}, status)


class _Json(JSONResponse):
    """JSON in ASCII: file names that are not UTF-8 contain lone surrogates, which UTF-8 cannot encode."""

    def render(self, content: object) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")
