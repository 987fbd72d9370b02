"""Executes the calls that the agent makes of this program's tools."""

from __future__ import annotations

import time
from typing import Any

from ..backoff import ATTEMPTS, pause_before
from ..errors import AgentError
from ..tools import LONGEST_ERROR, Tool, ToolContext, failure_of, output_of
from . import io
from .transport import AsyncTransport

# A claim lasts 60 s; it is renewed this often, seconds.
RENEWAL = 20.0


async def execute_call(
    transport: AsyncTransport,
    tool: Tool,
    *,
    tool_call_id: str,
    value: Any,
    expires_at: int | None,
    instance: str,
) -> bool:
    """Claims a call, executes it and sends its result; renews the claim meanwhile.

    Returns False when another instance has the call, or it was withdrawn. Claims and results are
    sent again after a cut, because the service takes the same ones twice.
    """
    path = AsyncTransport._path("/tool-calls/{id}", tool_call_id)

    async def once(body: dict[str, Any]) -> bool:
        try:
            await transport._send("POST", path, body={"claim": instance, **body})
            return True
        except AgentError as error:
            # The call belongs to another instance, or waits no longer.
            if error.status_code in (404, 409, 410):
                return False
            raise

    async def send(body: dict[str, Any]) -> bool:
        attempt = 0
        while True:
            try:
                return await once(body)
            except AgentError as error:
                if not error.is_cut or attempt >= ATTEMPTS:
                    raise
            await io.sleep(pause_before(attempt))
            attempt += 1

    async def renew() -> None:
        try:
            await once({})
        except AgentError:
            # The claim may still be held; it is renewed again.
            pass

    if not await send({}):
        return False
    async with io.repeat(renew, RENEWAL):
        result = await _outcome(tool, value, ToolContext(tool_call_id, tool.name), expires_at)
    try:
        return await send(result)
    except AgentError as error:
        # The service takes no output that is too large.
        if error.status_code not in (400, 413):
            raise
        return await send({"error": error.message[:LONGEST_ERROR]})


async def _outcome(tool: Tool, value: Any, context: ToolContext, expires_at: int | None) -> dict[str, Any]:
    limits = [] if tool.timeout_ms is None else [tool.timeout_ms / 1000]
    if expires_at is not None:
        limits.append(max(0.0, expires_at / 1000 - time.time()))
    limit = min(limits, default=None)
    try:
        return output_of(await io.execute(tool.bind(value, context), limit))
    except TimeoutError as error:
        return failure_of(error) if str(error) else {"error": f"{tool.name} took longer than {limit:.0f} s."}
    except Exception as error:
        return failure_of(error)
