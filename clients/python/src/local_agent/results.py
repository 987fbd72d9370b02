"""What a run answers: its text, its messages, and what it waits for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from .errors import AgentError
from .models import (
    FinishEvent,
    FinishReason,
    Question,
    QuestionRequestEvent,
    ReplacedChanges,
    RunTask,
    Steer,
    ToolApprovalRequestEvent,
    ToolCallRequestEvent,
)

T = TypeVar("T")
Request = ToolApprovalRequestEvent | QuestionRequestEvent | ToolCallRequestEvent


@dataclass(frozen=True)
class PendingTool:
    """A call that waits for a decision."""

    approval_id: str
    tool_name: str
    input: Any


@dataclass(frozen=True)
class PendingQuestion:
    """Questions that wait for answers."""

    approval_id: str
    questions: list[Question]


@dataclass(frozen=True)
class PendingCall:
    """A call of a tool of an application that nobody has executed."""

    tool_call_id: str
    tool_name: str
    input: Any


Pending = PendingTool | PendingQuestion | PendingCall


@dataclass(frozen=True)
class RunResult(Generic[T]):
    """What a run has answered when it ended, or when it waits."""

    text: str
    """The answer: the text after the last tool call."""
    messages: list[dict[str, Any]]
    """The messages to append to the conversation."""
    steering: list[Steer]
    """What the user said while the run was under way, each in its newest state."""
    finish_reason: FinishReason
    thread_id: str
    run_id: str
    pending: list[Pending]
    """What the run waits for, when `finish_reason` is "tool-calls"."""
    stopped: Any | None = None
    """Why the run ended before its model said that it was done; `continue_()` of the run goes on."""
    undone: ReplacedChanges | None = None
    """What was undone before the run began, with `changes="undo"`."""
    task: RunTask | None = None
    """The background task that the run created, if there is one."""
    object: T | None = None
    """The answer that fits the `schema` of the request."""

    @property
    def answer(self) -> T:
        """The same as `object`; raises AgentError when there is none, because the run waits or was stopped."""
        if self.object is None:
            raise AgentError(f"The run has no answer: it ended with {self.finish_reason}.", code="ERR_NO_ANSWER")
        return self.object


@dataclass
class RunState:
    """Collects from the events of a run, as the service sends them, what its result holds."""

    thread_id: str | None = None
    run_id: str | None = None
    requests: list[Request] = field(default_factory=list)
    finish: FinishEvent | None = None
    undone: ReplacedChanges | None = None
    task: RunTask | None = None
    object: Any = None
    failure: AgentError | None = None

    def add(self, event: Any) -> None:
        match event.type:
            case "start":
                self.thread_id = event.message_metadata.thread_id
                self.run_id = event.message_metadata.run_id
                self.undone = event.message_metadata.undone or self.undone
                self.requests, self.finish = [], None
            case "tool-approval-request" | "tool-call-request":
                self.requests.append(event)
            case "question-request":
                # No step waits for a live question.
                if not event.live:
                    self.requests.append(event)
            case "data-task":
                self.task = event.data
            case "data-object":
                self.object = event.data.object
            case "error":
                self.failure = AgentError(event.error_text, code=event.code)
            case "abort":
                message = f"The run was ended from outside: {event.reason}."
                self.failure = AgentError(message, code="ERR_RUN_ENDED")
            case "finish":
                self.finish = event
            case _:
                pass

    def pending(self) -> list[Pending]:
        if self.finish is None or self.finish.finish_reason != "tool-calls":
            return []
        return [_pending(request) for request in self.requests]


def _pending(request: Request) -> Pending:
    if isinstance(request, ToolApprovalRequestEvent):
        return PendingTool(request.approval_id, request.tool_name, request.input)
    if isinstance(request, QuestionRequestEvent):
        return PendingQuestion(request.approval_id, request.questions)
    return PendingCall(request.tool_call_id, request.tool_name, request.input)


