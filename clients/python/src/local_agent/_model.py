"""The base of the generated models, and how what arrives becomes one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, WrapValidator

from .errors import AgentError


def _camel_case(name: str) -> str:
    """Returns the name of a field in JSON: tool_call_id is toolCallId, from_ is from."""
    return re.sub(r"_([a-z0-9])", lambda found: found[1].upper(), name.removesuffix("_"))


class Model(BaseModel):
    """Fields have Python's names here and those of the service in JSON. Unknown ones are kept."""

    model_config = ConfigDict(
        alias_generator=_camel_case,
        populate_by_name=True,
        extra="allow",
        defer_build=True,
        protected_namespaces=(),
    )

    def to_json(self) -> dict[str, Any]:
        """Returns the fields that were set, as the service reads them."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


class UnknownEvent(Model):
    """An event that a later version of the service sends: `name` is its type, `data` all of it."""

    type: Literal["unknown"] = "unknown"
    name: str
    data: dict[str, Any]


def _allow_text(value: Any, check: Any) -> Any:
    try:
        return check(value)
    except ValidationError:
        if isinstance(value, str):
            return value
        raise


AnyText = WrapValidator(_allow_text)
"""Lets a value pass that a later version of the service added to an enumeration."""

T = TypeVar("T")


def read_model(model: type[T], value: Any) -> T:
    """Returns an answer as the model; raises AgentError where it has another shape."""
    result: T = read_any(model, value)
    return result


def read_any(type_: Any, value: Any) -> Any:
    """Returns an answer as a type, a union for example; as it is, where the type is None."""
    if type_ is None:
        return value
    try:
        return TypeAdapter(type_).validate_python(value)
    except ValidationError as error:
        sentence = f"The answer of the service has a shape that this client does not know: {error}"
        raise AgentError(sentence, code="ERR_NO_SERVICE") from error


def read_event(events: dict[str, type[Model]], value: dict[str, Any]) -> Any:
    """Returns an event as the class of its type, or an UnknownEvent."""
    name = str(value.get("type", ""))
    model = events.get(name)
    if model is not None:
        try:
            return model.model_validate(value)
        except ValidationError:
            pass
    return UnknownEvent(name=name, data=value)


def to_json(value: Any) -> Any:
    """Returns a body as the service reads it: models among mappings and lists become objects."""
    if isinstance(value, Model):
        return value.to_json()
    if isinstance(value, Mapping):
        return {str(key): to_json(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(each) for each in value]
    return value
