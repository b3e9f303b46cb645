"""What a tool is, and the one way every transport calls it."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic

import anyio
from pydantic import BaseModel, ConfigDict, model_serializer
from typing_extensions import TypeVar

from citewell.app.call import Call as Call
from citewell.app.client_port import ClientMustAnswer
from citewell.core.boundary import Boundary
from citewell.core.errors import (
    AccessRefused,
    BudgetExceeded,
    CitewellError,
    NotConfigured,
    NotFound,
    Overloaded,
    ScopeViolation,
    ToolTimeout,
)
from citewell.core.fair_turns import working_for
from citewell.core.progress import OnProgress, no_progress
from citewell.core.tokens import count_tokens
from citewell.tools import schemas
from citewell.tools.load import Load
from citewell.tools.results import (
    EXPLAINED_AT_LENGTH,
    UNEXPECTED,
    ToolResult,
    error_result,
    log_call,
    record_end,
)
from citewell.tools.toolsets import hide_scope, spell_name
from citewell.tools.untrusted import envelope, marked, marking_progress
from citewell.tools.validation import validate_arguments

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from pydantic import SerializerFunctionWrapHandler

    from citewell.access.meter import Meter, MeteredCall
    from citewell.app.client_port import ClientPort
    from citewell.app.parts import OpensParts, PartName
    from citewell.core.identity import AccessScope
    from citewell.core.records import Caller
    from citewell.core.settings import Settings
    from citewell.tools.toolsets import Requirement, Toolset

logger = logging.getLogger(__name__)


class ToolInput(BaseModel):
    """Arguments of a tool; unknown names are refused."""

    # Built on first use: a command of the shell calls one tool and imports them all.
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class ToolOutput(BaseModel):
    """Structured result of a tool; what is None by default is left out where it is None."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, defer_build=True)

    @model_serializer(mode="wrap")
    def _write(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return schemas.leave_out_nulls(write(self), type(self))


InputT = TypeVar("InputT", bound=ToolInput)
ResultT = TypeVar("ResultT")
OutputT = TypeVar("OutputT", bound=ToolOutput)


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotations:
    """What a host can show its user before a call (seed D §7.2)."""

    read_only: bool
    destructive: bool = False
    idempotent: bool = True
    open_world: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[InputT, ResultT, OutputT]):
    """A tool: everything a transport, the CLI and the documents need to know of it.

    `run` does the work; `shape` and `render` make the two forms of its result.
    """

    name: str
    """With dots; transports may list it with underscores."""
    toolset: Toolset
    title: str
    description: str
    input_model: type[InputT]
    output_model: type[OutputT]
    annotations: Annotations
    needs: tuple[PartName, ...]
    """The parts that a call is given; no other part is opened for it."""
    run: Callable[[InputT, Call], Awaitable[ResultT]]
    shape: Callable[[ResultT, Call], OutputT]
    render: Callable[[ResultT, Call], str]
    example: Mapping[str, object]
    """Arguments of a call that validates; used in documents and contract tests."""
    in_default: bool = False
    lists_columns: bool = True
    """False leaves the columns of its rows out of tools/list: another tool's are the same."""
    max_result_tokens: int | None = None
    """Most tokens of either form of its result; None means what the server allows."""
    timeout_seconds: Callable[[Settings], float] | None = None
    """Seconds a call may take; None means what the server allows."""
    requires: Requirement | None = None
    """What the settings must provide before the tool can work."""
    asks_client: bool = False
    """Whether `run` may have the client's model write, or ask its user."""
    check: Callable[[InputT], None] | None = None
    """Refuses arguments that the input model cannot; nothing is charged for such a call."""

    @property
    def underscored_name(self) -> str:
        """The name that every host accepts."""
        return spell_name(self.name, dotted=False)

    @property
    def only_reads_library(self) -> bool:
        """Whether one message can answer any call: nothing is fetched, changed or asked for."""
        hints = self.annotations
        return hints.read_only and not (hints.open_world or self.asks_client)

    @property
    def needed_scope(self) -> AccessScope:
        """The scope of a key that may call it: what cannot be undone is for admins."""
        if self.annotations.destructive:
            return "admin"
        return "read" if self.annotations.read_only else "write"

    def is_for(self, caller: Caller) -> bool:
        """Return whether the caller's key is for this tool; to others it is not even listed."""
        in_toolsets = caller.toolsets is None or self.toolset in caller.toolsets
        return in_toolsets and self.needed_scope in caller.scopes

    def refuse_others(self, caller: Caller) -> None:
        """Refuse a call that the caller's key is not for.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterCall:
    """Adds to every result what has to reach the caller with whatever it calls next."""

    needs: tuple[PartName, ...]
    run: Callable[[ToolResult, Call], Awaitable[ToolResult]]
    """Does not raise."""


def as_is(result: OutputT, call: Call) -> OutputT:
    """Shape a result that is structured already."""
    return result


class Registry:
    """The tools of one server, callable by either spelling of their names."""

    def __init__(
        self,
        tools: Iterable[Tool[Any, Any, Any]],
        *,
        timeout_seconds: float,
        max_response_bytes: int,
        max_response_tokens: int = 40_000,
        unavailable: Mapping[str, str] | None = None,
        after_call: AfterCall | None = None,
    ) -> None:
        self.tools: Sequence[Tool[Any, Any, Any]] = tuple(tools)
        self._by_name = {tool.name: tool for tool in self.tools}
        self._by_name.update({tool.underscored_name: tool for tool in self.tools})
        self._unavailable = {
            spelling: reason
            for name, reason in (unavailable or {}).items()
            for spelling in (name, spell_name(name, dotted=False))
        }
        self._timeout_seconds = timeout_seconds
        self._max_response_bytes = max_response_bytes
        self._max_response_tokens = max_response_tokens
        self._after_call = after_call
        self._load = Load()

    def tools_for(self, caller: Caller) -> list[Tool[Any, Any, Any]]:
        """Return the tools that the caller's key is for; to others they do not exist."""
        return [tool for tool in self.tools if tool.is_for(caller)]

    def find(self, name: str) -> Tool[Any, Any, Any] | None:
        """Return the tool called `name`, dotted or underscored."""
        return self._by_name.get(name)

    def why_unavailable(self, name: str) -> str | None:
        """Return what a tool lacks that exists but is not listed; None for any other name."""
        return self._unavailable.get(name)

    async def call(
        self,
        name: str,
        arguments: Mapping[str, object],
        *,
        app: OpensParts,
        caller: Caller,
        on_progress: OnProgress = no_progress,
        client: ClientPort | None = None,
        meter: Meter | None = None,
    ) -> ToolResult:
        """Run a tool; whatever goes wrong comes back as an error result, never as an exception.

        Cancellation goes through, so that everything stops at once, and so does ClientMustAnswer.
        """
        started = anyio.current_time()
        result: ToolResult | None = None
        try:
            result = await self._call(
                name,
                arguments,
                app=app,
                caller=caller,
                on_progress=on_progress,
                client=client,
                meter=meter,
            )
        finally:
            log_call(name, arguments, result, seconds=anyio.current_time() - started)
        return result

    async def _call(
        self,
        name: str,
        arguments: Mapping[str, object],
        *,
        app: OpensParts,
        caller: Caller,
        on_progress: OnProgress,
        client: ClientPort | None,
        meter: Meter | None,
    ) -> ToolResult:
        try:
            parts = await app.open(*self._needs_of(name))
        except CitewellError as error:
            logger.exception("tool %s cannot start", name)
            return error_result(error, tool=name)
        call = Call(
            parts=parts,
            caller=caller,
            on_progress=marking_progress(on_progress, arguments),
            deadline=anyio.current_time() + self._seconds_for(name, app.settings),
            client=client,
        )
        tool = self.find(name)
        if tool is not None and tool.toolset == "people":
            # Such a call waits for a person and costs next to nothing meanwhile.
            result = await self._answer(name, arguments, call, meter=meter)
        else:
            try:
                who = caller.key_hash or caller.session
                max_calls = app.settings.mcp_max_calls
                with self._load.working(who, max_calls=max_calls), working_for(who):
                    result = await self._answer(name, arguments, call, meter=meter)
            except Overloaded as error:
                return error_result(error, tool=name)
        if self._after_call is not None:
            # The work is done: reporting it finishes even if the client leaves now.
            with anyio.CancelScope(shield=True):
                result = await self._after_call.run(result, call)
        return result

    async def _answer(
        self, name: str, arguments: Mapping[str, object], call: Call, *, meter: Meter | None
    ) -> ToolResult:
        """Return the result or the error of a call, which is on record however it ends."""
        tool = self.find(name)
        metered = None if meter is None or tool is None else meter.begin(tool.name, call.caller)
        result: ToolResult | None = None
        try:
            result = await self._run(name, arguments, call, metered=metered)
        except ClientMustAnswer:
            raise
        except CitewellError as error:
            result = error_result(error, tool=name, arguments=arguments)
        except Exception as error:
            reported = _out_of_groups(error)
            if not isinstance(reported, CitewellError):
                logger.exception("tool %s failed", name)
                reported = CitewellError(UNEXPECTED)
            result = error_result(reported, tool=name, arguments=arguments)
        finally:
            if metered is not None:
                record_end(metered, result)
        return result

    async def _run(
        self,
        name: str,
        arguments: Mapping[str, object],
        call: Call,
        *,
        metered: MeteredCall | None,
    ) -> ToolResult:
        tool = self.find(name)
        if (reason := self.why_unavailable(name)) is not None:
            raise NotConfigured(reason)
        if tool is None:
            known = ", ".join(tool.underscored_name for tool in self.tools)
            raise NotFound(f"There is no tool {name[:80]!r}.", suggestion=f"Tools: {known}.")
        tool.refuse_others(call.caller)
        given = validate_arguments(tool.input_model, arguments)
        if tool.check is not None:
            tool.check(given)
        if metered is not None:
            await metered.admit()
        seconds = self._seconds_for(name, call.settings)
        try:
            with anyio.fail_after(seconds):
                outcome = await tool.run(given, call)
        except TimeoutError as error:
            raise ToolTimeout(
                f"Citewell timed out after {seconds:g}s.",
                suggestion=None if name in EXPLAINED_AT_LENGTH else "Try again, or ask for less.",
                timeout_seconds=seconds,
            ) from error
        result = _both_forms(tool, outcome, call)
        self._check_size(result, max_tokens=tool.max_result_tokens or self._max_response_tokens)
        return result

    def _needs_of(self, name: str) -> tuple[PartName, ...]:
        tool = self.find(name)
        after = self._after_call
        return (*(() if tool is None else tool.needs), *(() if after is None else after.needs))

    def _seconds_for(self, name: str, settings: Settings) -> float:
        tool = self.find(name)
        if tool is None or tool.timeout_seconds is None:
            return self._timeout_seconds
        return tool.timeout_seconds(settings)

    def _check_size(self, result: ToolResult, *, max_tokens: int) -> None:
        forms = (result.text, json.dumps(result.structured, ensure_ascii=False))
        sizes = [len(form.encode("utf-8", "surrogatepass")) for form in forms]
        if sum(sizes) > self._max_response_bytes:
            limit = self._max_response_bytes
            raise BudgetExceeded(f"The result is {sum(sizes):,} bytes; at most {limit:,} are sent.")
        for form, size in zip(forms, sizes, strict=True):
            # No token is shorter than a byte, so a short result need not be counted.
            if size > max_tokens and (tokens := count_tokens(form)) > max_tokens:
                raise BudgetExceeded(
                    f"The result is {tokens:,} tokens; at most {max_tokens:,} are sent."
                )


def _both_forms(tool: Tool[Any, Any, Any], outcome: object, call: Call) -> ToolResult:
    """Return the two forms of a result, each saying which of its words are those of pages."""
    output = tool.shape(outcome, call)
    shown = marked(outcome) if isinstance(outcome, ToolOutput) else outcome
    return ToolResult(
        text=Boundary().draw(tool.render(shown, call)),
        structured={**envelope(output), **output.model_dump(mode="json")},
    )


def _out_of_groups(error: Exception) -> Exception:
    """Return what went wrong first: what leaves a task group leaves it wrapped in a group."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error
