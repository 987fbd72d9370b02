"""What is asked of the agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

from pydantic import TypeAdapter

from ._model import to_json
from .handlers import Approve, Ask
from .models import Message, RunOptions
from .tools import Tool


class RunRequest(TypedDict, total=False):
    """The keywords of `run`."""

    id: str | None
    """The thread to continue: `thread_id` of an earlier run, or an id of your choice."""
    messages: Sequence[Message | Mapping[str, Any]] | None
    """A conversation, in place of a prompt."""
    message: Message | Mapping[str, Any] | None
    """One message for the thread `id`, in place of a prompt."""
    cwd: str | Path | None
    """Working directory for relative paths and commands; default: the workspace of the service."""
    agent: str | None
    """Name of an agent of the service, whose options apply beside those of this run."""
    skill: str | None
    """The name of a skill for the working folder, which is read before all else."""
    options: RunOptions | Mapping[str, Any] | None
    """Model, instructions, effort and limits of this run."""
    approve: Approve | None
    """Called for each call that needs approval, one after the other. It may take as long as the user does."""
    ask: Ask | None
    """Called for questions of the agent and of tool servers. False declines them."""
    tools: Sequence[Tool]
    """Functions of this program; the calls of them are executed."""
    continue_: bool
    """Goes on after the last run of the thread `id`, which stopped, failed or was interrupted."""
    dry_run: bool
    """A rehearsal on a copy of the folder: `api.get_sheet` says what it would do."""
    waiting: Literal["withdraw", "keep"] | None
    """What becomes of what the thread waits for: taken back, by default, or kept."""
    changes: Literal["keep", "undo", "ask"] | None
    """What becomes of the changes to files of the answers that the messages replace: kept, by default."""
    server_prompt: Mapping[str, Any] | None
    """A prompt of a tool server: `server`, `name` and `arguments`."""
    resumable: bool
    """Whether the run goes on without a reader, and is read again after a cut. Default: True."""
    idempotency_key: str | None
    """For a day, the same request with this key reads the run that the first one began.

    It is sent again while the service cannot be reached, for about a minute. Without one, the run
    has a key of its own, by which its request is sent again after a cut, for some seconds.
    """


def body_of(prompt: str | None, request: RunRequest, schema: Any, app: str | None) -> dict[str, Any]:
    """Returns the body of POST /run."""
    said = None if prompt is None else {"role": "user", "content": prompt}
    has_id = request.get("id") is not None
    cwd = request.get("cwd")
    fields = {
        "id": request.get("id"),
        "messages": [said] if said is not None and not has_id else request.get("messages"),
        "message": said if said is not None and has_id else request.get("message"),
        "prompt": request.get("server_prompt"),
        "cwd": None if cwd is None else str(Path(cwd).absolute()),
        "skill": request.get("skill"),
        "waiting": request.get("waiting"),
        "changes": request.get("changes"),
        "continue": request.get("continue_") or None,
        "dryRun": request.get("dry_run") or None,
        "options": {**_options(request, schema, app), **to_json(request.get("options") or {})} or None,
    }
    return {name: to_json(value) for name, value in fields.items() if value is not None}


def _options(request: RunRequest, schema: Any, app: str | None) -> dict[str, Any]:
    tools = request.get("tools") or ()
    options = {
        "agent": request.get("agent"),
        "interactive": True if request.get("ask") is not None else None,
        "object": None if schema is None else {"schema": TypeAdapter(schema).json_schema()},
        "appTools": [each.definition() for each in tools] or None,
        "app": app if tools else None,
    }
    return {name: value for name, value in options.items() if value is not None}
