"""The style sheet of the page: light and dark, screen and paper, wide and narrow.

Colours are named once per scheme (`LIGHT`, `DARK`), so that a test can measure every pair that text is shown
in. Dark is for screens only: paper stays white. Nothing is fetched; fonts are the reader's own.
"""

from __future__ import annotations

from collections.abc import Mapping

LIGHT: Mapping[str, str] = {
    "page": "#f6f7f9",
    "sheet": "#ffffff",
    "sunk": "#f6f8fa",
    "line": "#d5dae1",
    "ink": "#1f2328",
    "soft": "#57606a",
    "link": "#0a58ca",
    "mark": "#fff3bf",
    "good": "#116329",
    "good-bg": "#dcf5e3",
    "calm": "#0a4d9e",
    "calm-bg": "#dfeeff",
    "plain": "#4b535d",
    "plain-bg": "#e9ecf0",
    "warn": "#7a4a00",
    "warn-bg": "#fff1cc",
    "bad": "#a4161e",
    "bad-bg": "#ffe3e2",
    "c": "#59636e",
    "k": "#b4202c",
    "s": "#0a3069",
    "n": "#0550ae",
    "f": "#6639ba",
    "b": "#8a3c00",
    "d": "#6639ba",
    "t": "#116329",
    "x": "#a4161e",
    "shade": "#00000040",
}
DARK: Mapping[str, str] = {
    "page": "#0d1117",
    "sheet": "#161b22",
    "sunk": "#0f141b",
    "line": "#333b45",
    "ink": "#e6edf3",
    "soft": "#a3adb8",
    "link": "#79b8ff",
    "mark": "#3d3414",
    "good": "#7ee2a0",
    "good-bg": "#12351f",
    "calm": "#9ccbff",
    "calm-bg": "#14304f",
    "plain": "#c3cad3",
    "plain-bg": "#2a313a",
    "warn": "#f2cc60",
    "warn-bg": "#3b2e0c",
    "bad": "#ffa8a1",
    "bad-bg": "#4a1b1d",
    "c": "#9aa4af",
    "k": "#ff8f87",
    "s": "#a5d6ff",
    "n": "#79c0ff",
    "f": "#d2a8ff",
    "b": "#ffb077",
    "d": "#d2a8ff",
    "t": "#7ee787",
    "x": "#ffa8a1",
    "shade": "#ffffff40",
}
CODE_CLASSES = ("c", "k", "s", "n", "f", "b", "d", "t", "x")
STATE_COLOURS: Mapping[str, str] = {
    "exact": "good",
    "unanchored": "plain",
    "moved": "calm",
    "changed": "warn",
    "ambiguous": "warn",
    "stale": "bad",
}

