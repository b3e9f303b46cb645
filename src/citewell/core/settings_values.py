"""The value of a setting, converted from the text in which it was given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from citewell.core.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
_SHOWN_CHARACTERS = 60


def convert(name: str, value: object, hint: Any, *, limits: Mapping[str, Any]) -> Any:  # noqa: ANN401 - of the type that `hint` is
    """Return `value` as the type `hint`; `name` is how error messages call the setting.

    Raises:
        SettingsError: it has another type or is out of range.
    """
    result = _parse(name, value, hint)
    if isinstance(result, int | float) and not isinstance(result, bool):
        low, high = limits["at_least"], limits["at_most"]
        if low is not None and result < low:
            raise SettingsError(f"{name} must be at least {low}, not {result}")
        if high is not None and result > high:
            raise SettingsError(f"{name} must be at most {high}, not {result}")
    return result


def _parse(name: str, value: object, hint: Any) -> object:  # noqa: ANN401 - a type from annotations
    text = str(value).strip()
    if not text.isprintable():
        raise SettingsError(f"{name} must be one line of printable text")
    options = get_args(hint)
    if get_origin(hint) is Literal:
        match = [option for option in options if str(option).lower() == text.lower()]
        if not match:
            listed = ", ".join(map(str, options))
            raise SettingsError(f"{name} must be one of {listed}, not {_show(text)}")
        return match[0]
    if get_origin(hint) is tuple:
        parts = value if isinstance(value, list | tuple) else text.split(",")
        return tuple(str(part).strip() for part in parts if str(part).strip())
    if hint is bool:
        return _parse_bool(name, text)
    if hint in (int, float):
        return _parse_number(name, text, hint)
    return text or None if type(None) in options else text


def _parse_bool(name: str, text: str) -> bool:
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise SettingsError(f"{name} must be true or false, not {_show(text)}")


def _parse_number(name: str, text: str, kind: type[int] | type[float]) -> int | float:
    try:
        number = kind(text.replace("_", ""))
    except ValueError as error:
        article = "a whole number" if kind is int else "a number"
        raise SettingsError(f"{name} must be {article}, not {_show(text)}") from error
    if number != number:
        raise SettingsError(f"{name} must be a number, not {_show(text)}")
    return number


def _show(text: str) -> str:
    return repr(text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…")
