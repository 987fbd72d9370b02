"""The messages of an answer, made of the events of its run."""

from __future__ import annotations

from typing import Any

Message = dict[str, Any]


class Conversation:
    """One assistant message and one tool message for each step, over all streams of a run.

    What the user said meanwhile is a message of the user before the step that read it; what no step
    has read stands behind the answer.
    """

    def __init__(self) -> None:
        # Pieces of texts are joined when the text is read: a string that grows piece by piece is copied each time.
        self._text: list[str] = []
        self._messages: list[Message] = []
        self._content: list[dict[str, Any]] = []
        self._results: list[dict[str, Any]] = []
        self._blocks: dict[str, list[str]] = {}
        self._calls: dict[str, dict[str, Any]] = {}
        self._steering: dict[str, dict[str, Any]] = {}

    @property
    def text(self) -> str:
        """The text of the last step."""
        return "".join(self._text)

    @property
    def steering(self) -> list[dict[str, Any]]:
        return list(self._steering.values())

    @property
    def messages(self) -> list[Message]:
        """The messages of the answer so far, to append to the conversation."""
        unread = [each for each in self._steering.values() if each["state"] == "unread"]
        ids = {each["id"] for each in unread}
        read = [message for message in self._messages if message.get("id") not in ids]
        return [*read, *self._step(), *map(_steer_message, unread)]

    def add(self, event: dict[str, Any]) -> None:
        """Takes an event as the service sent it."""
        match event:
            case {"type": "start-step"}:
                self._close_step()
                self._text = []
            case {"type": "data-steer", "data": steer}:
                self._steering[steer["id"]] = steer
                if steer["state"] == "read":
                    self._close_step()
                    self._messages.append(_steer_message(steer))
            case {"type": "data-retry"}:
                # The try of the step broke off.
                self._content, self._results, self._calls, self._text = [], [], {}, []
            case {"type": "text-start", "id": id_}:
                self._blocks[id_] = []
                self._content.append({"type": "text", "text": self._blocks[id_]})
            case {"type": "text-delta", "id": id_, "content": content}:
                self._text.append(content)
                self._blocks[id_].append(content)
            case {"type": "data-revision", "data": {"text": text}}:
                self._close_step()
                self._text = [text]
                self._content.append({"type": "text", "text": [text]})
            case {"type": "tool-input-start"}:
                self._call(event)
            case {"type": "tool-input-available"}:
                self._call(event)["input"] = event.get("input")
            case {"type": "tool-input-error", "errorText": text}:
                self._call(event)["input"] = event.get("input")
                self._result(event, {"type": "error-text", "value": text})
            case {"type": "tool-output-available", "output": output}:
                self._result(event, {"type": "json", "value": output})
            case {"type": "tool-output-error", "errorText": text}:
                self._result(event, {"type": "error-text", "value": text})
            case {"type": "tool-output-denied"}:
                self._result(event, {"type": "execution-denied", "reason": event.get("reason")})
            case _:
                pass

    def _call(self, event: dict[str, Any]) -> dict[str, Any]:
        id_ = event["toolCallId"]
        if id_ not in self._calls:
            self._calls[id_] = {"type": "tool-call", "toolCallId": id_, "toolName": event["toolName"]}
            self._content.append(self._calls[id_])
        return self._calls[id_]

    def _result(self, event: dict[str, Any], output: dict[str, Any]) -> None:
        ids = {"toolCallId": event["toolCallId"], "toolName": event.get("toolName")}
        self._results.append({"type": "tool-result", **ids, "output": output})

    def _step(self) -> list[Message]:
        order = list(self._calls)
        whole = [part for part in self._content if part["type"] != "tool-call" or "input" in part]
        content = [{**part, "text": "".join(part["text"])} if part["type"] == "text" else part for part in whole]
        results = sorted(self._results, key=lambda each: order.index(each["toolCallId"]) if each["toolCallId"] in order else -1)
        return [
            *([{"role": "assistant", "content": content}] if content else []),
            *([{"role": "tool", "content": results}] if results else []),
        ]

    def _close_step(self) -> None:
        self._messages += self._step()
        self._content, self._results, self._calls = [], [], {}


def _steer_message(steer: dict[str, Any]) -> Message:
    """The mark says which messages were said to a run, so that the service knows them again."""
    mark = {key: value for key, value in steer.items() if key != "text"}
    return {"id": steer["id"], "role": "user", "content": steer["text"], "steer": mark}
