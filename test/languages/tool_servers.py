"""Connects each tool server of a plan, lets a run call a tool of it, calls it wrongly, and disconnects it."""

from __future__ import annotations

import json
import sys
from typing import Any

from local_agent import Agent, AgentError


def outcome(agent: Agent, tool: str, given: dict[str, Any]) -> str:
    """Lets the offline model call a tool, and returns how the call ended."""
    run = agent.run(f"use the tool {tool} with {json.dumps(given)}", options={"model": "offline/assistant"})
    ends = [event.type for event in run if event.type in ("tool-output-available", "tool-output-error", "tool-input-error")]
    return ends[0] if ends else "nothing"


def attempt(agent: Agent, body: dict[str, Any], tool: str, given: dict[str, Any]) -> str | None:
    """Returns what is wrong with a server; nothing for one that is well."""
    connected = agent.api.connect_tool_server(body)
    try:
        details = agent.api.get_tool_server(body["name"])
        names = {each.name: each.agent_name for each in details.tool_details}
        if tool not in names:
            return f"it lists no {tool}, but {', '.join(connected.tools[:5])}"
        name = names[tool] or tool
        called = outcome(agent, name, given)
        if called == "nothing":
            return f"the call of {tool} had no end"
        if outcome(agent, name, {"nonsense": [1, {"a": None}]}) == "nothing":
            return f"the wrong call of {tool} had no end"
    finally:
        agent.api.disconnect_tool_server(body["name"])
    return None


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    wrong: list[str] = []
    with Agent() as agent:
        for entry in plan:
            try:
                problem = attempt(agent, entry["body"], entry["tool"], entry["input"])
            except AgentError as error:
                problem = f"{error.code}: {error}"
            if problem is not None:
                wrong.append(f"{entry['body']['name']}: {problem}")
        left = [server.name for server in agent.api.list_tool_servers().servers]
    if left:
        wrong.append(f"servers are left: {left}")
    if wrong:
        raise SystemExit("\n".join(wrong))
    print(f"{len(plan)} servers were listed, called, called wrongly and disconnected")


main()
