"""What keys have used, as files for others."""

from __future__ import annotations

from citewell.app.usage import usage_csv
from citewell.core.identity import UsageTotal


def total(*, name: str | None, hint: str) -> UsageTotal:
    return UsageTotal(
        month="2026-03",
        owner="a1",
        hint=hint,
        name=name,
        tool="answer",
        outcome="ok",
        calls=2,
        units=2,
        tokens=80,
        milliseconds=1_200,
    )


def test_a_spreadsheet_finds_no_formula_in_what_callers_chose() -> None:
    text = usage_csv([total(name='=HYPERLINK("x")', hint="-9f4"), total(name=None, hint="=A1+")])

    assert text == (
        "month,owner,hint,name,tool,outcome,calls,units,tokens,milliseconds,price,refunded\n"
        '2026-03,a1,\'-9f4,"\'=HYPERLINK(""x"")",answer,ok,2,2,80,1200,0,0\n'
        "2026-03,a1,'=A1+,,answer,ok,2,2,80,1200,0,0\n"
    )
