"""Let a repository be fetched that a project's context.json names; kept in your own configuration.

A project is not trusted to choose whom this machine talks to: a repository that it names is fetched only
after you have allowed its address once, and without your credentials (git's helpers, netrc, ssh keys) unless
you allow them too. What your own configuration names (docs add --user) needs no permission.

Examples:
  context-pack docs allow https://github.com/reactjs/react.dev
  context-pack docs allow ssh://git@example.org/team/handbook --with-credentials
  context-pack docs allow --list
  context-pack docs allow --remove https://github.com/reactjs/react.dev
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from context_pack_adapters.commands.docs import DONE, FAILED
from context_pack_adapters.commands.shell import Shell, Usage


def configure(parser: ArgumentParser) -> None:
    """Which repository, and how much."""
    parser.add_argument("url", nargs="?", metavar="URL", help="the address of a repository")
    parser.add_argument("--with-credentials", action="store_true", help="also with your keys and passwords")
    parser.add_argument("--list", action="store_true", help="what is allowed now")
    parser.add_argument("--remove", action="store_true", help="allow it no more")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(options: Namespace, shell: Shell) -> int:
    """Allow one, allow it no more, or list them."""
    from context_pack.documents.domain.permits import address_in
    from context_pack_adapters.bootstrap import open_ports

    if options.list == (options.url is not None):
        raise Usage("give the URL of a repository, or --list")
    documents = open_ports(shell.settings).documents
    assert documents is not None
    sources = documents.sources
    if options.list:
        return _listed(dict(sources.allowed()), options, shell)
    address = address_in(options.url)
    known = address in sources.allowed()
    if options.remove and not known:
        shell.terminal.complain(f"{address} was not allowed")
        return FAILED
    credentials = None if options.remove else bool(options.with_credentials)
    sources.allow(address, credentials)
    if options.json:
        shell.terminal.json({"address": address, "allowed": not options.remove, "credentials": credentials})
    else:
        how = "with" if credentials else "without"
        deed = "allowed no more" if options.remove else f"allowed, {how} your credentials"
        shell.terminal.line(f"{address} is {deed}")
    return DONE


def _listed(permits: dict[str, bool], options: Namespace, shell: Shell) -> int:
    if options.json:
        bodies = [{"address": address, "credentials": given} for address, given in permits.items()]
        shell.terminal.json({"allowed": bodies})
    elif permits:
        rows = [[address, "yes" if given else "no"] for address, given in permits.items()]
        shell.terminal.table(rows, ["ADDRESS", "CREDENTIALS"])
    else:
        shell.terminal.line("Nothing is allowed. Allow a repository: context-pack docs allow URL")
    return DONE
