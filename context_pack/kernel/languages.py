"""The name of a file's language, as Markdown fences spell it: by well-known name, else by extension.

Only the path is looked at, never the content; an unknown language is the empty string.
"""

from __future__ import annotations

_NAMES = {
    "dockerfile": "dockerfile",
    "containerfile": "dockerfile",
    "makefile": "makefile",
    "gnumakefile": "makefile",
    "cmakelists.txt": "cmake",
    "meson.build": "meson",
    "jenkinsfile": "groovy",
    "vagrantfile": "ruby",
    "gemfile": "ruby",
    "rakefile": "ruby",
    "podfile": "ruby",
    "brewfile": "ruby",
    "fastfile": "ruby",
    "justfile": "just",
    "procfile": "yaml",
    "build.bazel": "starlark",
    "tiltfile": "starlark",
    "sconstruct": "python",
    "go.mod": "go",
    "cargo.lock": "toml",
    "poetry.lock": "toml",
    "uv.lock": "toml",
    "pipfile": "toml",
    "pipfile.lock": "json",
    "composer.lock": "json",
    ".babelrc": "json",
    ".eslintrc": "json",
    ".prettierrc": "json",
    ".bashrc": "bash",
    ".bash_profile": "bash",
    ".profile": "bash",
    ".zshrc": "zsh",
    ".editorconfig": "ini",
    ".gitconfig": "ini",
    ".gitmodules": "ini",
    ".gitignore": "gitignore",
    ".dockerignore": "gitignore",
    ".ignore": "gitignore",
}

_EXTENSIONS = {
    language: extensions.split()
    for language, extensions in {
        "python": "py pyi pyw",
        "javascript": "js mjs cjs",
        "jsx": "jsx",
        "typescript": "ts mts cts",
        "tsx": "tsx",
        "rust": "rs",
        "go": "go",
        "java": "java",
        "kotlin": "kt kts",
        "scala": "scala sc",
        "groovy": "groovy gradle",
        "c": "c h",
        "cpp": "cc cpp cxx c++ hpp hh hxx h++ ipp",
        "csharp": "cs csx",
        "fsharp": "fs fsi fsx",
        "objectivec": "m mm",
        "swift": "swift",
        "ruby": "rb rake gemspec",
        "php": "php phtml",
        "perl": "pl pm",
        "lua": "lua",
        "r": "r",
        "julia": "jl",
        "dart": "dart",
        "elixir": "ex exs",
        "erlang": "erl hrl",
        "haskell": "hs",
        "ocaml": "ml mli",
        "clojure": "clj cljs cljc edn",
        "zig": "zig",
        "nim": "nim",
        "bash": "sh bash",
        "zsh": "zsh",
        "fish": "fish",
        "powershell": "ps1 psm1 psd1",
        "batch": "bat cmd",
        "sql": "sql",
        "html": "html htm xhtml",
        "css": "css",
        "scss": "scss",
        "sass": "sass",
        "less": "less",
        "vue": "vue",
        "svelte": "svelte",
        "astro": "astro",
        "json": "json jsonc json5 ipynb webmanifest",
        "jsonl": "jsonl ndjson",
        "yaml": "yaml yml",
        "toml": "toml",
        "ini": "ini cfg conf properties",
        "xml": "xml xsd xsl xslt svg plist csproj fsproj vbproj props",
        "markdown": "md markdown mdx",
        "rst": "rst",
        "latex": "tex sty",
        "graphql": "graphql gql",
        "protobuf": "proto",
        "terraform": "tf tfvars",
        "hcl": "hcl",
        "nix": "nix",
        "cmake": "cmake",
        "makefile": "mk mak",
        "dockerfile": "dockerfile",
        "starlark": "bzl bazel star",
        "solidity": "sol",
        "mermaid": "mmd mermaid",
        "diff": "diff patch",
        "csv": "csv",
        "vb": "vb",
        "asm": "asm s",
        "vim": "vim",
        "text": "txt",
    }.items()
}
_BY_EXTENSION = {
    extension: language for language, extensions in _EXTENSIONS.items() for extension in extensions
}


def language_of(path: str) -> str:
    """The language of the file at `path`, whatever the case of its name; empty when unknown."""
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    known = _NAMES.get(name)
    if known is not None:
        return known
    stem, _, extension = name.rpartition(".")
    if stem in ("dockerfile", "containerfile", "makefile"):
        return _NAMES[stem]
    return _BY_EXTENSION.get(extension, "") if stem else ""
