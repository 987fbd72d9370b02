"""What a run asks its program, and the answers to it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ._model import UnknownEvent
from .models import ApprovalDecision, QuestionRequestEvent, RunStreamEvent, ToolApprovalRequestEvent
from .tools import Tool

RunEvent = RunStreamEvent | UnknownEvent
Decision = bool | ApprovalDecision | Mapping[str, Any]
"""Whether a call may run; a mapping or ApprovalDecision says how far the permission reaches."""
Answers = Mapping[str, str | list[str]]
"""The answers to questions, by the ids of the questions."""

Approve = Callable[[ToolApprovalRequestEvent], Decision] | Callable[[ToolApprovalRequestEvent], Awaitable[Decision]]
Ask = (
    Callable[[QuestionRequestEvent], Answers | Literal[False]]
    | Callable[[QuestionRequestEvent], Awaitable[Answers | Literal[False]]]
)


@dataclass(frozen=True)
class Handlers:
    """Without a handler for what it asks, a run waits and the iteration ends."""

    approve: Approve | None = None
    ask: Ask | None = None
    tools: Mapping[str, Tool] | None = None


def decision_of(decision: Decision) -> dict[str, Any]:
    """Returns the body of a decision."""
    if isinstance(decision, bool):
        return {"approved": decision}
    return decision.to_json() if isinstance(decision, ApprovalDecision) else dict(decision)


def answers_of(answers: Answers | Literal[False]) -> dict[str, Any]:
    """Returns the body of answers; False declines the questions."""
    return {"approved": False} if answers is False else {"answers": dict(answers)}

