"""Asking the client of a request, in the way that its era of the protocol has for it.

Up to 2025-11-25 the server sends a request of its own and waits. From 2026-07-28 on there are no
such requests: the call ends with what is asked for, and the client calls again with the answers.
"""

from __future__ import annotations

import hashlib
import logging
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from pydantic import ValidationError

from citewell.app.client_port import ClientMustAnswer, PersonReply
from citewell.server.calls import is_handshake_era
from citewell.tools.people.ask_user import MAX_ANSWER_CHARACTERS

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from citewell.app.client_port import Elicits

    RequestContext = ServerRequestContext[Any, Any]

logger = logging.getLogger(__name__)

# A person may have to allow it, and a model has to write; the tool itself still needs some time.
_SAMPLING_SECONDS = 60.0

_ANSWER_FORM: types.ElicitRequestedSchema = {
    "type": "object",
    "properties": {
        "answer": {
            "type": "string",
            "title": "Your answer",
            "minLength": 1,
            # Longer answers would be cut.
            "maxLength": MAX_ANSWER_CHARACTERS,
        }
    },
    "required": ["answer"],
}


def can_elicit(context: RequestContext) -> bool:
    """Return whether the client of a request declares that it can ask its user."""
    if context.method == "initialize":
        # The session knows the capabilities only after the `initialized` notification.
        return "elicitation" in (context.params or {}).get("capabilities", {})
    wanted = types.ClientCapabilities(elicitation=types.ElicitationCapability())
    return context.session.check_client_capability(wanted)


class RequestClient:
    """The client of one `tools/call`."""

    def __init__(self, context: RequestContext, params: types.CallToolRequestParams) -> None:
        self._context = context
        self._answers = params.input_responses
        self.asked: types.InputRequests = {}
        """What the client must answer before it calls again."""

    @property
    def elicits(self) -> Elicits | None:
        """How the client asks its person; None when it does not."""
        if not can_elicit(self._context):
            return None
        if not is_handshake_era(self._context):
            return "by_repetition"
        return "now" if self._context.session.can_send_request else None

    @property
    def reply(self) -> PersonReply | None:
        """What the person has replied, when this call repeats one that had to ask."""
        for key, answer in (self._answers or {}).items():
            if isinstance(answer, types.ElicitResult):
                return _reply_of(answer, key=key)
        return None

    async def elicit(self, question: str, *, key: str) -> PersonReply | None:
        """Return what the person at the client replies; None when it could not be asked.

        Raises:
            ClientMustAnswer: the reply comes with a repetition of the call, under `key`.
        """
        form = types.ElicitRequestFormParams(message=question, requested_schema=_ANSWER_FORM)
        if not is_handshake_era(self._context):
            self.asked[key] = types.ElicitRequest(params=form)
            raise ClientMustAnswer
        try:
            answer = await self._context.session.elicit_form(
                question, _ANSWER_FORM, related_request_id=self._context.request_id
            )
        except (MCPError, ValidationError) as error:
            logger.info("the client did not ask its person: %s", type(error).__name__)
            return None
        return _reply_of(answer, key=key)

    async def sample(self, prompt: str, *, max_tokens: int) -> str | None:
        """Return what the client's own model writes to `prompt`, or None.

        Raises:
            ClientMustAnswer: the answer comes with a repetition of the call.
        """
        wanted = types.ClientCapabilities(sampling=types.SamplingCapability())
        if not self._context.session.check_client_capability(wanted):
            return None
        message = types.SamplingMessage(
            role="user", content=types.TextContent(type="text", text=prompt)
        )
        request = types.CreateMessageRequest(
            params=types.CreateMessageRequestParams(messages=[message], max_tokens=max_tokens)
        )
        if is_handshake_era(self._context):
            return await self._request_sample(request)
        # The key names the prompt: an answer to another one, of a call before the pages changed,
        # must not be taken for the answer to this one.
        key = f"sample-{hashlib.sha256(prompt.encode()).hexdigest()[:16]}"
        if self._answers is None:
            self.asked[key] = request
            raise ClientMustAnswer
        return _text_of(self._answers.get(key))

    async def _request_sample(self, request: types.CreateMessageRequest) -> str | None:
        related = ServerMessageMetadata(related_request_id=self._context.request_id)
        try:
            answer = await self._context.session.send_request(
                request,
                types.CreateMessageResult,
                request_read_timeout_seconds=_SAMPLING_SECONDS,
                metadata=related,
            )
        except (MCPError, ValidationError) as error:
            # Refused, too late, or no way to reach the client: others can write the text.
            logger.info("the client did not sample: %s", type(error).__name__)
            return None
        return _text_of(answer)


def _reply_of(answer: types.ElicitResult, *, key: str) -> PersonReply:
    reply = (answer.content or {}).get("answer") if answer.action == "accept" else None
    text = "" if reply is None else str(reply).strip()
    return PersonReply(key=key, text=text or None)


def _text_of(answer: types.InputResponse | None) -> str | None:
    if not isinstance(answer, types.CreateMessageResult | types.CreateMessageResultWithTools):
        return None
    blocks = answer.content if isinstance(answer.content, list) else [answer.content]
    text = "\n".join(block.text for block in blocks if isinstance(block, types.TextContent))
    return text.strip() or None
