"""The words of a Japanese question that only ask: no page that answers it need hold them."""

from __future__ import annotations

import re

_WHAT = (
    r"(?:何(?:年|月|日|人|個|歳|回|時|番)?|なに|なん|誰|だれ|どこ|いつ|なぜ|どう|どれ|どちら"
    r"|いくつ|いくら|どのような(?:もの|こと)|どういう(?:意味|こと|もの))"
)
_NAMED = r"(?:と(?:いう|言う|いい|言い|呼ぶ|呼び))?"
_IS = r"(?:です|ます|でしょう|でした|だろう|なの)*か?"
_TAIL = re.compile(
    rf"(?:(?:とは|って|[のはがをにで]+){_WHAT}{_NAMED}{_IS}"
    r"|とは"
    r"|(?:について|を)?(?:教えて|説明して)(?:ください|下さい)?"
    r"|(?:です|でしょう|ます|ました|の)か)[\s。?？]*$"
)
# More than the longest tail has; a pattern that may begin anywhere is slow on what is long.
_TAIL_CHARACTERS = 40
_WAY = re.compile(r"どのように(?:して)?|どうやって|どうすれば|どのような|どんな")


def without_asking(text: str) -> str:
    """Return `text` without what only asks: `Podとは何ですか` → `Pod`; all where it only asks."""
    beginning, end = text[:-_TAIL_CHARACTERS], text[-_TAIL_CHARACTERS:]
    bare = _WAY.sub(" ", beginning + _TAIL.sub("", end)).strip()
    return bare or text
