"""A run of the agent: its events, over all of its approvals, questions and calls of tools."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from .._model import read_event, read_model
from ..backoff import ATTEMPTS, FEW_ATTEMPTS, pause_before
from ..conversation import Conversation
from ..errors import AgentError, stream_cut
from ..handlers import Answers, Decision, Handlers, RunEvent, answers_of, decision_of
from ..models import (
    RUN_STREAM_EVENTS,
    QuestionRequestEvent,
    Steer,
    SteeredRun,
    ToolApprovalRequestEvent,
    ToolCallRequestEvent,
)
from ..replay import ReplayFilter
from ..results import Request, RunResult, RunState
from . import io
from .app_tools import execute_call
from .transport import AsyncTransport, read_json

T = TypeVar("T")
Open = Callable[[], AsyncIterator[Any]]

PROTOCOL = {"protocol": "documented"}
# The question was answered elsewhere, or the call that asked has ended.
OVER = ("ERR_APPROVAL_DECIDED", "ERR_APPROVAL_EXPIRED", "ERR_APPROVAL_NOT_FOUND", "ERR_APPROVAL_WITHDRAWN")


@dataclass(frozen=True)
class Begin:
    """How the first stream of a run is opened: by a request, or by the id of a thread or run."""

    body: dict[str, Any] | None = None
    key: str | None = None
    follow: str | None = None
    attempts: int = FEW_ATTEMPTS


@dataclass(frozen=True)
class Segment:
    """How a part of a run is opened, from one request of the run to the next.

    `is_repeatable`: it may be opened so again, until its first event is read.
    """

    open: Open
    is_repeatable: bool
    attempts: int = ATTEMPTS


class AsyncAgentRun(Generic[T]):
    """A run. Read its events with a loop, its end with `result()`, or both.

    It begins when its events or its result are first read, and goes on without its reader.
    """

    def __init__(
        self,
        transport: AsyncTransport,
        begin: Begin,
        *,
        instance: str,
        handlers: Handlers,
        resumable: bool,
        schema: type[T] | None,
    ) -> None:
        self._transport = transport
        self._begin = begin
        self._instance = instance
        self._handlers = handlers
        self._resumable = resumable
        self._schema = schema
        self._state = RunState()
        self._conversation = Conversation()
        self._decisions: dict[str, dict[str, Any]] = {}
        self._live: set[str] = set()
        self._is_stopped = False
        self._events = self._read()

    @property
    def thread_id(self) -> str | None:
        """Known from the event `start` on."""
        return self._state.thread_id

    @property
    def run_id(self) -> str | None:
        """Known from the event `start` on."""
        return self._state.run_id

    def __aiter__(self) -> AsyncIterator[RunEvent]:
        return self._events

    async def result(self) -> RunResult[T]:
        """Reads what the loop has not read, and returns the result. Raises AgentError when the run failed."""
        async for _ in self._events:
            pass
        state = self._state
        if state.finish is None or state.thread_id is None or state.run_id is None:
            raise AgentError("The run was not read to its end.", code="ERR_STREAM_CUT")
        return RunResult(
            text=self._conversation.text,
            messages=self._conversation.messages,
            steering=[read_model(Steer, each) for each in self._conversation.steering],
            finish_reason=state.finish.finish_reason,
            thread_id=state.thread_id,
            run_id=state.run_id,
            pending=state.pending(),
            stopped=state.finish.stopped,
            undone=state.undone,
            task=state.task,
            object=self._object(),
        )

    async def stop(self) -> None:
        """Stops the run. Its events end with `abort`, and the iteration ends without an error."""
        self._is_stopped = True
        if self.run_id is None:
            return
        try:
            await self._transport._send("POST", self._path("/run/{id}/stop"))
        except AgentError as error:
            if error.code != "ERR_NO_LIVE_RUN":
                raise

    async def steer(self, message: str, *, id: str | None = None) -> SteeredRun:
        """Says something to the run, which its next step reads. Raises ERR_NO_LIVE_RUN when none follows.

        The same `id` again says nothing twice.
        """
        if self.run_id is None:
            raise AgentError("The run has not begun: read its events first.", code="ERR_NO_LIVE_RUN")
        body = {"message": message} if id is None else {"message": message, "id": id}
        return await self._transport._call("POST", self._path("/run/{id}/steer"), SteeredRun, body=body)

    def continue_(self) -> AsyncAgentRun[T]:
        """Returns another run, which goes on where this one stopped, failed or was interrupted."""
        return AsyncAgentRun(
            self._transport,
            Begin(body={"id": self.thread_id, "continue": True}),
            instance=self._instance,
            handlers=self._handlers,
            resumable=self._resumable,
            schema=self._schema,
        )

    def approve(self, approval_id: str, decision: Decision) -> None:
        """Decides a request of the events; it is sent when the part of the run has been read."""
        self._decisions[approval_id] = decision_of(decision)

    async def answer(self, approval_id: str, answers: Answers | Literal[False]) -> None:
        """Answers questions of the events; False declines them."""
        if approval_id in self._live:
            await self._answer_live(approval_id, answers)
        else:
            self._decisions[approval_id] = answers_of(answers)

    def _object(self) -> T | None:
        if self._schema is None or self._state.object is None:
            return None
        try:
            return TypeAdapter(self._schema).validate_python(self._state.object)
        except ValidationError as error:
            raise AgentError(f"The answer does not fit its model: {error}", code="ERR_ANSWER") from error

    def _path(self, path: str) -> str:
        return AsyncTransport._path(path, self.run_id or "")

    async def _read(self) -> AsyncIterator[RunEvent]:
        begin = self._begin
        if begin.body is not None:
            first = partial(self._post, "/run", begin.body, begin.key)
            segment = Segment(first, self._resumable and begin.key is not None, begin.attempts)
        else:
            segment = Segment(partial(self._follow, begin.follow or ""), False)
        while True:
            async for event in self._read_segment(segment):
                yield event
            if self._state.failure is not None and not self._is_stopped:
                raise self._state.failure
            following = None if self._is_stopped else await self._settle(list(self._state.requests))
            if following is None:
                return
            # The same decisions again get the same segment, from its beginning.
            segment = Segment(following, self._resumable)

    def _take(self, data: dict[str, Any], id: str | None, replay: ReplayFilter) -> list[RunEvent]:
        """Returns what is new of the event, noted as part of the run; see `ReplayFilter`."""
        try:
            parts = replay.new_parts(data)
            replay.mark(id)
            events: list[RunEvent] = [read_event(RUN_STREAM_EVENTS, part) for part in parts]
            for event, part in zip(events, parts, strict=True):
                self._state.add(event)
                self._conversation.add(part)
            return events
        except (AttributeError, KeyError, TypeError) as error:
            sentence = f"An event of the run has a shape that this client does not know: {error!r}."
            raise AgentError(sentence, code="ERR_NO_SERVICE") from error

    async def _read_segment(self, segment: Segment) -> AsyncIterator[RunEvent]:
        """Yields the events of one segment once, however often its stream breaks off."""
        replay = ReplayFilter()
        open: Open = segment.open
        is_begun = False
        attempt = 0
        while True:
            try:
                async for sent in open():
                    if sent is None or sent.data is None:
                        continue
                    is_begun = True
                    for event in self._take(read_json(sent.data), sent.id, replay):
                        attempt = 0
                        await self._answer_question(event)
                        yield event
                        if event.type == "finish":
                            return
                failure = stream_cut()
            except AgentError as error:
                if not error.is_cut:
                    raise
                failure = error
            may_open = self._resumable if is_begun else segment.is_repeatable
            if not may_open or attempt >= (ATTEMPTS if is_begun else segment.attempts):
                raise failure
            await io.sleep(pause_before(attempt))
            attempt += 1
            if is_begun:
                open = partial(self._follow, self.run_id or "", replay.last_id)
            replay.reopen()

    def _post(self, path: str, body: dict[str, Any], key: str | None = None) -> AsyncIterator[Any]:
        sent = {**body, "resumable": self._resumable}
        return self._transport.open_stream("POST", path, body=sent, query=PROTOCOL, headers={"idempotency-key": key})

    def _follow(self, id: str, after: str | None = None) -> AsyncIterator[Any]:
        """Reads a run again, behind an event; by the id of a run also what is recorded of one that ended or waits."""
        path = AsyncTransport._path("/run/{id}/stream", id)
        return self._transport.open_stream("GET", path, query=PROTOCOL, headers={"last-event-id": after})

    async def _settle(self, requests: Sequence[Request]) -> Open | None:
        """Deals with the requests of a segment, and returns how the run is read on; None when it waits."""
        answers: list[dict[str, Any]] = []
        for request in requests:
            if isinstance(request, ToolCallRequestEvent):
                continue
            answer = await self._decide(request)
            if answer is not None:
                answers.append({"type": "tool-approval-response", "approvalId": request.approval_id, **answer})
        tools = self._handlers.tools or {}
        calls = [each for each in requests if isinstance(each, ToolCallRequestEvent) and each.tool_name in tools]
        executed = await io.gather([partial(self._execute, each) for each in calls])
        if answers:
            return partial(self._post, "/run/approve", {"messages": [{"role": "tool", "content": answers}]})
        return partial(self._follow, self.run_id or "") if True in executed else None

    async def _decide(self, request: ToolApprovalRequestEvent | QuestionRequestEvent) -> dict[str, Any] | None:
        decided = self._decisions.pop(request.approval_id, None)
        if decided is not None:
            return decided
        if isinstance(request, ToolApprovalRequestEvent) and self._handlers.approve is not None:
            return decision_of(await io.call(self._handlers.approve, request))
        if isinstance(request, QuestionRequestEvent) and self._handlers.ask is not None:
            return answers_of(await io.call(self._handlers.ask, request))
        return None

    async def _execute(self, request: ToolCallRequestEvent) -> bool:
        assert self._handlers.tools is not None
        return await execute_call(
            self._transport,
            self._handlers.tools[request.tool_name],
            tool_call_id=request.tool_call_id,
            value=request.input,
            expires_at=request.expires_at,
            instance=self._instance,
        )

    async def _answer_question(self, event: RunEvent) -> None:
        """Answers a question that a tool server asks in the middle of its call."""
        if event.type == "question-closed":
            self._live.discard(event.approval_id)
        if event.type != "question-request" or not event.live or event.approval_id in self._live:
            return
        self._live.add(event.approval_id)
        if self._handlers.ask is None:
            return
        query = {"kind": "question", "limit": 500}
        items = await self._transport._call_any("GET", "/approvals", None, query=query)
        # A stream that is read again holds questions that are closed.
        if any(each["approvalId"] == event.approval_id for each in items["approvals"]):
            await self._answer_live(event.approval_id, await io.call(self._handlers.ask, event))

    async def _answer_live(self, approval_id: str, answers: Answers | Literal[False]) -> None:
        try:
            path = AsyncTransport._path("/approvals/{id}", approval_id)
            await self._transport._send("POST", path, body=answers_of(answers))
        except AgentError as error:
            if error.code not in OVER:
                raise
