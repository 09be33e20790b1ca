"""The page over HTTP: a handful of addresses, each a call of the desk, one after another on one thread."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from hinged.journal import InUseError, Journal, JournalError
from hinged.mail.replaying import replay_journal
from hinged.mail.sources.source import Source, SourceError
from hinged.server.page.desk import Desk

__all__ = ["Page"]

STATIC = Path(__file__).parent / "static"
LONGEST = 64 * 1024  # bytes of a request
MOST_ROWS = 100
HEARTBEAT, STEP = 15.0, 0.5  # seconds
WAIT = 2.0


class Page:
    """The application, and the two threads beside it: one that works at the desk, one that watches the source.

    Parameters
    ----------
    desk : Desk
    another : function that opens the same source once more
        For the thread that waits, because a source serves one caller at a time.
    """

    def __init__(self, desk: Desk, another: Callable[[], Source]) -> None:
        self.desk, self.another = desk, another
        self._worker = ThreadPoolExecutor(1, "desk")
        self._version, self._ending = 0, threading.Event()
        self._listening: set[asyncio.Event] = set()  # one for each stream of news; used by the server's thread alone
        self.app = Starlette(routes=self._routes(), lifespan=self._living)

    def _routes(self) -> list[Route | Mount]:
        gets: dict[str, Callable[[Request], Any]] = {
            "/api/inbox": self._rows,
            "/api/message": lambda r: self.desk.message(r.query_params.get("key", "")),
            "/api/folders": lambda r: self.desk.folders(),
            "/api/curve": lambda r: self.desk.hits.curve(),
            "/api/settings": lambda r: self.desk.settings(),
        }
        posts: dict[str, Callable[[Any], Any]] = {
            "/api/file": lambda body: self.desk.file(_text(body, "key"), _text(body, "folder")),
            "/api/make": lambda body: self.desk.make(_text(body, "folder")),
            "/api/undo": lambda body: self.desk.undo(),
            "/api/settings": lambda body: self.desk.change(_text(body, "what"), body.get("value")),
        }
        return [
            Route("/", lambda request: FileResponse(STATIC / "index.html")),
            *(Route(path, self._get(call)) for path, call in gets.items()),
            *(Route(path, self._post(call), methods=["POST"]) for path, call in posts.items()),
            Route("/api/events", self._events),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]

    # ------------------------------------------------------------------ requests
    def _rows(self, request: Request) -> Any:
        count = min(MOST_ROWS, _number(request, "count", 50))
        return self.desk.rows(_number(request, "start", 0), count, request.query_params.get("key", ""))

    def _get(self, call: Callable[[Request], Any]) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            return await self._answer(lambda: call(request))

        return answer

    def _post(self, call: Callable[[Any], Any]) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            raw = b""
            async for part in request.stream():
                raw += part
                if len(raw) > LONGEST:
                    return _problem(413, f"a request may hold {LONGEST} bytes.")
            try:
                body = json.loads(raw or b"{}")
            except (ValueError, RecursionError):
                return _problem(400, "the request is no JSON.")
            if not isinstance(body, dict):
                return _problem(400, "the request must be a JSON object.")
            done = await self._answer(lambda: call(body))
            self._tell()
            done.headers["x-version"] = str(self._version)  # who asked need not be told
            return done

        return answer

    async def _answer(self, work: Callable[[], Any]) -> Response:
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._worker, work)
        except SourceError as problem:
            return _problem(409, str(problem))
        except ValueError as problem:
            return _problem(400, str(problem))
        except JournalError as problem:
            return _problem(503 if isinstance(problem, InUseError) else 507, str(problem))
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
        """Let the streams of news end, so that the server can."""
        self._ending.set()

    def close(self) -> None:
        """Wait for the work under way at the desk."""
        self.end()
        self._worker.shutdown()

    def _tell(self) -> None:
        self._version += 1
        for news in self._listening:
            news.set()

    # ------------------------------------------------------------------ threads
    @asynccontextmanager
    async def _living(self, app: Starlette) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()

        def tell() -> None:
            with suppress(RuntimeError):  # the page is closing
                loop.call_soon_threadsafe(self._tell)

        threads = [threading.Thread(target=run, args=(tell,), daemon=True) for run in (self._watch, self._replay)]
        for thread in threads:
            thread.start()
        yield
        self.close()

    def _watch(self, tell: Callable[[], None]) -> None:
        """Look again whenever another program may have filed something."""
        source: Source | None = None
        due = False
        try:
            while not self._ending.is_set():
                try:
                    source = source or self.another()
                    due = source.wait(WAIT) or due
                    if due and not self._ending.is_set():
                        if self._worker.submit(self.desk.refresh).result()["changed"]:
                            tell()
                        due = False
                except (SourceError, JournalError):  # not to be reached just now; those who ask are told why
                    due = True
                    self._ending.wait(WAIT)
        except RuntimeError:  # the page is closing
            pass
        finally:
            if source is not None:
                source.close()

    def _replay(self, tell: Callable[[], None]) -> None:
        """Begin the curve with what the assistant would have suggested for the mail it learnt before."""
        desk = self.desk
        try:
            if self._worker.submit(desk.hits.replay).result() is not None:
                return
            with closing(Journal(desk.assistant.kept.journal.path, read_only=True)) as journal:
                here = set(journal.ask("SELECT message, folder FROM mail_hits"))
                hits = []
                for hit in replay_journal(journal, desk.assistant.thresholds, here):
                    if self._ending.is_set():
                        return
                    hits.append(hit)
            if hits:
                self._worker.submit(desk.hits.keep_replay, hits).result()
                tell()
        except (JournalError, RuntimeError):  # the journal is gone, or the page is closing
            pass


def _number(request: Request, name: str, default: int) -> int:
    given = request.query_params.get(name, str(default))
    if not given.isascii() or not given.isdigit() or len(given) > 9:
        raise ValueError(f"{name} must be a whole number; got {given[:40]!r}.")
    return int(given)


def _text(body: Any, name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} must be a text; got {value!r}.")
    return value


def _problem(status: int, why: str) -> Response:
    return _Json({"error": why}, status)


class _Json(JSONResponse):
    """JSON in ASCII: file names that are no UTF-8 hold lone surrogates, which UTF-8 cannot carry."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")
