"""The one error of this client."""

from __future__ import annotations

from typing import Any


class AgentError(Exception):
    """A failure of the service, or of the connection to it, with the service's own sentence.

    `code` is a code of the service (`ERR_…`), or ERR_UNREACHABLE, ERR_STREAM_CUT, ERR_NO_SERVICE,
    ERR_RUN_ENDED, ERR_NO_ANSWER, ERR_ANSWER or ERR_CLOSED of this client. `status_code` is the status of an HTTP answer.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status_code: int | None = None,
        details: list[dict[str, Any]] | None = None,
        changes: dict[str, Any] | None = None,
        stderr: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status_code = status_code
        self.details = details or []
        self.changes = changes
        self.stderr = stderr

    @property
    def is_cut(self) -> bool:
        """Whether the connection failed, and not the request."""
        return self.code in ("ERR_UNREACHABLE", "ERR_STREAM_CUT") or self.status_code == 503

    @property
    def is_refusal(self) -> bool:
        """Whether the service would refuse the same request again."""
        status = self.status_code
        return status is not None and status < 500 and status != 429


def response_error(url: str, status: int, body: Any) -> AgentError:
    """Returns the error of an answer that is one."""
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, dict):
        code = error.get("code") or error.get("type") or "ERR_UNKNOWN"
        return AgentError(str(error.get("message")), code=str(code), status_code=status)
    if isinstance(error, str) and isinstance(body.get("code"), str):
        more = {name: body.get(name) for name in ("details", "changes", "stderr")}
        return AgentError(error, code=body["code"], status_code=status, **more)
    return not_the_service(url, status)


def not_the_service(url: str, status: int) -> AgentError:
    message = f"What answers at {url} is not the service: status {status}."
    return AgentError(message, code="ERR_NO_SERVICE", status_code=status)


def unreachable(url: str, reason: object) -> AgentError:
    return AgentError(f"The service at {url} cannot be reached: {str(reason).rstrip('.')}.", code="ERR_UNREACHABLE")


def stream_cut() -> AgentError:
    return AgentError(
        "The stream broke off before the run was over. What it did until then is done, "
        "and nothing was sent again.",
        code="ERR_STREAM_CUT",
    )
