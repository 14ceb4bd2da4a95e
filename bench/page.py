"""The results as a page with bars and curves, complete in itself."""

import html
import math

STYLE = """
body { font: 15px/1.4 sans-serif; margin: 2em auto; max-width: 64em; color: #222 }
table { border-collapse: collapse; width: 100% } td, th { padding: .3em .6em; text-align: left; border-bottom: 1px solid #ddd }
td.n { text-align: right; font-variant-numeric: tabular-nums } .bar { height: .55em; margin: 1px 0; border-radius: 2px }
.tensorflow { background: #f0a050; stroke: #f0a050 } .troupe { background: #3a7ca5; stroke: #3a7ca5 } .floor { background: #bbb; stroke: #bbb }
svg { width: 30em; height: auto; margin-right: 1em } svg text { font-size: 11px; fill: currentColor } svg .axis { stroke: #999 } svg .curve { fill: none; stroke-width: 2 }
@media (prefers-color-scheme: dark) { body { background: #181818; color: #ddd } td, th { border-color: #444 } }
"""
WIDTH, HEIGHT, LEFT, BOTTOM = 460, 300, 60, 40


def number(value):
    return "" if value is None else f"{value:.4g}"


def bars(row):
    largest = max(row["median"].values()) or 1
    return "".join(f'<div class="bar {kind}" style="width:{max(0.0, 100 * value / largest):.1f}%" title="{kind}: {value:.4g}"></div>'
                   for kind, value in row["median"].items())


def table_row(row):
    median = row["median"]
    cells = [number(median.get("tensorflow")), number(median["troupe"]), number(median.get("floor")), number(row["ratio"])]
    return (f'<tr><td>{html.escape(row["name"])}</td>' + "".join(f'<td class="n">{cell}</td>' for cell in cells)
            + f'<td>{html.escape(row["target"])}</td><td style="width:30%">{bars(row)}</td></tr>')


class Scale:
    """A logarithmic axis over whole decades."""

    def __init__(self, values, begin, end):
        self.low, self.high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)) + 1e-9)
        self.begin, self.end = begin, end

    def at(self, value):
        return self.begin + (math.log10(value) - self.low) / max(1, self.high - self.low) * (self.end - self.begin)

    def ticks(self):
        return [10.0**i for i in range(self.low, self.high + 1)]


def plot(curve):
    """Both axes are logarithmic: what grows linearly has a slope of one, and is flat while the step's own cost is larger."""
    points = [p for series in curve["points"].values() for p in series]
    x, y = Scale([p[0] for p in points], LEFT, WIDTH - 10), Scale([p[1] for p in points], HEIGHT - BOTTOM, 10)
    parts = [f'<line class="axis" x1="{LEFT}" y1="{HEIGHT - BOTTOM}" x2="{WIDTH - 10}" y2="{HEIGHT - BOTTOM}"/>',
             f'<line class="axis" x1="{LEFT}" y1="10" x2="{LEFT}" y2="{HEIGHT - BOTTOM}"/>']
    parts += [f'<text x="{x.at(t):.0f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{t:g}</text>' for t in x.ticks()]
    parts += [f'<text x="{LEFT - 6}" y="{y.at(t) + 4:.0f}" text-anchor="end">{t:g}</text>' for t in y.ticks()]
    parts.append(f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{html.escape(curve["x_name"])}; microseconds per step</text>')
    for kind, series in curve["points"].items():
        line = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in series)
        parts.append(f'<polyline class="curve {kind}" points="{line}"><title>{kind}</title></polyline>')
    return f'<figure><figcaption>{html.escape(curve["name"])}</figcaption><svg viewBox="0 0 {WIDTH} {HEIGHT}">{"".join(parts)}</svg></figure>'


def render(results):
    limits = "".join(f"<li>{html.escape(name)}: {value:.0f}</li>" for name, value in results["machine"].items())
    return f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Troupe beside TensorFlow</title><style>{STYLE}</style>
<h1>Troupe beside TensorFlow</h1>
<p>Medians of interleaved windows with the same client. <span class="tensorflow">&emsp;</span> TensorFlow
<span class="troupe">&emsp;</span> Troupe <span class="floor">&emsp;</span> a server that does nothing but answer</p>
<table><tr><th>workload</th><th>TensorFlow</th><th>Troupe</th><th>floor</th><th>ratio</th><th>aim</th><th></th></tr>
{chr(10).join(map(table_row, results["rows"]))}</table>
<h2>Growth</h2>{"".join(map(plot, results["curves"]))}
<p>This machine:</p><ul>{limits}</ul></html>
"""
