"""`prompts/*` and `completion/complete` of the protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mcp_types as types

from citewell.core.frozen import frozen
from citewell.tools.completion import complete_prompt, complete_resource
from citewell.tools.prompts import offered_prompts, write_prompt
from citewell.tools.resources import RESOURCE_NEEDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp.server.context import ServerRequestContext

    from citewell.server.calls import Calls
    from citewell.tools.prompts import Prompt
    from citewell.tools.registry import Registry

    RequestContext = ServerRequestContext[Any, Any]


@frozen
class PromptHandlers:
    """The handlers of prompt requests; a caller has the prompts all of whose tools it sees."""

    registry: Registry
    calls: Calls
    dotted: bool

    async def list(
        self, context: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        """Return the caller's prompts with their arguments."""
        return types.ListPromptsResult(
            prompts=[_shape(prompt) for prompt in self._offered(context)]
        )

    async def get(
        self, context: RequestContext, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        """Return a prompt with its arguments filled in."""
        with self.calls.answering(context):
            prompt, text = write_prompt(
                self._offered(context),
                params.name,
                arguments=params.arguments or {},
                dotted=self.dotted,
            )
        message = types.PromptMessage(
            role="user", content=types.TextContent(type="text", text=text)
        )
        return types.GetPromptResult(description=prompt.description, messages=[message])

    async def complete(
        self, context: RequestContext, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        """Return values for what the user is typing."""
        ref, name, typed = params.ref, params.argument.name, params.argument.value
        with self.calls.answering(context):
            call = await self.calls.open(context, *RESOURCE_NEEDS)
            if isinstance(ref, types.PromptReference):
                completion = await complete_prompt(
                    self._offered(context), ref.name, argument=name, typed=typed, call=call
                )
            else:
                completion = await complete_resource(ref.uri, argument=name, typed=typed, call=call)
        return types.CompleteResult(
            completion=types.Completion(
                values=list(completion.values),
                total=completion.total,
                has_more=completion.total > len(completion.values),
            )
        )

    def _offered(self, context: RequestContext) -> Sequence[Prompt]:
        visible = self.registry.tools_for(self.calls.identify(context))
        return offered_prompts(tool.name for tool in visible)


def _shape(prompt: Prompt) -> types.Prompt:
    return types.Prompt(
        name=prompt.name,
        title=prompt.title,
        description=prompt.description,
        arguments=[
            types.PromptArgument(
                name=argument.name, description=argument.description, required=True
            )
            for argument in prompt.arguments
        ],
    )
