"""How the HTML report looks: one style sheet, light and dark, on paper too.

Layers have the colours of Okabe and Ito, which the colour-blind can tell apart, and their letter.
"""

from __future__ import annotations

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report.html_bins import LEVELS

LAYER_COLOURS = {
    Layer.PYTORCH: "#e69f00",
    Layer.RUNTIME: "#56b4e9",
    Layer.BOUNDARY: "#009e73",
    Layer.CUDA: "#cc79a7",
    Layer.PRECISION: "#d8c71f",
    Layer.NONE: "#9a9a9a",
    Layer.UNKNOWN: "#6f6f6f",
}

_ROLES = {"compute": "#7a8fb0", "comm": "#b86f95", "copy": "#b08a5a"}

_SHEET = """
:root{color-scheme:light dark;--bg:#fff;--fg:#1d1d1f;--dim:#5f6368;--line:#d9dce1;--card:#f6f7f9}
@media(prefers-color-scheme:dark){:root{--bg:#16181c;--fg:#e3e5e8;--dim:#9aa0a6;--line:#34383f;
--card:#1f2228}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem 1.25rem;max-width:76rem;background:var(--bg);color:var(--fg);
font:15px/1.45 system-ui,sans-serif}
h1{font-size:1.45rem;margin:.1rem 0}h2{font-size:1.05rem;margin:1.4rem 0 .4rem}
h3{font-size:1rem;margin:0}
.facts,.note{color:var(--dim);margin:.2rem 0}
code,pre,td.n,.label,.told{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.85em}
.side{display:inline-block;padding:.05rem .5rem;border:1px solid currentColor;border-radius:1rem;
font-size:.8em;font-weight:600;vertical-align:.1em}
.budget{display:flex;height:1.6rem;border-radius:.3rem;overflow:hidden;margin:.6rem 0 .3rem}
.budget span{min-width:1px;color:#111;text-align:center;font-weight:600;overflow:hidden;
white-space:nowrap}
.bg-unjudged{background:repeating-linear-gradient(45deg,#b5b5b5 0 3px,#d5d5d5 3px 6px)}
.legend{display:flex;flex-wrap:wrap;gap:.1rem 1rem;font-size:.85em;color:var(--dim)}
.legend b{display:inline-block;min-width:1.3em;text-align:center;color:#111;border-radius:.2em;
margin-right:.3em}
.finding{border:1px solid var(--line);border-left-width:.4rem;border-radius:.3rem;
background:var(--card);padding:.5rem .8rem;margin:.5rem 0;overflow-wrap:anywhere}
.finding dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem .8rem;margin:.3rem 0 0}
.finding dt{color:var(--dim)}.finding dd{margin:0}
.worth{float:right;margin-left:1rem;font-weight:600;text-align:right}
.timeline{display:grid;grid-template-columns:max-content 1fr;gap:2px .6rem;align-items:center}
.timeline.heat{grid-template-columns:max-content 1fr max-content}
.label,.told{color:var(--dim);white-space:nowrap;max-width:16rem;overflow:hidden;
text-overflow:ellipsis}
.row{height:14px;position:relative;background:var(--card)}.row.owners{height:18px}
.row.axis{background:none}
.row i{position:absolute;font-style:normal;font-size:.7em;color:var(--dim);line-height:14px;
border-left:1px solid var(--line);padding-left:2px;white-space:nowrap}
.row svg{display:block;width:100%;height:100%}
table{border-collapse:collapse;font-size:.9em}td,th{padding:.12rem .6rem;text-align:left;
border-bottom:1px solid var(--line)}td.n,th.n{text-align:right;white-space:nowrap}
.wide{overflow-x:auto}td:first-child code{overflow-wrap:anywhere}
details{margin:.5rem 0}dd details{margin:0}dd summary{font-weight:400}summary{cursor:pointer;font-weight:600}
pre{background:var(--card);padding:.6rem;overflow-x:auto;margin:.4rem 0}
.t{fill:transparent}.t:hover{stroke:var(--fg);stroke-width:.06}
@media print{body{max-width:none}.row,.budget{-webkit-print-color-adjust:exact;
print-color-adjust:exact}}
"""


def style_sheet() -> str:
    """The whole style sheet."""
    layers = "".join(
        f".l-{layer.id}{{fill:{colour}}}.bg-{layer.id}{{background:{colour}}}"
        f".edge-{layer.id}{{border-left-color:{colour}}}"
        for layer, colour in LAYER_COLOURS.items()
    )
    roles = "".join(f".r-{role}{{fill:{colour}}}" for role, colour in _ROLES.items())
    shades = "".join(f".s{n}{{fill-opacity:{0.25 + 0.75 * n / LEVELS:.2f}}}"
                     for n in range(1, LEVELS + 1))  # fmt: skip
    roles += "".join(f".bg-{role}{{background:{colour}}}" for role, colour in _ROLES.items())
    return _SHEET + layers + roles + shades
