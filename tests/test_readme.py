"""What README.md says, as far as it can be checked."""

from __future__ import annotations

import re
from argparse import ArgumentParser, _SubParsersAction
from pathlib import Path

from django.core.management import get_commands, load_command_class

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
OWN_COMMANDS = {name for name, app in get_commands().items() if app == "evidence"}


def test_the_commands_that_it_names_exist() -> None:
    """People who type what the first page tells them, and get an error."""
    named = set(re.findall(r"manage\.py (\w+)", README))
    assert named
    assert named <= set(get_commands())


def test_it_names_every_command_of_ours() -> None:
    """A command that nobody finds."""
    for name in OWN_COMMANDS - {"migrate"}:
        assert re.search(rf"`[^`]*\b{name}\b[^`]*`", README), name


def help_of(parser: ArgumentParser) -> str:
    """What a command says of itself, and of each of its actions ("bench questions")."""
    actions = [action for action in parser._actions if isinstance(action, _SubParsersAction)]
    below = [choice.format_help() for action in actions for choice in action.choices.values()]
    return "\n".join([parser.format_help(), *below])


def test_the_options_that_it_names_exist() -> None:
    """An option that was renamed, and a page that still tells of the old name."""
    for name, options in re.findall(r"manage\.py (\w+)([^\n|`]*)", README):
        if name in OWN_COMMANDS:
            help_text = help_of(load_command_class("evidence", name).create_parser("manage.py", name))
            for option in re.findall(r"--[a-z-]+", options):
                assert option in help_text, (name, option)


def test_the_targets_of_make_that_it_names_exist() -> None:
    """A first command that does not work."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    assert set(re.findall(r"^    make ([a-z]+)$|`make ([a-z]+)", README, re.MULTILINE)) >= {("run", "")}
    assert {one or other for one, other in re.findall(r"^    make ([a-z]+)$|`make ([a-z]+)", README, re.M)} <= targets
