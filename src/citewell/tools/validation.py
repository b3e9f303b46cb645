"""Validate the arguments of a call against the input model of its tool."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pydantic import AliasChoices, BaseModel, ValidationError
from typing_extensions import TypeVar

from citewell.core.errors import BudgetExceeded, InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic_core import ErrorDetails

# Twice the largest call that the limits of the tools allow.
MAX_ARGUMENT_BYTES = 500_000
# Integers of both databases have 64 bits.
_NUMBER_LIMIT = 2**63
_MOST_NAMED, _MOST_NAME_CHARACTERS = 10, 40
_MOST_PROBLEMS, _MOST_MESSAGE = 5, 300

ModelT = TypeVar("ModelT", bound=BaseModel)


def validate_arguments(model: type[ModelT], arguments: Mapping[str, object]) -> ModelT:
    """Return the validated arguments; null means "left out" for optional ones.

    Raises:
        BudgetExceeded: they are too long.
        InvalidArgument: they are not what the tool takes.
    """
    _refuse_many_unknown(model, arguments)
    _check_size(arguments)
    _refuse_large_numbers(arguments)
    try:
        return model.model_validate(_without_nulls(model, arguments))
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        described = [_describe_problem(problem) for problem in problems[:_MOST_PROBLEMS]]
        if (rest := len(problems) - len(described)) > 0:
            described.append(f"and {rest:,} more")
        raise InvalidArgument(
            "Invalid arguments: " + "; ".join(described), suggestion=_what_it_takes(model)
        ) from error


def _refuse_many_unknown(model: type[BaseModel], arguments: Mapping[str, object]) -> None:
    """Refuse arguments by the thousand before they are looked at one by one."""
    if len(arguments) <= _MOST_NAMED:
        return
    known = frozenset(_names_of(model))
    unknown = [name for name in arguments if name not in known]
    if len(unknown) <= _MOST_NAMED:
        return
    named = ", ".join(map(_short, unknown[:_MOST_NAMED]))
    raise InvalidArgument(
        f"Invalid arguments: {named} and {len(unknown) - _MOST_NAMED:,} more are unknown",
        suggestion=_what_it_takes(model),
    )


def _names_of(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield name
        if isinstance(field.validation_alias, AliasChoices):
            yield from map(str, field.validation_alias.choices)


def _what_it_takes(model: type[BaseModel]) -> str:
    return f"This tool takes: {', '.join(model.model_fields) or 'no arguments'}."


def _short(name: object) -> str:
    # Where it is half of a character, no answer could repeat it.
    return str(name)[:_MOST_NAME_CHARACTERS].encode(errors="replace").decode()


def _without_nulls(model: type[BaseModel], arguments: Mapping[str, object]) -> dict[str, object]:
    """Drop nulls, which language models send when they have to fill in every argument."""
    optional = {name for name, field in model.model_fields.items() if not field.is_required()}
    return {
        name: value
        for name, value in arguments.items()
        if value is not None or name not in optional
    }


def _check_size(arguments: Mapping[str, object]) -> None:
    # Not escaped: escapes would double the size of Japanese text.
    written = json.dumps(arguments, default=str, ensure_ascii=False)
    try:
        size = len(written.encode())
    except UnicodeEncodeError as error:
        raise InvalidArgument(
            "Invalid arguments: a text holds half of a character (a lone surrogate)",
            suggestion="Send the text as valid Unicode.",
        ) from error
    if size > MAX_ARGUMENT_BYTES:
        raise BudgetExceeded(
            f"The arguments are {size:,} bytes; at most {MAX_ARGUMENT_BYTES:,} are taken.",
            suggestion="Send less text.",
        )


def _refuse_large_numbers(arguments: Mapping[str, object]) -> None:
    waiting = list(arguments.items())
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(str(key), item) for key, item in value.items()]
        elif isinstance(value, list | tuple):
            waiting += [(name, item) for item in value]
        elif isinstance(value, int) and not -_NUMBER_LIMIT <= value < _NUMBER_LIMIT:
            raise InvalidArgument(
                f"Invalid arguments: {_short(name)}: numbers must be below 2**63",
                suggestion="Send the number that the server gave you, or a smaller one.",
            )


def _describe_problem(problem: ErrorDetails) -> str:
    # For unions, the location also names the branch that pydantic tried.
    parts = map(_short, problem["loc"][:_MOST_NAMED])
    location = [part for part in parts if part.replace("_", "").isalnum()]
    is_blank = problem.get("ctx", {}).get("pattern") == r"\S"
    message = "Input should not be blank" if is_blank else problem["msg"][:_MOST_MESSAGE]
    return f"{'.'.join(location) or 'arguments'}: {message}"
