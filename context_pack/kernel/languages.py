"""The name of a file's language, as Markdown fences spell it: by well-known name, else by extension.

Only the path is looked at, never the content; an unknown language is the empty string.
"""

from __future__ import annotations


def _by_word(table: dict[str, str]) -> dict[str, str]:
    return {word: language for language, words in table.items() for word in words.split()}


_NAMES = _by_word(
    {
        "dockerfile": "dockerfile containerfile",
        "makefile": "makefile gnumakefile",
        "cmake": "cmakelists.txt",
        "meson": "meson.build",
        "groovy": "jenkinsfile",
        "ruby": "vagrantfile gemfile rakefile podfile brewfile fastfile",
        "just": "justfile",
        "yaml": "procfile",
        "starlark": "build.bazel tiltfile",
        "python": "sconstruct",
        "go": "go.mod",
        "toml": "cargo.lock poetry.lock uv.lock pipfile",
        "json": "pipfile.lock composer.lock .babelrc .eslintrc .prettierrc",
        "bash": ".bashrc .bash_profile .profile",
        "zsh": ".zshrc",
        "ini": ".editorconfig .gitconfig .gitmodules",
        "gitignore": ".gitignore .dockerignore .ignore",
    }
)
_EXTENSIONS = _by_word(
    {
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
    }
)


def language_of(path: str) -> str:
    """The language of the file at `path`, whatever the case of its name; empty when unknown."""
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    known = _NAMES.get(name)
    if known is not None:
        return known
    stem, _, extension = name.rpartition(".")
    if stem in ("dockerfile", "containerfile", "makefile"):
        return _NAMES[stem]
    return _EXTENSIONS.get(extension, "") if stem else ""
