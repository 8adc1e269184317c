"""Other languages in short, by the lines that declare something: one table, no grammar.

A declaration counts where its language puts public ones: at the start of a line or one level in, with the
word or the letter case that makes it public. That misses some and never invents one from a comment that is
indented like code; it is meant for a first look, not for a compiler.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from attrs import frozen

from context_pack.contexts.domain.outline.model import Export, Outline
from context_pack.kernel.comments import head_comment
from context_pack.kernel.sentences import first_sentence, one_line

MOST_CHARS = 500_000
_PARAMETERS = r"\((?:[^()]|\([^()]*\)){0,400}\)"


@frozen
class Language:
    """How a language declares, documents and imports."""

    declared: re.Pattern[str]
    imported: re.Pattern[str] | None = None
    documented: re.Pattern[str] | None = None


def _pattern(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{each})" for each in alternatives), re.MULTILINE)


_GO = Language(
    _pattern(
        rf"^func (?:\([^)\n]*\) )?(?P<a>[A-Z]\w*)(?:\[[^\]\n]*\])?{_PARAMETERS}[^{{\n]*",
        r"^(?:type|var|const) (?P<b>[A-Z]\w*)",
    ),
    re.compile(r'^(?:import\s+(?:[\w.]+\s+)?|\t(?:[\w.]+ )?)"(?P<path>[^"\n]+)"$', re.MULTILINE),
    re.compile(r"(?P<body>(?:^//[^\n]*\n)+)^package ", re.MULTILINE),
)
_RUST = Language(
    _pattern(
        rf"^pub (?:(?:async|unsafe|const|extern \"C\") )*fn (?P<a>\w+)(?:<[^>\n]*>)?{_PARAMETERS}[^{{;\n]*",
        r"^pub (?:struct|enum|trait|type|const|static|mod|union) (?P<b>\w+)",
    ),
    re.compile(r"^(?:pub )?(?:use|mod) (?P<path>[\w:]+)", re.MULTILINE),
    re.compile(r"\A(?P<body>(?:\s*//![^\n]*\n)+)"),
)
_MODIFIERS = r"(?:(?:public|open|export|abstract|final|sealed|static|partial|data|internal|inline|async) )"
_TYPES = r"(?:class|interface|enum|record|struct|object|trait|protocol|actor|@interface)"
_JVM = Language(
    _pattern(
        rf"^{_MODIFIERS}*{_TYPES} (?P<a>\w+)",
        rf"^(?:    |\t)?public {_MODIFIERS}*(?!{_TYPES})[\w<>\[\], .?]+? (?P<b>\w+){_PARAMETERS}",
        rf"^{_MODIFIERS}*(?:suspend )?(?:fun|func|def) (?P<c>\w+){_PARAMETERS}[^{{=\n]*",
    ),
    re.compile(r"^(?:import|using) (?:static )?(?P<path>[\w.]+)", re.MULTILINE),
)
_PHP = Language(
    _pattern(
        r"^(?:(?:abstract|final|readonly) )*(?:class|interface|trait|enum) (?P<a>\w+)",
        rf"^function (?P<b>\w+){_PARAMETERS}[^{{\n]*",
    ),
    re.compile(r"^use (?P<path>[\w\\]+)", re.MULTILINE),
)
_RUBY = Language(
    _pattern(
        r"^ {0,2}(?:class|module) (?P<a>[A-Z][\w:]*)", rf"^def (?:self\.)?(?P<b>\w+[?!]?)(?:{_PARAMETERS})?"
    ),
    re.compile(r"^require(?:_relative)? ['\"](?P<path>[^'\"\n]+)", re.MULTILINE),
)
_C = Language(
    _pattern(
        r"^(?!(?:return|else|if|for|while|switch|static|typedef)\b)[A-Za-z_][\w \t*&:<>,]*?[ *&]"
        rf"(?P<a>\w+){_PARAMETERS}(?= *[;{{\n])",
        r"^(?:typedef )?(?:class|struct|enum|union) (?P<b>\w+)(?=[ \t]*[{:\n])",
    ),
    re.compile(r"^#include \"(?P<path>[^\"\n]+)\"", re.MULTILINE),
)
_ELIXIR = Language(_pattern(r"^[ \t]*defmodule (?P<a>[\w.]+)", rf"^  def (?P<b>\w+[?!]?)(?:{_PARAMETERS})?"))
_LUA = Language(_pattern(rf"^function (?P<a>[\w.:]+){_PARAMETERS}"))
_SHELL = Language(_pattern(r"^(?:function )?(?P<a>\w+) ?\(\)"))
_SQL = Language(
    re.compile(
        r"^CREATE (?:OR REPLACE )?(?:TABLE|VIEW|FUNCTION|PROCEDURE|INDEX) (?:IF NOT EXISTS )?(?P<a>[\w.\"]+)",
        re.MULTILINE | re.IGNORECASE,
    )
)
_PROTO = Language(_pattern(r"^(?:message|service|enum) (?P<a>\w+)", r"^[ \t]+rpc (?P<b>\w+)[^{;\n]*"))
_GRAPHQL = Language(_pattern(r"^(?:type|interface|input|enum|union|scalar) (?P<a>\w+)"))
_HASKELL = Language(_pattern(r"^(?P<a>[a-z]\w*) :: [^\n]+", r"^(?:data|newtype|class|type) (?P<b>[A-Z]\w*)"))
_TERRAFORM = Language(
    _pattern(r"^(?:resource|module|variable|output|data) \"(?P<a>[^\"\n]+)\"(?: \"[^\"\n]+\")?")
)

LANGUAGES: Mapping[str, Language] = {
    "go": _GO,
    "rs": _RUST,
    **dict.fromkeys(("java", "kt", "kts", "cs", "swift", "scala"), _JVM),
    "php": _PHP,
    "rb": _RUBY,
    **dict.fromkeys(("c", "cpp", "cc", "h", "hpp"), _C),
    **dict.fromkeys(("ex", "exs"), _ELIXIR),
    "lua": _LUA,
    **dict.fromkeys(("sh", "bash", "zsh"), _SHELL),
    "sql": _SQL,
    "proto": _PROTO,
    **dict.fromkeys(("graphql", "gql"), _GRAPHQL),
    "hs": _HASKELL,
    **dict.fromkeys(("tf", "hcl"), _TERRAFORM),
}


def outline(text: str, extension: str) -> Outline:
    """A file of such a language in short."""
    language = LANGUAGES[extension]
    text = text[:MOST_CHARS]
    about = head_comment(text, extension)
    if language.documented is not None and (found := language.documented.search(text)):
        about = first_sentence(re.sub(r"^\s*//!?/?[ \t]?", "", found["body"], flags=re.MULTILINE)) or about
    exports: dict[str, Export] = {}
    for found in language.declared.finditer(text):
        name = next(filter(None, found.groups()))
        exports.setdefault(name, Export(name, one_line(found[0].rstrip(" {;"))))
    imported = language.imported.finditer(text) if language.imported is not None else ()
    return Outline(about, tuple(exports.values()), tuple(dict.fromkeys(each["path"] for each in imported)))
