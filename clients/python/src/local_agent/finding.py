"""Where the service of this machine is, and how to start one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from .errors import AgentError

Address = str | Callable[[], str]
"""The address of a service, or a function that returns it; it is called before each request."""

# Between two looks for a service that is starting, seconds.
LOOK = 0.1
# The exit of a service whose folder another one uses.
IN_USE = 73


@dataclass(frozen=True)
class Service:
    """The address of a service, and the token that its environment names."""

    url: str
    token: str | None = None


def home_folder() -> Path:
    return Path(os.environ.get("LOCAL_AGENT_HOME") or Path.home() / ".local-agent")


def find_service() -> Service:
    """Returns the service of LOCAL_AGENT_URL, else that of `instance.json` in LOCAL_AGENT_HOME.

    It starts nothing, and asks nobody whether the service answers. Raises ERR_NO_SERVICE.
    """
    token = os.environ.get("LOCAL_AGENT_TOKEN") or None
    if url := os.environ.get("LOCAL_AGENT_URL"):
        return Service(_address(url, "LOCAL_AGENT_URL"), token)
    file = home_folder() / "instance.json"
    try:
        content = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise _no_service(
            f"No service runs here: there is no {file}. Start the app that runs it, or call start() "
            "of local_agent; or set LOCAL_AGENT_URL."
        ) from error
    except ValueError as error:
        raise _no_service(f"{file} is damaged: it is not the file of a service.") from error
    return Service(_address(content.get("url") if isinstance(content, dict) else None, str(file)), token)


def follow_service() -> Callable[[], str]:
    """Returns a function that says where the service is now; its last address while none runs."""
    last: str | None = None

    def address() -> str:
        nonlocal last
        try:
            last = find_service().url
        except AgentError:
            # The request will say that the last address cannot be reached.
            if last is None:
                raise
        return last

    return address


def start_service(*, wait: float, stop_at_exit: bool) -> Service:
    """Returns the service that runs here; starts `local-agent` from PATH when none does."""
    try:
        service = find_service()
        if _answers(service):
            return service
        if os.environ.get("LOCAL_AGENT_URL"):
            raise _no_service(f"The service of LOCAL_AGENT_URL, {service.url}, does not answer.")
    except AgentError:
        if os.environ.get("LOCAL_AGENT_URL"):
            raise
    program = shutil.which("local-agent")
    if program is None:
        raise _no_service("No service runs here, and there is no local-agent on PATH. Install it with npm.")
    return _started(program, time.monotonic() + wait, stop_at_exit)


def _started(program: str, end: float, stop_at_exit: bool) -> Service:
    parent = ["--parent-pid", str(os.getpid())] if stop_at_exit else []
    child = subprocess.Popen(
        [program, "--port", "0", *parent],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=not stop_at_exit,
    )
    log: list[bytes] = []
    # The service does not mind that nobody reads its log any more.
    threading.Thread(target=_read_log, args=(child, log), daemon=True).start()
    while time.monotonic() < end:
        code = child.poll()
        if code is not None and code != IN_USE:
            raise _no_service(f"local-agent ended with {code}: {b''.join(log).decode(errors='replace').strip()}")
        try:
            service = find_service()
            if _answers(service):
                return service
        except AgentError:
            pass
        time.sleep(LOOK)
    raise _no_service(f"local-agent did not answer in time: {b''.join(log).decode(errors='replace').strip()}")


def _read_log(child: subprocess.Popen[bytes], log: list[bytes]) -> None:
    """Reads the log while this program runs, and keeps its beginning."""
    assert child.stderr is not None
    for line in child.stderr:
        if len(log) < 100:
            log.append(line)


def _answers(service: Service) -> bool:
    try:
        with httpx.Client(trust_env=False, timeout=5) as client:
            return client.get(f"{service.url}/health").status_code == 200
    except httpx.HTTPError:
        return False


def _address(text: object, source: str) -> str:
    if isinstance(text, str) and urlsplit(text).scheme in ("http", "https") and urlsplit(text).netloc:
        return text.rstrip("/")
    raise _no_service(f"{source} holds no http address: {json.dumps(text)}.")


def _no_service(message: str) -> AgentError:
    return AgentError(message, code="ERR_NO_SERVICE")
