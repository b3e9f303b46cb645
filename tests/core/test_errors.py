"""The error tree."""

import inspect
from typing import get_args

from citewell.core import error_codes, errors


def test_every_error_has_a_code_a_type_and_a_suggestion_and_is_drawn_in_the_tree() -> None:
    classes = [
        each
        for _, each in inspect.getmembers(errors, inspect.isclass)
        if issubclass(each, errors.CitewellError)
    ]

    assert len(classes) > 15
    for each in classes:
        error = each("what happened", status=404)
        assert error.code in get_args(error_codes.ErrorCode)
        assert error.type
        assert error.suggestion
        assert error.details == {"status": 404}
        assert errors.__doc__ is not None
        assert each.__name__ in errors.__doc__
