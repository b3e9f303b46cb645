"""What a tool is: its arguments, its work, and the two forms of its result."""

from __future__ import annotations

import inspect
import re
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, get_type_hints

from pydantic import BaseModel, ConfigDict, model_serializer
from typing_extensions import TypeVar

from citewell.app.call import Call as Call  # noqa: TC001 - the modules of tools import it from here
from citewell.core.errors import AccessRefused, ScopeViolation
from citewell.core.frozen import frozen
from citewell.tools import schemas
from citewell.tools.toolsets import hide_scope, spell_name

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from pydantic import SerializerFunctionWrapHandler

    from citewell.app.parts import PartName
    from citewell.core.identity import AccessScope
    from citewell.core.records import Caller
    from citewell.core.settings import Settings
    from citewell.tools.results import ToolResult
    from citewell.tools.toolsets import Requirement, Toolset


class ToolInput(BaseModel):
    """Arguments of a tool; unknown names are refused."""

    # Built on first use: a command imports all tools and calls one.
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class ToolOutput(BaseModel):
    """Structured result of a tool; optional fields that are None are left out."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, defer_build=True)

    @model_serializer(mode="wrap")
    def _write(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return schemas.leave_out_nulls(write(self), type(self))


InputT = TypeVar("InputT", bound=ToolInput)
ResultT = TypeVar("ResultT")


@frozen
class Annotations:
    """Hints that a host can show its user before a call."""

    read_only: bool
    destructive: bool = False
    idempotent: bool = True
    open_world: bool = False


@frozen
class Tool(Generic[InputT, ResultT]):
    """Everything that transports, the shell and the documentation need to know about a tool.

    `run` does the work; `shape` and `render` make the two forms of its result.
    """

    name: str
    """Dotted; servers list it with underscores by default."""
    toolset: Toolset
    title: str
    description: str
    """May be indented as a block; a line that is indented further continues the one above."""
    needs: tuple[PartName, ...]
    """The parts that a call gets; no other part is opened for it."""
    run: Callable[[InputT, Call], Awaitable[ResultT]]
    """Its first annotation is the input model of the tool."""
    render: Callable[[ResultT, Call], str]
    example: Mapping[str, object]
    """Valid arguments, for the documentation and the contract tests."""
    annotations: Annotations = Annotations(read_only=True)
    shape: Callable[[ResultT, Call], ToolOutput] | None = None
    """Makes the structured form, whose model it declares; None where `run` returns that form."""
    in_default: bool = False
    lists_columns: bool = True
    """False leaves the columns of its rows out of tools/list, to save tokens."""
    max_result_tokens: int | None = None
    """Most tokens of either form of its result; None means the limit of the server."""
    timeout_seconds: Callable[[Settings], float] | None = None
    """Time limit of a call; None means that of the server."""
    requires: Requirement | None = None
    """What the settings must provide before the tool can work."""
    asks_client: bool = False
    """Whether `run` can ask the client's model or its user."""
    check: Callable[[InputT], None] | None = None
    """Refuses arguments that the input model cannot; such a call is not charged."""

    def __post_init__(self) -> None:
        lines = re.sub(r"\n +", " ", inspect.cleandoc(self.description))
        object.__setattr__(self, "description", lines)

    @property
    def underscored_name(self) -> str:
        """The name that every host accepts."""
        return spell_name(self.name, dotted=False)

    @property
    def input_model(self) -> type[InputT]:
        """The model that arguments are validated against."""
        model: type[InputT] = next(iter(_type_hints(self.run).values()))
        return model

    @property
    def output_model(self) -> type[ToolOutput]:
        """The model of structuredContent."""
        model: type[ToolOutput] = _type_hints(self.shape or self.run)["return"]
        return model

    def structure(self, result: ResultT, call: Call) -> ToolOutput:
        """Return the structured form of what `run` returned."""
        if self.shape is not None:
            return self.shape(result, call)
        assert isinstance(result, ToolOutput), "without `shape`, `run` returns the structured form"
        return result

    @property
    def only_reads_library(self) -> bool:
        """Whether a call only reads the library, so that one message answers it."""
        hints = self.annotations
        return hints.read_only and not (hints.open_world or self.asks_client)

    @property
    def needed_scope(self) -> AccessScope:
        """The scope that a key needs; destructive tools are for admins."""
        if self.annotations.destructive:
            return "admin"
        return "read" if self.annotations.read_only else "write"

    def is_for(self, caller: Caller) -> bool:
        """Return whether the caller's key can call this tool; others do not see it."""
        in_toolsets = caller.toolsets is None or self.toolset in caller.toolsets
        return in_toolsets and self.needed_scope in caller.scopes

    def refuse_others(self, caller: Caller) -> None:
        """Refuse a caller whose key cannot call this tool.

        Raises:
            ScopeViolation: the key lacks the scope, or the toolset.
        """
        if self.is_for(caller):
            return
        has_key = caller.key_hash is not None
        message = f"{self.underscored_name} needs a key with the scope {self.needed_scope!r}."
        if self.needed_scope in caller.scopes and has_key:
            message = f"This key is not for the toolset {self.toolset!r}."
        suggestion = "Use another key, or another tool." if has_key else AccessRefused.suggestion
        raise ScopeViolation(message, suggestion=suggestion)

    def input_schema(self, *, with_scope: bool = False) -> dict[str, Any]:
        """Return the JSON Schema of the arguments; `scope` is listed only where it matters."""
        schema = schemas.input_schema(self.input_model)
        return schema if with_scope else hide_scope(schema)

    def output_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of structuredContent."""
        return schemas.output_schema(self.output_model, columns=self.lists_columns)


@frozen
class AfterCall:
    """Adds to every result what has to reach the caller with its next call."""

    needs: tuple[PartName, ...]
    run: Callable[[ToolResult, Call], Awaitable[ToolResult]]
    """Does not raise."""


@cache
def _type_hints(function: Callable[..., object]) -> dict[str, Any]:
    return get_type_hints(function)
