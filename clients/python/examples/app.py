"""The app of "Your app in thirty minutes" (docs/your-app.md), in Python.

    python app.py [folder]

It streams answers, asks for approvals, gives the agent tools, shows conversations, reads a run
again, takes back what a run changed, does work in the background and follows what happens. The
service is found, or started from PATH.
"""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from local_agent import Agent, AgentError, Decision, start, tool
from local_agent.models import ThreadBody, ToolApprovalRequestEvent


class Order(BaseModel):
    id: str
    state: str


ORDERS = {each.id: each for each in (Order(id="A-1", state="open"), Order(id="A-2", state="sent"))}


@tool(effect="read")
def find_orders(state: Literal["open", "sent"]) -> list[Order]:
    """Finds the orders of the shop in a state"""
    return [order for order in ORDERS.values() if order.state == state]


@tool
def close_order(id: str) -> Order:
    """Closes an order"""
    if id not in ORDERS:
        raise LookupError(f"There is no order {id}.")
    ORDERS[id].state = "closed"
    return ORDERS[id]


def approve(request: ToolApprovalRequestEvent) -> Decision:
    """Shows a call and how far it can be granted. An app asks its user here."""
    scopes = ", ".join(each.scope for each in request.scopes or [])
    print(f"May it use {request.tool_name}? It can be granted for: {scopes}")
    return {"approved": True, "scope": "once"}


def ask(agent: Agent, folder: Path) -> None:
    run = agent.run("list the files here", id="notes", cwd=folder)
    for event in run:
        if event.type == "tool-input-available":
            print(f"[{event.tool_name}]")
        if event.type == "text-delta":
            print(event.content, end="", flush=True)
    print(f"\n{run.result().finish_reason}")


def write(agent: Agent, folder: Path) -> None:
    run = agent.run('write "hello" to hello.txt', id="notes", cwd=folder, approve=approve)
    print(run.result().text)


def decide_later(agent: Agent, folder: Path) -> None:
    """Without a handler a run waits on disk, and any program may decide."""
    waiting = agent.run('write "bye" to bye.txt', id="notes", cwd=folder).result()
    print(f"The run waits for {len(waiting.pending)} decision.")
    for item in agent.api.list_approvals().approvals:
        if item.run_id == waiting.run_id:
            print(agent.decide(item.approval_id, True).state)
    print(agent.resume(waiting.run_id).result().text)


def use_tools(agent: Agent) -> None:
    prompt = 'use the tool find_orders with {"state":"open"}, then use the tool close_order with {"id":"A-1"}'
    print(agent.run(prompt, tools=[find_orders, close_order], approve=approve).result().text)


def show_threads(agent: Agent) -> None:
    agent.api.put_thread("notes", ThreadBody(title="My notes"))
    for thread in agent.api.list_threads(limit=20).threads:
        print(f"- {thread.title}")


def send_twice(agent: Agent) -> None:
    key = f"hello {time.time()}"
    first = agent.run("hello", idempotency_key=key).result()
    again = agent.run("hello", idempotency_key=key).result()
    print(f"Sent twice, one run: {first.run_id == again.run_id}")


def undo(agent: Agent, folder: Path) -> None:
    result = agent.run('write "oops" to hello.txt', cwd=folder, approve=lambda _: True).result()
    changes = agent.api.list_changes(result.run_id).changes
    print([change.kind for change in changes])
    agent.api.undo_run(result.run_id, {})
    print(f"{(folder / 'hello.txt').read_text()} is back")


def work_in_background(agent: Agent) -> None:
    task = agent.api.create_task(
        {
            "goal": 'use the tool find_orders with {"state":"sent"}',
            "taskType": "recurring",
            "schedule": {"interval": "every day at 9"},
            "approval": {"mode": "never"},
            "options": {"appTools": [find_orders.definition()], "app": "my-app"},
            "start": True,
        }
    )
    print(f"{task.schedule_words}, {task.status}")
    over, connected = threading.Event(), threading.Event()
    serving = threading.Thread(target=lambda: agent.serve_tools([find_orders], until=over), daemon=True)
    serving.start()
    events = agent.events(
        task_id=task.id,
        types=["task:complete", "task:error"],
        until=over,
        on_connection=lambda _: connected.set(),
    )
    # Now, whatever the schedule says, and not before the events are read.
    runner = threading.Thread(target=lambda: connected.wait() and agent.api.run_task(task.id, {}))
    runner.start()
    for event in events:
        if event.type == "task:complete":
            print(event.output)
        break
    over.set()
    agent.api.delete_task(task.id)


def choose(agent: Agent) -> None:
    print(f"The model is {agent.api.list_providers().active_model}.")
    agent.api.configure_providers({"model": "offline/assistant"})
    prompt = 'use the tool close_order with {"id":"A-2"}'
    for _ in range(2):
        # Granted for this conversation's tool: the second call does not ask.
        print(agent.run(prompt, id="shop", tools=[close_order], approve=allow).result().text)


def allow(request: ToolApprovalRequestEvent) -> Decision:
    """Grants the tool, so that it is not asked for again."""
    print(f"May it use {request.tool_name}, now and later?")
    return {"approved": True, "scope": "tool", "until": {"uses": 5}}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with start(app="my-app", stop_at_exit=True) as agent:
        ask(agent, folder)
        write(agent, folder)
        decide_later(agent, folder)
        use_tools(agent)
        show_threads(agent)
        send_twice(agent)
        undo(agent, folder)
        work_in_background(agent)
        choose(agent)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1] if len(sys.argv) > 1 else "work").absolute())
    except AgentError as error:
        sys.exit(f"{error.code}: {error}")
