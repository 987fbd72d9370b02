"""Functions of this program as tools of the agent."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_type_hints, overload

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic_core import to_jsonable_python

Effect = Literal["read", "write"]
LONGEST_ERROR = 16_000


@dataclass(frozen=True)
class ToolContext:
    """What a tool gets that has a parameter of this type."""

    tool_call_id: str
    tool_name: str


@dataclass(frozen=True)
class Tool:
    """A function, and what the model is told of it. It can be called like the function."""

    name: str
    description: str
    effect: Effect
    timeout_ms: int | None
    function: Callable[..., Any]
    arguments: type[BaseModel]
    context: str | None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def definition(self) -> dict[str, Any]:
        """Returns what `options.appTools` takes."""
        schema = self.arguments.model_json_schema()
        schema.pop("title", None)
        timeout = {} if self.timeout_ms is None else {"timeoutMs": self.timeout_ms}
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": schema,
            "effect": self.effect,
            **timeout,
        }

    def bind(self, value: Any, context: ToolContext) -> Callable[[], Any]:
        """Returns the call of the function with an input of the model. Raises ValidationError."""
        checked = self.arguments.model_validate(value if value is not None else {})
        given = {name: getattr(checked, name) for name in checked.model_fields_set}
        if self.context is not None:
            given[self.context] = context
        return lambda: self.function(**given)


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *,
    effect: Effect = "write",
    name: str | None = None,
    description: str | None = None,
    timeout_ms: int | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    effect: Effect = "write",
    name: str | None = None,
    description: str | None = None,
    timeout_ms: int | None = None,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Makes a tool of a function: its schema is made of the type hints, its description is the docstring.

    A tool with the effect `write`, which is the default, is approved before it runs. A parameter of
    the type ToolContext gets the ids of the call.
    """

    def decorate(function: Callable[..., Any]) -> Tool:
        text = description or inspect.getdoc(function)
        if not text:
            raise TypeError(f"{function.__name__} needs a docstring: it tells the model what the tool does.")
        arguments, context = _arguments_of(function)
        return Tool(name or function.__name__, text, effect, timeout_ms, function, arguments, context)

    return decorate if function is None else decorate(function)


def _arguments_of(function: Callable[..., Any]) -> tuple[type[BaseModel], str | None]:
    """Returns a model of the parameters, and the name of the one that gets the context."""
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    context = None
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise TypeError(f"{function.__name__}: a tool takes parameters by their names, not {parameter}.")
        if hints.get(name) is ToolContext:
            context = name
            continue
        if name not in hints:
            raise TypeError(f"{function.__name__}: the parameter {name} needs a type.")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[name] = (hints[name], default)
    model = create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)
    return model, context


def by_name(tools: Iterable[Tool]) -> dict[str, Tool]:
    """Returns tools by their names. Raises ValueError for two of one name."""
    names: dict[str, Tool] = {}
    for each in tools:
        if each.name in names:
            raise ValueError(f"Two tools have the name {each.name}.")
        names[each.name] = each
    return names


def output_of(value: Any) -> dict[str, Any]:
    """Returns what a tool has returned as the object that the service takes."""
    data = to_jsonable_python(value, by_alias=True)
    return {"output": dict(data) if isinstance(data, Mapping) else {"result": data}}


def failure_of(error: BaseException) -> dict[str, Any]:
    """Returns what a tool has raised as the sentence that the model is told."""
    if isinstance(error, ValidationError):
        reasons = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
        return {"error": f"The input is not valid. {'; '.join(reasons)}"[:LONGEST_ERROR]}
    return {"error": (str(error) or type(error).__name__)[:LONGEST_ERROR]}