_RULES = """
*,*::before,*::after{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-padding-top:1rem}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",
    Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:anywhere}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:4px}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;
    font-size:.875em}
h1,h2,h3,h4,h5,h6{line-height:1.25;margin:0;text-wrap:balance}
.skip{position:absolute;left:-9999px}
.skip:focus{left:1rem;top:1rem;padding:.5rem 1rem;background:var(--sheet);z-index:1}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.wrap{max-width:80rem;margin:0 auto;padding:2rem 1.5rem 4rem}
.top{background:var(--sheet);border:1px solid var(--line);border-radius:14px;padding:1.75rem 2rem}
.top .kind{margin:0 0 .35rem;color:var(--soft);font-size:.8rem;font-weight:600;letter-spacing:.08em;
    text-transform:uppercase}
.top h1{font-size:clamp(1.5rem,1.1rem + 2vw,2.15rem)}
.top .brief{margin:.75rem 0 0;font-size:1.08rem;color:var(--soft);max-width:70ch}
.chips{display:flex;flex-wrap:wrap;gap:.4rem;margin:1rem 0 0;padding:0;list-style:none}
.badge,.chip{display:inline-block;border-radius:999px;padding:.1rem .7rem;font-size:.82rem;font-weight:600}
.badge{white-space:nowrap}
.chip,.badge.draft{background:var(--plain-bg);color:var(--plain)}
.chip{font-weight:500}
.badge.finalized{background:var(--good-bg);color:var(--good)}
.about{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));gap:.75rem 1.25rem;
    margin:1.25rem 0 0;padding-top:1.25rem;border-top:1px solid var(--line)}
.about dt{color:var(--soft);font-size:.8rem}
.about dd{margin:0;font-weight:500}
.attention{margin:1.25rem 0 0;padding:1rem 1.25rem;border-radius:10px;background:var(--warn-bg);
    color:var(--warn)}
.attention h2{font-size:1rem}
.attention ul{margin:.5rem 0 0;padding-left:1.2rem}
.attention a{color:inherit}
.body{display:grid;grid-template-columns:17rem minmax(0,1fr);gap:2rem;margin-top:2rem;align-items:start}
.toc{position:sticky;top:1rem;max-height:calc(100vh - 2rem);overflow:auto;font-size:.9rem}
.toc summary{font-weight:600;padding:.25rem 0}
.toc ol,.toc ul{list-style:none;margin:0;padding:0}
.toc>details>ol>li{margin-top:.7rem}
.toc ul{margin:.2rem 0 0;padding-left:.8rem;border-left:2px solid var(--line)}
.toc a{display:block;padding:.12rem 0;text-decoration:none}
.toc ol>li>a{color:var(--ink);font-weight:600}
.toc ul a{color:var(--soft)}
.toc a:hover{text-decoration:underline}
.toc .sign{font-weight:700}
main{min-width:0}
section{margin-bottom:2.75rem}
section>h2{font-size:1.45rem;padding-bottom:.5rem;border-bottom:1px solid var(--line)}
h1 a,h2 a,h3 a,h4 a{color:inherit;text-decoration:none}
h2 a:hover,h3 a:hover,h4 a:hover{text-decoration:underline}
h2 .key{color:var(--soft);font-size:.85rem;font-weight:400}
section>h3{margin:1.75rem 0 0;font-size:1.02rem;color:var(--soft)}
.prose{max-width:75ch;margin-top:1rem}
.prose>:first-child{margin-top:0}
.prose .plain{white-space:pre-wrap}
.prose pre,.prose table{overflow-x:auto;max-width:100%}
.prose table{display:block;border-collapse:collapse}
.prose th,.prose td{border:1px solid var(--line);padding:.3rem .6rem}
.prose blockquote{margin:1rem 0;padding-left:1rem;border-left:3px solid var(--line);color:var(--soft)}
.prose :not(pre)>code{background:var(--plain-bg);padding:.1em .35em;border-radius:5px}
.prose pre{border:1px solid var(--line);border-radius:8px;padding:.75rem 1rem}
.ref,.diagram{margin:1.1rem 0 0;background:var(--sheet);border:1px solid var(--line);
    border-left:4px solid var(--edge,var(--line));border-radius:10px;overflow:hidden}
.ref:target,.diagram:target{box-shadow:0 0 0 3px var(--link)}
.ref>header{display:flex;flex-wrap:wrap;gap:.4rem .8rem;justify-content:space-between;
    align-items:baseline;padding:.9rem 1.1rem 0}
.ref h3,.ref h4,.diagram h3,.diagram h4{font-size:1.05rem}
.facts{display:grid;grid-template-columns:auto minmax(0,1fr);gap:.15rem .9rem;margin:.5rem 0 0;
    padding:0 1.1rem .9rem;font-size:.93rem}
.facts dt{color:var(--soft)}
.facts dd{margin:0}
.was{color:var(--soft)}
.place{user-select:all;-webkit-user-select:all}
.warning{margin:0 1.1rem 1rem;padding:.6rem .9rem;border-radius:8px;background:var(--warn-bg);
    color:var(--warn);font-size:.93rem}
.ref.stale .warning{background:var(--bad-bg);color:var(--bad)}
.code{border-top:1px solid var(--line)}
summary{cursor:pointer}
.code>summary{padding:.4rem 1.1rem;color:var(--soft);font-size:.83rem}
.code pre{margin:0;padding:.6rem 0;overflow-x:auto;line-height:1.5;tab-size:4;
    overflow-wrap:normal;border-top:1px solid var(--line)}
.code pre:focus-visible{outline-offset:-3px}
.diagram .code pre,.diff pre{padding:.6rem 1.1rem}
.diff ins{text-decoration:none;color:var(--good)}
.diff del{text-decoration:none;color:var(--bad)}
.code pre>code{display:block;width:max-content;min-width:100%}
.l{display:block;padding:0 1rem 0 var(--gutter);unicode-bidi:isolate;--gutter:calc(var(--digits) + 2rem)}
.l>a{display:inline-block;width:var(--gutter);margin-left:calc(0rem - var(--gutter));
    padding:0 .9rem 0 1.1rem;text-align:right;color:var(--soft);text-decoration:none;user-select:none;
    -webkit-user-select:none}
.l>a:hover{color:var(--link);text-decoration:underline}
.l:target{background:var(--mark)}
.diagram figcaption{padding:.9rem 1.1rem .6rem}
.diagram .why{margin:.3rem 0 0;font-size:.93rem;color:var(--soft)}
.code pre,.prose pre,.prose table,.drawing{--ground:var(--sunk);background:
    linear-gradient(to right,var(--ground) 40%,transparent) left/2.5rem 100% no-repeat local,
    linear-gradient(to left,var(--ground) 40%,transparent) right/2.5rem 100% no-repeat local,
    linear-gradient(to right,var(--shade),transparent) left/.9rem 100% no-repeat scroll,
    linear-gradient(to left,var(--shade),transparent) right/.9rem 100% no-repeat scroll,var(--ground)}
.prose table{--ground:var(--page)}
.drawing{--ground:var(--sheet)}
.drawing.paper{--ground:#fff}
.drawing{padding:1rem 1.1rem;overflow-x:auto;border-top:1px solid var(--line)}
.drawing img{display:block;max-width:100%;height:auto;margin:0 auto}
.empty{color:var(--soft)}
footer{margin-top:3rem;padding-top:1rem;border-top:1px solid var(--line);color:var(--soft);font-size:.85rem}
@media (max-width:60rem){
  .body{display:block}
  .toc{position:static;max-height:none;margin-bottom:2rem;background:var(--sheet);
    border:1px solid var(--line);border-radius:10px;padding:.6rem 1.1rem}
}
@media (max-width:40rem){
  .wrap{padding:.75rem .75rem 3rem}
  .top{padding:1.1rem 1.1rem 1.25rem;border-radius:10px}
  .about{grid-template-columns:repeat(auto-fill,minmax(8.5rem,1fr))}
  .l{--gutter:calc(var(--digits) + 1.2rem)}
  .l>a{padding:0 .6rem}
}
@media print{
  body{background:#fff;font-size:11pt}
  .wrap{max-width:none;padding:0}
  .skip{display:none}
  .body{display:block}
  .toc{position:static;max-height:none;overflow:visible}
  .ref,.diagram{overflow:visible}
  .ref>header,.facts,h2,h3,h4{break-after:avoid}
  .diagram{break-inside:avoid}
  .code pre{overflow:visible}
  .code pre>code{width:auto}
  .l{white-space:pre-wrap;break-inside:avoid}
  .drawing{overflow:visible}
  .drawing img{min-width:0!important}
  .badge,.chip,.warning,.attention{print-color-adjust:exact;-webkit-print-color-adjust:exact}
}
@media (forced-colors:active){.badge,.chip{border:1px solid}}
"""


def _variables(colours: Mapping[str, str]) -> str:
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())


def style_sheet() -> str:
    """The whole style sheet."""
    states = "".join(
        f".badge.{state}{{background:var(--{colour}-bg);color:var(--{colour})}}"
        f".{state}{{--edge:var(--{colour})}}.toc .{state}{{color:var(--{colour})}}"
        for state, colour in STATE_COLOURS.items()
    )
    code = "".join(f"pre .{name}{{color:var(--{name})}}" for name in CODE_CLASSES)
    return (
        f":root{{color-scheme:light;{_variables(LIGHT)}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{color-scheme:dark;{_variables(DARK)}}}}}"
        f"{_RULES}{states}\n{code}pre .c{{font-style:italic}}\n"
    )
