"""The agent of a service."""

from __future__ import annotations

import mimetypes
import secrets
import uuid
from collections.abc import Generator, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, Unpack, overload
from urllib.parse import quote

from .._model import UnknownEvent
from ..backoff import ATTEMPTS, FEW_ATTEMPTS
from ..errors import AgentError
from ..finding import Address, find_service, follow_service
from ..generated.operations import Operations
from ..handlers import Answers, Approve, Ask, Decision, Handlers, answers_of, decision_of
from ..models import DecidedApproval, StreamEvent, ToolCall
from ..request import RunRequest, body_of
from ..tools import Tool, by_name
from . import io
from .app_tools import execute_call
from .events import follow_events
from .run import AgentRun, Begin

T = TypeVar("T")


class Agent:
    """Runs of the agent, and with `api` each operation of the service.

    Without a `url` it uses the service of LOCAL_AGENT_URL, else that of LOCAL_AGENT_HOME, and
    follows it to the address of its next start. `app` names the program whose tools runs are given.
    """

    def __init__(self, url: Address | None = None, *, token: str | None = None, app: str | None = None) -> None:
        self.app = app
        self._instance = f"{app or 'app'}-{secrets.token_hex(8)}"
        self.api = Operations(follow_service() if url is None else url, token or _token(url))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self.api.close()

    @overload
    def run(self, prompt: str | None = None, *, schema: type[T], **request: Unpack[RunRequest]) -> AgentRun[T]: ...

    @overload
    def run(self, prompt: str | None = None, **request: Unpack[RunRequest]) -> AgentRun[None]: ...

    def run(
        self, prompt: str | None = None, *, schema: type[Any] | None = None, **request: Unpack[RunRequest]
    ) -> AgentRun[Any]:
        """Returns a run of what the user says; it begins when its events or its result are first read.

        `schema` is the type of a structured answer, such as a pydantic model. RunRequest describes
        the other keywords.
        """
        given = request.get("idempotency_key")
        begin = Begin(
            body=body_of(prompt, request, schema, self.app),
            key=given or str(uuid.uuid4()),
            attempts=FEW_ATTEMPTS if given is None else ATTEMPTS,
        )
        tools = by_name(request.get("tools") or ())
        handlers = Handlers(approve=request.get("approve"), ask=request.get("ask"), tools=tools)
        return self._run(begin, handlers, request.get("resumable", True), schema)

    def resume(
        self,
        id: str,
        *,
        approve: Approve | None = None,
        ask: Ask | None = None,
        tools: Sequence[Tool] = (),
    ) -> AgentRun[None]:
        """Reads the active or waiting run of a thread, or the run of that id, and deals with what it asks for."""
        handlers = Handlers(approve=approve, ask=ask, tools=by_name(tools))
        return self._run(Begin(follow=id), handlers, True, None)

    def attach(self, file: bytes | str | Path, *, name: str | None = None, media_type: str | None = None) -> dict[str, Any]:
        """Stores a file, and returns the part by which a message names it."""
        content = file if isinstance(file, bytes) else Path(file).read_bytes()
        filename = name if name is not None or isinstance(file, bytes) else Path(file).name
        type_ = media_type or mimetypes.guess_type(filename or "")[0] or "application/octet-stream"
        headers = {"content-type": type_, "x-filename": None if filename is None else quote(filename, safe="")}
        stored = self.api._call_any("POST", "/attachments", None, body=content, headers=headers)
        named = {} if filename is None else {"filename": filename}
        return {"type": "file", "url": stored["url"], "mediaType": stored["mediaType"], **named}

    def decide(self, approval_id: str, decision: Decision) -> DecidedApproval:
        """Decides an approval of any conversation or task. The run goes on without a reader."""
        return self.api.decide_approval(approval_id, decision_of(decision))

    def answer(self, approval_id: str, answers: Answers | Literal[False]) -> DecidedApproval:
        """Answers questions of any conversation or task; False declines them."""
        return self.api.decide_approval(approval_id, answers_of(answers))

    def events(
        self,
        *,
        thread_id: str | None = None,
        task_id: str | None = None,
        types: Sequence[str] | None = None,
        after: str | None = None,
        on_connection: Callable[[bool], Any] | None = None,
        until: io.Event | None = None,
    ) -> Generator[StreamEvent | UnknownEvent, None, None]:
        """Follows what happens in the service, also over restarts of it, until `until` is set.

        Each event comes once: a connection that breaks off is opened again after the last one. Where
        the service no longer has those after it, an event `reset` says that lists must be read again.
        """
        stream = follow_events(
            self.api,
            thread_id=thread_id,
            task_id=task_id,
            types=types,
            after=after,
            on_connection=on_connection,
            until=until,
        )
        for event in stream:
            if event is not None:
                yield event

    def serve_tools(
        self,
        tools: Sequence[Tool],
        *,
        task_id: str | None = None,
        until: io.Event | None = None,
        on_error: Callable[[AgentError], Any] | None = None,
    ) -> None:
        """Executes the calls that tasks make of this program's tools, until `until` is set.

        Those that are open already, and each new one, also over restarts of the service. A call is
        claimed first, so that of several instances one executes it.
        """
        known = by_name(tools)
        taken: set[str] = set()
        background = io.Background()
        stream = follow_events(self.api, task_id=task_id, types=["tool-call:open"], until=until)
        try:
            for _ in stream:
                for call in self._open_calls(task_id):
                    if call.tool_name not in known or call.task_id is None or call.tool_call_id in taken:
                        continue
                    taken.add(call.tool_call_id)
                    background.start(partial(self._serve, call, known[call.tool_name], taken, on_error))
        finally:
            background.cancel()

    def _open_calls(self, task_id: str | None) -> list[ToolCall]:
        calls: list[ToolCall] = []
        cursor: str | None = None
        while True:
            try:
                page = self.api.list_tool_calls(state="open", app=self.app, task_id=task_id, cursor=cursor)
            except AgentError as error:
                # The stream breaks off, too, and comes back; then they are listed again.
                if error.is_cut:
                    return calls
                raise
            calls += [call for call in page.tool_calls if call.app == self.app]
            if page.next_cursor is None:
                return calls
            cursor = page.next_cursor

    def _serve(self, call: ToolCall, tool: Tool, taken: set[str], on_error: Callable[[AgentError], Any] | None) -> None:
        try:
            execute_call(
                self.api,
                tool,
                tool_call_id=call.tool_call_id,
                value=call.input,
                expires_at=call.expires_at,
                instance=self._instance,
            )
        except AgentError as error:
            if on_error is not None:
                io.call(on_error, error)
        finally:
            taken.discard(call.tool_call_id)

    def _run(self, begin: Begin, handlers: Handlers, resumable: bool, schema: type[Any] | None) -> AgentRun[Any]:
        return AgentRun(
            self.api,
            begin,
            instance=self._instance,
            handlers=handlers,
            resumable=resumable,
            schema=schema,
        )


def _token(url: Address | None) -> str | None:
    """The token of the environment belongs to the service of the environment."""
    if url is not None:
        return None
    try:
        return find_service().token
    except AgentError:
        return None
