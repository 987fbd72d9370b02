"""Drives `local-agent acp` as an editor does, with the client of the Python SDK of the Agent Client Protocol."""

from __future__ import annotations

import asyncio
import base64
import os
import sys
from pathlib import Path
from typing import Any

from acp import PROTOCOL_VERSION, spawn_agent_process
from acp.helpers import audio_block, image_block, text_block
from acp.interfaces import Client
from acp.schema import AllowedOutcome, DeniedOutcome, McpServerStdio, RequestPermissionResponse

NODE, SERVER, TOOLS, WORK = sys.argv[1:]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
ORDER = ["pending", "in_progress", "completed", "failed"]


class Editor(Client):
    def __init__(self) -> None:
        self.asked: list[tuple[Any, list[Any]]] = []
        self.choice: str | None = "allow_once"
        self.text = self.thoughts = self.said = ""
        self.states: dict[str, list[str]] = {}

    async def request_permission(self, session_id: str, tool_call: Any, options: Any, **_: Any) -> RequestPermissionResponse:
        self.asked.append((tool_call, options))
        chosen = [each.option_id for each in options if each.kind == self.choice]
        if not chosen:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        # The widest of several that last.
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen[-1]))

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        kind = update.session_update
        if kind == "agent_message_chunk":
            self.text += update.content.text
        elif kind == "agent_thought_chunk":
            self.thoughts += update.content.text
        elif kind == "user_message_chunk":
            self.said += getattr(update.content, "text", "[picture]")
        elif kind in ("tool_call", "tool_call_update") and update.status is not None:
            self.states.setdefault(update.tool_call_id, []).append(update.status)

    def check_states(self) -> None:
        """A call never goes back."""
        for states in self.states.values():
            assert [ORDER.index(state) for state in states] == sorted(ORDER.index(state) for state in states), states

    async def until_text(self, words: str) -> None:
        async with asyncio.timeout(30):
            while words not in self.text:
                await asyncio.sleep(0.02)


async def main() -> None:
    editor = Editor()
    async with spawn_agent_process(lambda _: editor, NODE, SERVER, "acp", env=dict(os.environ)) as (agent, _):
        initialized = await agent.initialize(PROTOCOL_VERSION)
        assert initialized.agent_capabilities and initialized.agent_capabilities.load_session
        servers = [
            McpServerStdio(name="fake", command=NODE, args=[TOOLS, "--tools=lookUp"], env=[]),
            McpServerStdio(name="gone", command="/no/such/program", args=[], env=[]),
        ]
        session = (await agent.new_session(WORK, mcp_servers=servers)).session_id

        async def prompt(*blocks: Any) -> str:
            return (await agent.prompt(session, list(blocks))).stop_reason

        assert await prompt(text_block("TEXT")) == "end_turn"
        assert "Hello there." in editor.text, editor.text
        assert '"gone"' in editor.thoughts, editor.thoughts

        assert await prompt(text_block("LOOK")) == "end_turn"
        assert "lookUp was called" in editor.text, editor.text
        assert len(editor.asked) == 1

        editor.choice = "allow_always"
        assert await prompt(text_block("WRITE")) == "end_turn"
        assert [Path(WORK, name).read_text() for name in ("a.txt", "b.txt")] == ["a", "b"]
        names = [option.name for _, options in editor.asked[1:] for option in options if option.kind == "allow_always"]
        assert len(editor.asked) == 2, f"what Always covers is asked again: {names}"
        assert await prompt(text_block("WRITE")) == "end_turn"
        assert len(editor.asked) == 2, "the scope holds for the next prompt"

        editor.choice = "reject_once"
        assert await prompt(text_block("OTHER")) == "end_turn"
        assert len(editor.asked) == 3 and not Path(WORK, "c.md").exists()

        Path(WORK, "pixel.png").write_bytes(base64.b64decode(PIXEL))
        for picture in (
            image_block(PIXEL, "image/png"),
            image_block(f"data:image/png;base64,{PIXEL}", "image/png"),
            image_block("", "image/png", uri=Path(WORK, "pixel.png").as_uri()),
        ):
            editor.text = ""
            assert await prompt(text_block("PICTURE"), picture) == "end_turn"
            assert "A picture." in editor.text, editor.text
        editor.text = ""
        assert await prompt(text_block("TEXT"), audio_block("AAAA", "audio/wav")) == "end_turn"
        assert "Hello there." in editor.text and "no audio" in editor.thoughts

        editor.text = ""
        turn = asyncio.create_task(prompt(text_block("STALL")))
        await editor.until_text("first")
        await agent.cancel(session)
        following = asyncio.create_task(prompt(text_block("TEXT")))
        assert await turn == "cancelled"
        assert await following == "end_turn"
        assert editor.text.endswith("Hello there."), editor.text
        editor.check_states()

        calls = len(editor.states)
        editor.text, editor.said, editor.states = "", "", {}
        await agent.load_session(WORK, session)
        assert "LOOK" in editor.said and "lookUp was called" in editor.text, editor.said
        assert len(editor.states) == calls
        editor.check_states()
    print(f"{calls} calls, {len(editor.asked)} of them asked")


asyncio.run(main())
