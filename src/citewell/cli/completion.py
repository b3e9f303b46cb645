"""`citewell completion`: completes commands, actions, options and their values in a shell."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from typing_extensions import override

from citewell.cli.main import COMMANDS, build_command_parser, build_parser, load_command

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from citewell.core.settings import Settings

DESCRIPTION = """\
Print the script that completes `citewell` in your shell: commands, actions, options and their
values, and file names everywhere else."""

EXAMPLES = """\
  eval "$(citewell completion bash)"                                  # in ~/.bashrc
  eval "$(citewell completion zsh)"                                   # in ~/.zshrc
  citewell completion fish > ~/.config/fish/completions/citewell.fish"""

SCRIPTS = {
    "bash": """\
_citewell() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(citewell completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" \
2>/dev/null)" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _citewell citewell
""",
    "zsh": """\
_citewell() {
  local -a found
  found=(${(f)"$(citewell completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#found )); then compadd -a found; else _files; fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _citewell citewell
""",
    "fish": """\
complete -c citewell -a '(citewell completion words -- (commandline -opc)[2..] \
(commandline -ct) 2>/dev/null)'
""",
}


class _Shells(tuple[str, ...]):
    """The shells that have a script; `words`, which the scripts ask for, is accepted unlisted."""

    @override
    def __contains__(self, word: object) -> bool:
        return word == "words" or super().__contains__(word)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `completion`."""
    choices = _Shells(SCRIPTS)
    parser.add_argument("shell", metavar="SHELL", choices=choices, help=", ".join(SCRIPTS))
    # The scripts ask with it what can stand where the cursor is.
    parser.add_argument("typed", nargs="*", default=[], help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print the script, or the words that complete what was typed."""
    if arguments.shell in SCRIPTS:
        print(SCRIPTS[arguments.shell], end="")
        return 0
    *before, current = arguments.typed or [""]
    for word in complete(before, current):
        print(word)
    return 0


def complete(before: Sequence[str], current: str) -> Iterator[str]:
    """Yield the words that can stand after `before` and begin with `current`."""
    name = next((word for word in before if word in COMMANDS), None)
    if name is None:
        yield from _beginning((*COMMANDS, *_options(build_parser())), current)
        return
    actions = getattr(load_command(name), "ACTIONS", {})
    action = next((word for word in before if word in actions), None)
    if actions and action is None and not current.startswith("-"):
        yield from _beginning(actions, current)
        return
    parser = build_command_parser(
        name, action or getattr(load_command(name), "DEFAULT_ACTION", None)
    )
    values = _values(parser, before[-1])
    if values is None:
        values = _options(parser) if current.startswith("-") else _choices(parser)
    yield from _beginning(values, current)


def _beginning(words: Iterable[str], start: str) -> Iterator[str]:
    return (word for word in words if word.startswith(start))


def _options(parser: argparse.ArgumentParser) -> list[str]:
    return [option for action in parser._actions for option in action.option_strings]


def _choices(parser: argparse.ArgumentParser) -> list[str]:
    """Return what the first positional argument can be, where that is known."""
    positional = [action for action in parser._actions if not action.option_strings]
    return [str(word) for word in (positional[0].choices or ())] if positional else []


def _values(parser: argparse.ArgumentParser, option: str) -> list[str] | None:
    """Return what can stand after an option; None where it takes no value."""
    for action in parser._actions:
        if option in action.option_strings and action.nargs != 0:
            return [str(word) for word in action.choices or ()]
    return None
