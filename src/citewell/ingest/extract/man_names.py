"""The names of a man page: its strings where they spell requests, and which macros show words."""

from __future__ import annotations

import re

from citewell.ingest.extract.man_text import arguments_of

# Of man and mdoc; others show something only where the page defines them.
_MACROS = frozenset(
    "TH SH SS TP TQ LP PP P IP HP RS RE B I SM SB BI BR IB IR RB RI UR UE MT ME MR EX EE SY YS "
    "OP AT UC PD DT TS TE EQ EN Ac Ad An Ao Ap Aq Ar At Bc Bd Bf Bk Bl Bo Bq Brc Bro Brq Bsx Bt "
    "Bx Cd Cm Db Dc Dd Dl Do Dq Ds Dt Dv Dx D1 Ec Ed Ef Ek El Em En Eo Er Es Ev Ex Fa Fc Fd Fl "
    "Fn Fo Fr Ft Fx Hf Ic In It Lb Li Lk Lp Ms Mt Nd Nm No Ns Nx Oc Oo Op Os Ot Ox Pa Pc Pf Po "
    "Pp Pq Qc Ql Qo Qq Re Rs Rv Sc Sh Sm So Sq Ss St Sx Sy Ta Tg Tn Ud Ux Va Vt Xc Xo Xr".split()
)
_STRING = re.compile(r"\\\*(?:\[([^\]\s]{1,40})\]|\((..)|([^(\[]))")
_MOST_STRINGS, _MOST_CHARACTERS, _MOST_ROUNDS = 200, 80, 3
_MOST_MACROS = 1_000


class Names:
    """What a page has given names to so far."""

    def __init__(self) -> None:
        self._strings: dict[str, str] = {}
        # Whether a macro of the page shows the words of its call.
        self._macros: dict[str, bool] = {}
        self._removed: set[str] = set()

    def note(self, request: str, rest: str) -> bool:
        """Note what a request names; return whether it is one that does."""
        if request not in ("ds", "ds1", "as", "as1", "rm", "rn", "als"):
            return False
        words = arguments_of(rest[:1_000])
        if request == "rm":
            for word in words:
                self._remove(word)
        elif request.startswith(("ds", "as")):
            if words and len(self._strings) < _MOST_STRINGS:
                value = rest.partition(words[0])[2].lstrip().removeprefix('"')
                before = self._strings.get(words[0], "") if request.startswith("as") else ""
                self._strings[words[0]] = (before + value)[:_MOST_CHARACTERS]
        elif len(words) > 1:
            new, old = (words[0], words[1]) if request == "als" else (words[1], words[0])
            if self.is_shown(old):
                self.define(new, shows_words=not self.is_wordless(old))
            else:
                self._remove(new)
            if request == "rn":
                self._remove(old)
        return True

    def define(self, name: str, *, shows_words: bool) -> None:
        """Note a macro that the page defines."""
        if len(self._macros) < _MOST_MACROS:
            self._macros[name] = shows_words
            self._removed.discard(name)

    def is_shown(self, name: str) -> bool:
        """Return whether a call of a macro can show something."""
        return name not in self._removed and (name in _MACROS or name in self._macros)

    def is_wordless(self, name: str) -> bool:
        """Return whether a macro of the page ignores the words of its call."""
        return self._macros.get(name) is False

    def spelled(self, line: str) -> str:
        """Return a line with the strings that spell its request, or make it one, in place."""
        first, space, rest = line.partition(" ")
        is_request = line.startswith((".", "'"))
        if "\\*" not in first or not (is_request or line.startswith("\\*")):
            return line
        read = first
        for _ in range(_MOST_ROUNDS):
            # Strings of strings could grow without end.
            read = _STRING.sub(self._value, read[:_MOST_CHARACTERS]) + read[_MOST_CHARACTERS:]
        return f"{read}{space}{rest}" if read.startswith((".", "'")) else line

    def _value(self, match: re.Match[str]) -> str:
        return self._strings.get(match[1] or match[2] or match[3], "")

    def _remove(self, name: str) -> None:
        self._macros.pop(name, None)
        if len(self._removed) < _MOST_MACROS:
            self._removed.add(name)
