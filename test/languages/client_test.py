"""What the README of the Python client does not show: cuts, restarts, errors, and the models."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import tempfile
import threading
import time
import unittest
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

from local_agent import Agent, AgentError, AsyncAgent, RunResult, ToolContext, models, start, tool


class Cutter(BaseHTTPRequestHandler):
    """A service that answers what the test says, request by request."""

    answers: list[Callable[[Cutter], None]] = []
    received: list[tuple[str, str, dict[str, str]]] = []

    def handle_any(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        self.rfile.read(length)
        Cutter.received.append((self.command, self.path, dict(self.headers)))
        Cutter.answers.pop(0)(self)

    do_GET = do_POST = do_DELETE = handle_any

    def log_message(self, *_: Any) -> None:
        pass


def stream(*events: dict[str, Any], ids: bool = False) -> Callable[[Cutter], None]:
    """Answers with events, after which the connection ends."""

    def answer(request: Cutter) -> None:
        request.send_response(200)
        request.send_header("content-type", "text/event-stream")
        request.end_headers()
        for at, event in enumerate(events):
            mark = f"id: e{at}\n" if ids else ""
            request.wfile.write(f"{mark}data: {json.dumps(event)}\n\n".encode())

    return answer


def go_on(*events: dict[str, Any]) -> Callable[[Cutter], None]:
    """Answers with events behind the last one that its reader names."""

    def answer(request: Cutter) -> None:
        request.path += f" behind {request.headers.get('last-event-id')}"
        Cutter.received[-1] = (request.command, request.path, dict(request.headers))
        stream(*events)(request)

    return answer


def refuse(status: int, body: Any) -> Callable[[Cutter], None]:
    def answer(request: Cutter) -> None:
        request.send_response(status)
        request.send_header("content-type", "application/json")
        request.end_headers()
        request.wfile.write(json.dumps(body).encode())

    return answer


def pieces(type_: str, piece: bytes, count: int) -> Callable[[Cutter], None]:
    """Answers with the same bytes again and again."""

    def answer(request: Cutter) -> None:
        request.send_response(200)
        request.send_header("content-type", type_)
        request.end_headers()
        try:
            for _ in range(count):
                request.wfile.write(piece)
        except OSError:
            pass

    return answer


with open("openapi.json", encoding="utf-8") as file:
    SCHEMAS: dict[str, Any] = json.load(file)["components"]["schemas"]


def example(name: str) -> dict[str, Any]:
    """Returns an event as the service has sent it once."""
    value: dict[str, Any] = SCHEMAS[name]["examples"][0]
    return value


START = {**example("StartEvent"), "messageMetadata": {**example("StartEvent")["messageMetadata"], "runId": "r"}}
FINISH = {**example("FinishEvent"), "finishReason": "stop"}


def delta(text: str) -> dict[str, Any]:
    return {"type": "text-delta", "id": "1", "content": text, "delta": text}


class FakeService(unittest.TestCase):
    def setUp(self) -> None:
        Cutter.answers, Cutter.received = [], []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Cutter)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def tearDown(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def test_a_run_is_read_on_after_a_cut_and_no_text_comes_twice(self) -> None:
        text_start = {"type": "text-start", "id": "1"}
        Cutter.answers = [
            stream(START, text_start, delta("Hel")),
            stream(START, text_start, delta("Hello")),
            stream(START, text_start, delta("Hello"), delta(" you"), FINISH),
        ]
        with Agent(self.url) as agent:
            run = agent.run("hello")
            texts = [event.content for event in run if event.type == "text-delta"]
            self.assertEqual(texts, ["Hel", "lo", " you"])
            self.assertEqual(run.result().text, "Hello you")
        paths = [(method, path.partition("?")[0]) for method, path, _ in Cutter.received]
        self.assertEqual(paths, [("POST", "/run"), ("GET", "/run/r/stream"), ("GET", "/run/r/stream")])

    def test_a_run_is_read_on_behind_the_last_event_that_has_an_id(self) -> None:
        text_start = {"type": "text-start", "id": "1"}

        def cut(request: Cutter) -> None:
            stream(START, text_start, delta("Hel"), ids=True)(request)
            request.wfile.write(f"data: {json.dumps(delta('lo'))}\n\n".encode())

        Cutter.answers = [cut, go_on(delta("lo"), delta(" you"), delta(" you")), go_on(delta("lo you you"), FINISH)]
        with Agent(self.url) as agent:
            run = agent.run("hello")
            texts = [event.content for event in run if event.type == "text-delta"]
            self.assertEqual(texts, ["Hel", "lo", " you", " you"])
        self.assertEqual([path.partition(" ")[2] for _, path, _ in Cutter.received], ["", "behind e2", "behind e2"])

    def test_another_answer_after_a_kill_replaces_the_one_that_was_cut(self) -> None:
        step, text_start = {"type": "start-step"}, {"type": "text-start", "id": "1"}
        thought = [{"type": "reasoning-start", "id": "1"}, {"type": "reasoning-delta", "id": "1", "content": "Hm", "delta": "Hm"}]
        end = [{"type": "text-end", "id": "1"}, {"type": "finish-step"}, FINISH]
        for again, texts in (
            ([step, text_start, delta("1a 2"), delta("b")], ["1a 1b", None, "1a 2", "b"]),
            ([step, text_start, delta("1a")], ["1a 1b", None, "1a"]),
            ([step, *thought, text_start, delta("2a")], ["1a 1b", None, "2a"]),
        ):
            cut = stream(START, step, text_start, delta("1a 1b"), ids=True)
            Cutter.answers, Cutter.received = [cut, stream(START, *again, *end)], []
            with Agent(self.url) as agent:
                run = agent.run("hello")
                read: list[str | None] = []
                for event in run:
                    if event.type == "text-delta":
                        read.append(event.content)
                    if event.type == "data-retry":
                        self.assertEqual(event.data.dropped, ["1"])
                        read.append(None)
                self.assertEqual(read, texts)
                result = run.result()
            text = "".join(each for each in texts[2:] if each is not None)
            self.assertEqual(result.text, text)
            self.assertEqual(result.messages, [{"role": "assistant", "content": [{"type": "text", "text": text}]}])

    def test_a_request_that_was_cut_before_its_run_began_is_sent_again_with_its_key(self) -> None:
        Cutter.answers = [stream(), stream(START, FINISH)]

        async def run() -> str:
            async with AsyncAgent(self.url) as agent:
                return (await agent.run("hello").result()).finish_reason

        self.assertEqual(asyncio.run(run()), "stop")
        keys = {headers["idempotency-key"] for _, _, headers in Cutter.received}
        self.assertEqual((len(keys), len(Cutter.received)), (1, 2))

    def test_a_run_that_is_not_resumable_is_not_sent_again(self) -> None:
        Cutter.answers = [stream(START)]
        with Agent(self.url) as agent, self.assertRaises(AgentError) as raised:
            agent.run("hello", resumable=False).result()
        self.assertEqual(raised.exception.code, "ERR_STREAM_CUT")

    def test_events_resume_after_the_last_one_and_unknown_ones_are_kept(self) -> None:
        reset = example("ResetEvent")
        Cutter.answers = [stream(reset, reset, ids=True), stream({"type": "new:thing", "at": 2})]
        with Agent(self.url) as agent:
            events = agent.events()
            self.assertEqual([next(events).type for _ in range(3)], ["reset", "reset", "unknown"])
            events.close()
        self.assertEqual(Cutter.received[1][2]["last-event-id"], "e1")

    def test_an_id_of_dots_does_not_name_what_is_above_it(self) -> None:
        Cutter.answers = [refuse(404, {"error": "No.", "code": "ERR_X"}) for _ in range(3)]
        with Agent(self.url) as agent:
            for id_ in (".", "../.."):
                with self.assertRaises(AgentError):
                    agent.api.delete_thread(id_)
            with self.assertRaises(AgentError):
                agent.api.delete_fact("..")
        paths = [path for _, path, _ in Cutter.received]
        self.assertEqual(paths, ["/threads/%2E", "/threads/..%2F..", "/memory/brain/facts/%2E%2E"])

    def test_what_no_service_sends_is_an_error_of_this_client(self) -> None:
        odd: list[dict[str, Any]] = [
            {"type": ["x"]},
            {"type": "text-delta", "id": "of no block", "content": "x"},
            {"type": "text-delta", "id": "x"},
            {"type": "text-start", "id": []},
            {"type": "tool-output-available", "output": 1},
            {"type": "data-steer", "data": "x"},
        ]
        for event in odd:
            Cutter.answers = [stream(START, event, FINISH)]
            with Agent(self.url) as agent, self.assertRaises(AgentError, msg=str(event)):
                agent.run("hello").result()
        for answer in (pieces("application/json", b"[", 200_000), pieces("application/json", b"{", 1)):
            Cutter.answers = [answer]
            with Agent(self.url) as agent, self.assertRaises(AgentError):
                agent.api.get_thread("chat")
        Cutter.answers = [pieces("text/event-stream", b" " * 1_000_000, 80)]
        with Agent(self.url) as agent, self.assertRaises(AgentError) as raised:
            agent.run("hello").result()
        self.assertEqual(raised.exception.code, "ERR_NO_SERVICE", "an event without end")

    def test_a_refusal_has_the_code_and_the_sentence_of_the_service(self) -> None:
        body = {"error": "No task is here.", "code": "ERR_TASK_NOT_FOUND", "statusCode": 404}
        Cutter.answers = [refuse(404, body), refuse(502, {"page": "of a proxy"})]
        with Agent(self.url) as agent:
            with self.assertRaises(AgentError) as raised:
                agent.api.get_task("x")
            self.assertEqual((str(raised.exception), raised.exception.code), ("No task is here.", "ERR_TASK_NOT_FOUND"))
            with self.assertRaises(AgentError) as raised:
                agent.api.get_task("x")
            self.assertEqual(raised.exception.code, "ERR_NO_SERVICE")
        with Agent("http://127.0.0.1:1") as agent, self.assertRaises(AgentError) as raised:
            agent.api.health()
        self.assertEqual(raised.exception.code, "ERR_UNREACHABLE")


class Tools(unittest.TestCase):
    def test_what_a_tool_gets_and_raises(self) -> None:
        @tool(effect="read", name="addUp")
        async def add_up(numbers: list[int], context: ToolContext, label: str = "sum") -> str:
            """Adds numbers up"""
            if not numbers:
                raise ValueError("There are no numbers.")
            return f"{label} {sum(numbers)} by {context.tool_name}"

        self.assertEqual(list(add_up.definition()["inputSchema"]["properties"]), ["numbers", "label"])

        async def run(call: str) -> str:
            async with start_again() as agent:
                return (await agent.run(f"use the tool addUp with {call}", tools=[add_up]).result()).text

        self.assertIn("sum 6 by addUp", asyncio.run(run('{"numbers":[1,2,3]}')))
        self.assertIn("There are no numbers.", asyncio.run(run('{"numbers":[]}')))
        with start(stop_at_exit=True) as agent:
            prompt = 'use the tool addUp with {"numbers":[4]}'
            self.assertIn("sum 4", agent.run(prompt, tools=[add_up]).result().text)

    def test_a_function_without_words_or_types_is_no_tool(self) -> None:
        def silent(name: str) -> None: ...

        def untyped(name):  # type: ignore[no-untyped-def]
            """Has no types"""

        self.assertRaises(TypeError, tool, silent)
        self.assertRaises(TypeError, tool, untyped)


def start_again() -> AsyncAgent:
    """Returns an agent of the service that start() has started."""
    start(stop_at_exit=True).close()
    return AsyncAgent()


class Model(BaseHTTPRequestHandler):
    """A model that calls a tool, and then writes words slowly: other words in each answer."""

    asked = 0

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        Model.asked += 1
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        deltas: list[dict[str, Any] | None]
        if asked["messages"][-1]["role"] == "tool":
            deltas = [{"content": f"é{Model.asked}.{n}\r\n"} for n in range(20)]
        else:
            call = {"name": "runCommand", "arguments": json.dumps({"command": "printf a >> effects.log"})}
            deltas = [{"content": "First. "}, {"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": call}]}]
        try:
            for delta in [*deltas, None]:
                choice = {"index": 0, "delta": delta or {}, "finish_reason": None if delta else "stop"}
                self.wfile.write(f"data: {json.dumps({'id': 'a', 'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n".encode())
                time.sleep(0.02)
        except OSError:
            pass

    def log_message(self, *_: Any) -> None:
        pass


class Kills(unittest.TestCase):
    def start(self, port: str = "0") -> str:
        env = {**os.environ, "LOCAL_AGENT_HOME": str(self.home)}
        program = ["local-agent", "--port", port]
        self.service = subprocess.Popen(program, cwd=self.work, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self.service.stdout is not None
        url: str = json.loads(self.service.stdout.readline())["url"]
        return url

    def kill(self) -> None:
        self.service.kill()
        self.service.wait()
        assert self.service.stdout is not None
        self.service.stdout.close()

    def test_after_two_kills_the_text_is_that_of_the_thread_and_no_tool_ran_twice(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home, self.work = Path(folder.name, "home"), Path(folder.name, "work")
        self.home.mkdir()
        self.work.mkdir()
        model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
        threading.Thread(target=model.serve_forever, daemon=True).start()
        self.addCleanup(model.server_close)
        self.addCleanup(model.shutdown)
        base = f"http://127.0.0.1:{model.server_port}/v1"
        provider = {"type": "openai-compatible", "baseURL": base, "apiKey": "k", "models": ["m"]}
        off = {"analysis": False, "threads": {"titles": False}, "permissions": {"runCommand": "allow"}}
        (self.home / "config.json").write_text(json.dumps({"model": "fake/m", "providers": {"fake": provider}, **off}))
        url = self.start()
        self.addCleanup(self.kill)
        with Agent(url) as agent:
            run = agent.run("go", id="chat")
            steps: list[str] = []
            for event in run:
                if event.type == "start-step":
                    steps.append("")
                if event.type == "data-retry":
                    steps.pop()
                if event.type == "text-delta":
                    steps[-1] += event.content
                    if event.content in ("é2.9\r\n", "é3.9\r\n"):
                        self.kill()
                        self.start(url.rpartition(":")[2])
            thread = agent.api._call_any("GET", "/threads/chat", None)
        told = [part["text"] for message in thread["messages"][1:] for part in message["content"] if part["type"] == "text"]
        last = "".join(f"é4.{n}\r\n" for n in range(20))
        self.assertEqual(told, ["First. ", last])
        self.assertEqual((steps, run.result().text), (["First. ", last], last))
        self.assertEqual(((self.work / "effects.log").read_text(), Model.asked), ("a", 4))


class Changes(unittest.TestCase):
    def test_what_an_edit_of_a_message_undoes_is_asked_for_and_in_the_result(self) -> None:
        def said(text: str) -> dict[str, Any]:
            return {"id": "first", "role": "user", "parts": [{"type": "text", "text": text}]}

        with tempfile.TemporaryDirectory() as folder, start(stop_at_exit=True) as agent:

            def write(name: str, changes: Literal["ask", "undo"] | None = None) -> RunResult[None]:
                messages = [said(f'write "hello" to {name}')]
                run = agent.run(messages=messages, id="edited", cwd=folder, changes=changes, approve=lambda _: True)
                return run.result()

            self.assertIsNone(write("one.txt").undone)
            with self.assertRaises(AgentError) as raised:
                write("two.txt", "ask")
            self.assertEqual((raised.exception.code, (raised.exception.changes or {})["restoredCount"]), ("ERR_FILES_CHANGED", 1))
            undone = write("two.txt", "undo").undone
            self.assertEqual([Path(path).name for path in undone.restored] if undone else [], ["one.txt"])
            self.assertEqual([path.name for path in Path(folder).iterdir()], ["two.txt"])


class Models(unittest.TestCase):
    def test_each_example_of_the_document_is_read_and_written_as_it_was(self) -> None:
        count = 0
        for name, schema in SCHEMAS.items():
            for shown in schema.get("examples", []):
                adapter: TypeAdapter[Any] = TypeAdapter(getattr(models, name))
                value = adapter.validate_python(shown)
                written = adapter.dump_python(value, mode="json", by_alias=True, exclude_unset=True)
                self.assertEqual(written, shown, name)
                count += 1
        self.assertGreater(count, 250)


if __name__ == "__main__":
    unittest.main()
