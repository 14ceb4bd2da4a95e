"""The results as a page with bars, complete in itself."""

import html

STYLE = """
body { font: 15px/1.4 sans-serif; margin: 2em auto; max-width: 60em; color: #222 }
table { border-collapse: collapse; width: 100% } td, th { padding: .3em .6em; text-align: left; border-bottom: 1px solid #ddd }
td.n { text-align: right; font-variant-numeric: tabular-nums } .bar { height: .55em; margin: 1px 0; border-radius: 2px }
.tensorflow { background: #f0a050 } .troupe { background: #3a7ca5 } .floor { background: #bbb }
@media (prefers-color-scheme: dark) { body { background: #181818; color: #ddd } td, th { border-color: #444 } }
"""


def bars(row):
    largest = max(row["median"].values()) or 1
    return "".join(f'<div class="bar {kind}" style="width:{100 * value / largest:.1f}%" title="{kind}: {value:.4g}"></div>'
                   for kind, value in row["median"].items())


def render(rows, machine):
    lines = []
    for row in rows:
        median = row["median"]
        floor = f'{median["floor"]:.4g}' if "floor" in median else ""
        lines.append(f'<tr><td>{html.escape(row["name"])}</td><td class="n">{median["tensorflow"]:.4g}</td><td class="n">{median["troupe"]:.4g}</td>'
                     f'<td class="n">{floor}</td><td class="n">{row["ratio"]:.3f}</td><td>{html.escape(row["target"])}</td>'
                     f'<td style="width:30%">{bars(row)}</td></tr>')
    limits = "".join(f"<li>{html.escape(name)}: {value:.0f}</li>" for name, value in machine.items())
    return f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Troupe beside TensorFlow</title><style>{STYLE}</style>
<h1>Troupe beside TensorFlow</h1>
<p>Medians of interleaved windows with the same client. <span class="tensorflow">&emsp;</span> TensorFlow
<span class="troupe">&emsp;</span> Troupe <span class="floor">&emsp;</span> a server that does nothing but answer</p>
<table><tr><th>workload</th><th>TensorFlow</th><th>Troupe</th><th>floor</th><th>ratio</th><th>aim</th><th></th></tr>
{chr(10).join(lines)}</table><p>This machine:</p><ul>{limits}</ul></html>
"""
