"""A typed client of the local agent service, synchronous and for asyncio."""

from . import models
from ._async.agent import AsyncAgent
from ._async.run import AsyncAgentRun
from ._model import Model, UnknownEvent
from ._sync.agent import Agent
from ._sync.run import AgentRun
from .errors import AgentError
from .finding import Address, Service, find_service, start_service
from .handlers import Answers, Decision, RunEvent
from .results import Pending, PendingCall, PendingQuestion, PendingTool, RunResult
from .tools import Tool, ToolContext, tool


def start(*, app: str | None = None, wait: float = 30, stop_at_exit: bool = False) -> Agent:
    """Returns the agent of the service that runs here; starts `local-agent` from PATH when none does.

    It waits for `wait` seconds. The service stays when this program ends, unless `stop_at_exit`.
    """
    service = start_service(wait=wait, stop_at_exit=stop_at_exit)
    return Agent(token=service.token, app=app)


async def start_async(*, app: str | None = None, wait: float = 30, stop_at_exit: bool = False) -> AsyncAgent:
    """The same as `start`, for asyncio."""
    import asyncio

    service = await asyncio.to_thread(start_service, wait=wait, stop_at_exit=stop_at_exit)
    return AsyncAgent(token=service.token, app=app)


__all__ = [
    "Address",
    "Agent",
    "AgentError",
    "AgentRun",
    "Answers",
    "AsyncAgent",
    "AsyncAgentRun",
    "Decision",
    "Model",
    "Pending",
    "PendingCall",
    "PendingQuestion",
    "PendingTool",
    "RunEvent",
    "RunResult",
    "Service",
    "Tool",
    "ToolContext",
    "UnknownEvent",
    "find_service",
    "models",
    "start",
    "start_async",
    "tool",
]
