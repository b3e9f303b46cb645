"""Tools of the suite that end a call with requests, which the client answers by calling again."""

from __future__ import annotations

from typing import Any

import mcp_types as types

ROUNDS = (
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_tampered_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_capabilities",
)

Params = types.CallToolRequestParams | types.GetPromptRequestParams


def play_round(params: Params) -> types.CallToolResult | types.InputRequiredResult:
    """Return what the fixture still has to ask, or its result when all is answered."""
    kind = params.name.removeprefix("test_input_required_result_")
    answers = params.input_responses or {}
    state: str | None = None
    asked: dict[str, Any] = {}
    match kind:
        case "elicitation":
            asked = {"user_name": _form("What is your name?", "name")}
        case "prompt":
            asked = {"user_context": _form("What context should the prompt use?", "context")}
        case "sampling":
            asked = {"capital_question": _sample("What is the capital of France?")}
        case "list_roots":
            asked = {"client_roots": types.ListRootsRequest(params=types.RequestParams())}
        case "request_state" | "tampered_state":
            asked, state = {"confirm": _form("Please confirm", "ok", "boolean")}, "confirming"
        case "multiple_inputs":
            state = "asking for three"
            asked = {
                "user_name": _form("What is your name?", "name"),
                "greeting": _sample("Generate a greeting"),
                "client_roots": types.ListRootsRequest(params=types.RequestParams()),
            }
        case "multi_round":
            is_second = params.request_state == "round 1" or "step2" in answers
            state = "round 2" if is_second else "round 1"
            step = ("step2", "color") if is_second else ("step1", "name")
            asked = {step[0]: _form(f"Your {step[1]}?", step[1])}
        case "capabilities":
            asked = _what_the_client_can(params)
    if all(_is_answered(key, answers) for key in asked):
        said = f"state-ok: {params.name} answered: {sorted(answers)}"
        return types.CallToolResult(content=[types.TextContent(type="text", text=said)])
    return types.InputRequiredResult(input_requests=asked, request_state=state)


def _what_the_client_can(params: Params) -> dict[str, Any]:
    meta: dict[str, Any] = dict(params.meta or {})
    capabilities = meta.get(types.CLIENT_CAPABILITIES_META_KEY, {})
    asked: dict[str, Any] = {}
    if "sampling" in capabilities:
        asked["greeting"] = _sample("Generate a greeting")
    if "elicitation" in capabilities:
        asked["user_name"] = _form("What is your name?", "name")
    return asked


def _is_answered(key: str, answers: dict[str, Any]) -> bool:
    answer = answers.get(key)
    if isinstance(answer, types.ElicitResult):
        return answer.action == "accept" and bool(answer.content)
    return answer is not None


def _form(message: str, field: str, kind: str = "string") -> types.ElicitRequest:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {field: {"type": kind}},
        "required": [field],
    }
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(message=message, requested_schema=schema)
    )


def _sample(prompt: str) -> types.CreateMessageRequest:
    message = types.SamplingMessage(
        role="user", content=types.TextContent(type="text", text=prompt)
    )
    params = types.CreateMessageRequestParams(messages=[message], max_tokens=100)
    return types.CreateMessageRequest(params=params)
