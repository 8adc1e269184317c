"""What the bundle commands share: the shelf over the real ports, and entities named on the command line."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from context_pack_adapters.commands.shell import Shell

if TYPE_CHECKING:
    from context_pack.app import Ports
    from context_pack.bundles.domain.model import Bundle, Diagnostic
    from context_pack.bundles.usecases.shelf import Address, Shelf
    from context_pack.kernel.errors import Failure
    from context_pack.toolkit.spec import Answer


def open_shelf(shell: Shell) -> tuple[Shelf, Ports]:
    """The bundles of this project, and the ports they are on."""
    from context_pack.bundles.usecases.shelf import Shelf
    from context_pack_adapters.bootstrap import open_ports

    ports = open_ports(shell.settings)
    return Shelf(ports.bundles), ports


def tell_none(shell: Shell) -> None:
    """Say that there is no bundle, and what would be one."""
    shell.terminal.line("No bundles found.")
    shell.terminal.note(
        "A bundle is a folder with an sdd-bundle.yaml: the source root or one below it, or one that "
        "bundles.yaml or CONTEXT_PACK_BUNDLES names."
    )


def add_targets(parser: ArgumentParser, count: str) -> None:
    """The arguments that say what is exported."""
    parser.add_argument("targets", nargs=count, metavar="TYPE/ID", help="an entity; its id alone will do")
    parser.add_argument("--bundle", metavar="ID", help="the bundle, where there are several")
    parser.add_argument("--depth", type=int, default=3, metavar="N", help="how far to follow references (3)")


def addresses(bundle: Bundle, targets: Sequence[str]) -> list[Address]:
    """Entities as people name them: `Type/id`, or an id, which is unique in its bundle."""
    from context_pack.bundles.usecases.shelf import Address

    found: list[Address] = []
    for target in targets:
        type_, slash, key = target.partition("/")
        named = bundle.entities.get(target)
        if named is not None and not (slash and bundle.find(type_, key)):
            found.append(Address(named.type, named.id))
        else:
            found.append(Address(type_ or "?", key or "?") if slash else Address("?", target))
    return found


def refusal(answer: Answer) -> Failure:
    """A tool's error as the failure that the command line tells in words."""
    from context_pack.kernel.errors import Code, Failure

    error = json.loads(answer.text)["error"]
    codes = {"NOT_FOUND": Code.NOT_FOUND, "BAD_REQUEST": Code.INVALID_DATA}
    return Failure(codes.get(error["code"], Code.INTERNAL), error["message"], error["details"])


def told(diagnostic: Diagnostic) -> dict[str, Any]:
    """A diagnostic as JSON, with what it is about."""
    return {"kind": diagnostic.sort.value, **diagnostic.record()}
