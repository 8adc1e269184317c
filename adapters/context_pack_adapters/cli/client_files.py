"""Files of clients and of the project, and our part of them: a server, hooks, or a block of Markdown.

TOML keeps its comments, JSON its order and its indentation. JSON with comments is refused, because they would
be lost: `setup` then shows the part to paste. A text that has our part already is given back as it is.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import tomlkit
from tomlkit.exceptions import TOMLKitError

from context_pack_adapters.files.folder import Folder

MOST_BYTES = 16 * 1024 * 1024
LINK = "it is a link; only one in your own configuration that leads to a file in your home folder is followed"
NAME = "context-pack"
"""What our server is called in every configuration."""
_INDENT = re.compile(r"^([ \t]+)\"", re.MULTILINE)
_NAMED = re.compile(r"context[-_]pack")
_ENTRY = re.compile(
    r"""["']context[-_]pack["']\s*:|^\s*\[[\w.]+\.["']?context[-_]pack["']?\]""", re.MULTILINE
)
"""Our name as that of an entry of JSON or TOML, which cannot be read further."""
_OURS = re.compile(r"context[-_]pack\b.* hook (start|compact|end)$")


class UnreadableConfig(ValueError):
    """The configuration file is not plain JSON or TOML."""


class Edit(NamedTuple):
    """How our part is put into the text of a file, and taken out again."""

    put: Callable[[str], str]
    drop: Callable[[str], str]

    def then(self, other: Edit) -> Edit:
        """Both, one after the other."""
        return Edit(lambda text: other.put(self.put(text)), lambda text: other.drop(self.drop(text)))


class ClientFile(NamedTuple):
    """A file that we may add a part to."""

    path: str
    folder: Folder
    name: str

    @classmethod
    def in_project(cls, project: str, place: str) -> ClientFile:
        """A file of a project; a link is refused, because a project may be a stranger's."""
        *inside, name = place.split("/")
        return cls(os.path.join(project, place), Folder(project).below(*inside), name)

    @classmethod
    def of_user(cls, path: str) -> ClientFile:
        """A file of the user, who may keep it elsewhere in the home folder and link to it: the link stays."""
        target, home = os.path.realpath(path), os.path.realpath(os.path.expanduser("~"))
        is_theirs = target.startswith(os.path.join(home, "")) and os.path.isfile(target)
        folder, name = os.path.split(target if os.path.islink(path) and is_theirs else path)
        return cls(path, Folder(folder), name)

    def read(self) -> str:
        """The text of the file, exactly; empty if there is none."""
        try:
            return self.folder.read(self.name, MOST_BYTES)[0].decode("utf-8")
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError:
            raise UnreadableConfig("it is not UTF-8") from None
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise UnreadableConfig(LINK) from None
            raise

    def names_us(self) -> bool:
        """Whether it has an entry of our name, be it a file with comments; a path may have the name too."""
        try:
            return _ENTRY.search(self.read()) is not None
        except UnreadableConfig:
            return False

    def has_part(self, edit: Edit) -> bool:
        """Whether the file has a part of ours, be it an older one."""
        text = self.read()
        return edit.drop(text) != text

    def change(self, edit: Edit, *, remove: bool) -> bool:
        """Put our part in, or take it out, and say whether anything changed; an empty file is removed."""
        before = self.read()
        after = edit.drop(before) if remove else edit.put(before)
        if after == before:
            return False
        if after.strip() in ("", "{}") and not os.path.islink(self.path):
            self.folder.remove(self.name)
            if self.folder.place.inside:  # of a project; a client is known by its folder in the home folder
                self.folder.remove_if_empty()
        else:
            self.folder.make()
            mode = self.folder.status(self.name).st_mode & 0o777 if before else None
            self.folder.write(self.name, after.encode(), mode)
        return True


