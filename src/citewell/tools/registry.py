"""The registry of tools, through which every transport calls them."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import anyio

from citewell.app.call import Call
from citewell.app.client_port import ClientMustAnswer
from citewell.core.boundary import Boundary
from citewell.core.errors import (
    BudgetExceeded,
    CitewellError,
    NotConfigured,
    NotFound,
    Overloaded,
    ToolTimeout,
)
from citewell.core.fair_turns import share_of, working_for
from citewell.core.progress import OnProgress, no_progress
from citewell.core.tokens import count_tokens
from citewell.tools.load import Load
from citewell.tools.results import (
    EXPLAINED_AT_LENGTH,
    UNEXPECTED,
    ToolResult,
    error_result,
    log_call,
    record_end,
)
from citewell.tools.tool import ToolOutput
from citewell.tools.toolsets import spell_name
from citewell.tools.untrusted import envelope, marked, marking_progress
from citewell.tools.validation import validate_arguments

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from citewell.access.meter import Meter, MeteredCall
    from citewell.app.client_port import ClientPort
    from citewell.app.parts import OpensParts, PartName
    from citewell.core.records import Caller
    from citewell.core.settings import Settings
    from citewell.tools.tool import AfterCall, Tool

logger = logging.getLogger(__name__)


class Registry:
    """The tools of one server, callable by either spelling of their names."""

    def __init__(
        self,
        tools: Iterable[Tool[Any, Any]],
        *,
        timeout_seconds: float,
        max_response_bytes: int,
        max_response_tokens: int = 40_000,
        unavailable: Mapping[str, str] | None = None,
        after_call: AfterCall | None = None,
    ) -> None:
        self.tools: Sequence[Tool[Any, Any]] = tuple(tools)
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

    def tools_for(self, caller: Caller) -> list[Tool[Any, Any]]:
        """Return the tools that the caller's key can call."""
        return [tool for tool in self.tools if tool.is_for(caller)]

    def find(self, name: str) -> Tool[Any, Any] | None:
        """Return the tool called `name`, dotted or underscored."""
        return self._by_name.get(name)

    def why_unavailable(self, name: str) -> str | None:
        """Return what an unlisted tool lacks to work; None for any other name."""
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
        """Run a tool; every failure is returned as an error result.

        Only cancellation and ClientMustAnswer are raised.
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
            # Not counted as load: the call only waits for the user.
            result = await self._answer(name, arguments, call, meter=meter)
        else:
            try:
                who = share_of(caller)
                async with self._load.working(who):
                    with working_for(who):
                        result = await self._answer(name, arguments, call, meter=meter)
            except Overloaded as error:
                return error_result(error, tool=name)
        if self._after_call is not None:
            # The work is done, so it is finished even if the client leaves now.
            with anyio.CancelScope(shield=True):
                result = await self._after_call.run(result, call)
        return result

    async def _answer(
        self, name: str, arguments: Mapping[str, object], call: Call, *, meter: Meter | None
    ) -> ToolResult:
        """Return the result or the error of a call, which is metered however it ends."""
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
        valid = validate_arguments(tool.input_model, arguments)
        if tool.check is not None:
            tool.check(valid)
        if metered is not None:
            await metered.admit()
        seconds = self._seconds_for(name, call.settings)
        try:
            with anyio.fail_after(seconds):
                outcome = await tool.run(valid, call)
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


def _both_forms(tool: Tool[Any, Any], outcome: object, call: Call) -> ToolResult:
    """Return the two forms of a result, each with the words of pages marked."""
    output = tool.structure(outcome, call)
    shown = marked(outcome) if isinstance(outcome, ToolOutput) else outcome
    return ToolResult(
        text=Boundary().draw(tool.render(shown, call)),
        structured={**envelope(output), **output.model_dump(mode="json")},
    )


def _out_of_groups(error: Exception) -> Exception:
    """Return the first error of a group: task groups wrap what they raise."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error
