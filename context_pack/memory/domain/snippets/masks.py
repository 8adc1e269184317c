"""How the languages with braces are masked before they are scanned: comments and strings do not count.

Simpler than what import resolvers need: a mistake here costs a snippet its exact end, not a wrong file.
"""

from __future__ import annotations

from collections.abc import Mapping

from context_pack.kernel.lexing import (
    BLOCK_COMMENT,
    DOUBLE_QUOTED,
    LINE_COMMENT,
    SINGLE_QUOTED,
    Lexer,
    comment,
    interpolated,
    lexer,
    nested_comment,
    opaque,
    string,
)
from context_pack.kernel.lexing import code as plain_code

_COMMENTS = (comment(LINE_COMMENT), comment(BLOCK_COMMENT))
_NESTING = (comment(LINE_COMMENT), comment(r"/\*", nested_comment))
_TRIPLE = opaque(r'"""(?s:.*?)(?:"""|\Z)')
_QUOTES = (string(DOUBLE_QUOTED), opaque(SINGLE_QUOTED))
_DIRECTIVE = comment(r"^[ \t]*+#(?:[^\\\n]|\\(?s:.))*+")
_NUMBER = plain_code(r"(?<!\w)\d(?:'?[\w.])*+")

_C = lexer(*_COMMENTS, _DIRECTIVE, string(DOUBLE_QUOTED), _NUMBER, opaque(SINGLE_QUOTED))
_GO = lexer(*_COMMENTS, string(DOUBLE_QUOTED), string(r"`[^`]*+`?"), opaque(SINGLE_QUOTED))
_RUST = lexer(
    *_NESTING,
    opaque(r'\b(?:br|r)#"(?s:.*?)(?:"#|\Z)'),
    string(r'"(?:[^"\\]|\\(?s:.))*+"?'),
    opaque(r"'(?:[^'\\\n]|\\[^\n]{1,10})'"),
    plain_code(r"'"),
)
_JAVA = lexer(*_COMMENTS, _TRIPLE, *_QUOTES)
_KOTLIN = lexer(*_NESTING, _TRIPLE, *_QUOTES)
_CSHARP = lexer(*_COMMENTS, _DIRECTIVE, _TRIPLE, opaque(r'(?:@\$?|\$@)"(?:[^"]|"")*+"?'), *_QUOTES)
# Of no great length, so that slashes which begin none are not each followed to the end of a line.
_EXPRESSION = r"/(?![*/])(?:[^/\\\[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n]){0,200}+\]){1,500}+/\w*+"
_SCRIPT = lexer(
    *_COMMENTS,
    *_QUOTES,
    opaque(r"`", interpolated("`", "${")),
    # A regular expression: a slash where a value may begin, with its end on the same line.
    opaque(rf"(?<=[=(,:;!&|?{{}}\[\n])[ \t]*+{_EXPRESSION}|(?<=\breturn)[ \t]++{_EXPRESSION}"),
)
_PHP = lexer(*_COMMENTS, comment(r"#(?!\[)[^\n]*+"), *_QUOTES)
_DART = lexer(*_COMMENTS, _TRIPLE, opaque(r"'''(?s:.*?)(?:'''|\Z)"), *_QUOTES)
_SHELL = lexer(
    comment(r"(?<![\w$\\{'\"])#[^\n]*+"), string(r'"(?:[^"\\]|\\(?s:.))*+"?'), opaque(r"'[^']*+'?")
)

MASKS: Mapping[str, Lexer] = {
    "c": _C,
    "cpp": _C,
    "objectivec": _C,
    "zig": _C,
    "solidity": _C,
    "protobuf": _C,
    "go": _GO,
    "rust": _RUST,
    "java": _JAVA,
    "groovy": _JAVA,
    "kotlin": _KOTLIN,
    "scala": _KOTLIN,
    "swift": _KOTLIN,
    "csharp": _CSHARP,
    "javascript": _SCRIPT,
    "jsx": _SCRIPT,
    "typescript": _SCRIPT,
    "tsx": _SCRIPT,
    "vue": _SCRIPT,
    "svelte": _SCRIPT,
    "php": _PHP,
    "dart": _DART,
    "bash": _SHELL,
    "zsh": _SHELL,
}