def server_edit(file: str, section: str, entry: Mapping[str, Any]) -> Edit:
    """Our entry in a section of a JSON or TOML file."""

    def put(config: Any) -> None:
        servers = config.setdefault(section, {})
        if not isinstance(servers, dict):
            raise UnreadableConfig(f"its {section} are no table of servers")
        servers[NAME] = dict(entry)

    def drop(config: Any) -> None:
        servers = config.get(section)
        if isinstance(servers, dict) and NAME in servers:
            del servers[NAME]
            if not servers:
                del config[section]

    return _parsed_edit(file, put, drop)


def hooks_edit(commands: Mapping[str, str]) -> Edit:
    """A command for each of these events, beside the hooks that are there; an event without others goes."""

    def put(config: Any) -> None:
        drop(config)
        hooks = config.setdefault("hooks", {})
        for event, command in commands.items():
            groups = hooks.setdefault(event, []) if isinstance(hooks, dict) else None
            if not isinstance(groups, list):
                raise UnreadableConfig("its hooks are no table of lists")
            groups.append({"hooks": [{"type": "command", "command": command}]})

    def drop(config: Any) -> None:
        hooks = config.get("hooks")
        for event, groups in list(hooks.items()) if isinstance(hooks, dict) else ():
            if isinstance(groups, list) and any(map(_runs_us, groups)):
                hooks[event] = [group for group in groups if not _runs_us(group)]
                if not hooks[event]:
                    del hooks[event]
                if not hooks:
                    del config["hooks"]

    return _parsed_edit("hooks.json", put, drop)


def _runs_us(group: Any) -> bool:
    """Whether a group of hooks is one that we wrote."""
    inside = group.get("hooks") if isinstance(group, dict) else None
    commands = [each.get("command") for each in inside or () if isinstance(each, dict)]
    return len(commands) == 1 and bool(_OURS.search(str(commands[0])))


def _parsed_edit(file: str, put: Callable[[Any], None], drop: Callable[[Any], None]) -> Edit:
    """Changes of a parsed JSON or TOML file as changes of its text, which stays where nothing changes."""
    read, written = (_toml, _toml_text) if file.endswith(".toml") else (_json, _json_text)

    def changed(text: str, change: Callable[[Any], None]) -> str:
        config = read(text)
        change(config)
        return text if config == read(text) else written(config, text)

    def dropped(text: str) -> str:  # a file with comments, which cannot be read, is no trouble without us
        return changed(text, drop) if _NAMED.search(text) else text

    return Edit(lambda text: changed(text, put), dropped)


def block_edit(block: str, name: str = NAME) -> Edit:
    """A block at the end of a Markdown text, or in the place of an earlier one of that name."""
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    # Without its end mark a block would reach to the end of the next one.
    there = re.compile(rf"{start}\r?\n(?:(?!{start}).)*?{end}(?:\r?\n)?", re.DOTALL)
    marked = f"{start}\n{block.strip()}\n{end}\n"

    def put(text: str) -> str:
        if there.search(text):
            return there.sub(lambda _: marked, text, count=1)
        return f"{text.rstrip()}\n\n{marked}" if text.strip() else marked

    def drop(text: str) -> str:
        without = there.sub("", text)
        return text if without == text else f"{without.rstrip()}\n" if without.strip() else ""

    return Edit(put, drop)


def _json(text: str) -> Any:
    try:
        config = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        raise UnreadableConfig("it has comments, or is no JSON") from None
    if not isinstance(config, dict):
        raise UnreadableConfig("it is no JSON object")
    return config


def _json_text(config: Any, text: str) -> str:
    """The configuration as text, indented as it was."""
    indent = _INDENT.search(text)
    return json.dumps(config, indent=indent[1] if indent else 2, ensure_ascii=False) + "\n"


def _toml(text: str) -> Any:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as fault:
        raise UnreadableConfig(f"it is not TOML: {fault}") from None


def _toml_text(config: Any, _: str) -> str:
    return tomlkit.dumps(config).rstrip("\n") + "\n"
