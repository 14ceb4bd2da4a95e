"""The laboratory's report in a real browser: all plots drawn, labels readable, nothing to complain about. Needs the Debian package chromium."""

import html
import json
import os
import re
import shutil
import subprocess

import pytest

TROUPE = os.environ.get("TROUPE_BIN", "troupe")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

SPEC = """
title: For the browser
data: {kind: digits, examples: 300, tests: 100}
model: {kind: mlp, hidden: [16]}
workers: 4
seeds: [1, 2]
length: {updates: 60}
target: 0.3
times: {compute: {exponential: 1}, network: 0.05}
faults: [{worker: 2, slow: 2}]
modes: [sync, sync+1, ssp(1), async, async(aware), auto, auto(ssp)]
"""

# Reads the page as a person would: what is drawn where, and how large.
LOOK = """
<script>
function box(element) { const r = element.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; }
const plots = [...document.querySelectorAll("svg")].map(svg => ({
  box: box(svg),
  shapes: [...svg.querySelectorAll("path, polyline, rect, line, circle")].filter(s => { const r = s.getBoundingClientRect(); return r.width + r.height > 0; }).length,
  texts: [...svg.querySelectorAll("text")].map(t => ({text: t.textContent, box: box(t), size: parseFloat(getComputedStyle(t).fontSize)})),
}));
const found = {plots: plots, headings: [...document.querySelectorAll("h2, figcaption")].map(h => h.textContent), width: document.documentElement.scrollWidth,
               window: window.innerWidth};
document.body.innerHTML = "<pre id='found'></pre>";
document.getElementById("found").textContent = JSON.stringify(found);
</script>
"""


def browse(tmp_path, page, *options):
    """The page's own words on the console, and what the browser prints."""
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={tmp_path}/profile", "--enable-logging=stderr",
         "--window-size=1200,1600", *options, page.as_uri()], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return [line for line in done.stderr.splitlines() if "CONSOLE" in line], done.stdout


@pytest.mark.skipif(not CHROMIUM, reason="there is no browser: install the Debian package chromium")
def test_a_report_is_readable(tmp_path):
    (tmp_path / "spec.yaml").write_text(SPEC)
    subprocess.run([TROUPE, "lab", "run", tmp_path / "spec.yaml", "--out", tmp_path / "out"], check=True, capture_output=True)
    report = tmp_path / "out/report.html"
    console, _ = browse(tmp_path, report, f"--screenshot={tmp_path}/report.png")
    assert console == []
    assert (tmp_path / "report.png").stat().st_size > 20_000

    looked = tmp_path / "looked.html"
    looked.write_text(report.read_text() + LOOK)
    console, dom = browse(tmp_path, looked, "--dump-dom")
    assert console == []
    found = json.loads(html.unescape(re.search(r'<pre id="found">(.*?)</pre>', dom, re.DOTALL)[1]))
    for heading in ["Test accuracy against time", "Test accuracy against updates", "Time to accuracy 0.3", "Time per update", "Throughput", "Gradients dropped", "Staleness"]:
        assert any(heading in h for h in found["headings"]), (heading, found["headings"])
    assert found["width"] <= found["window"], "the page is wider than its window"
    assert len(found["plots"]) >= 10
    for plot in found["plots"]:
        left, top, right, bottom = plot["box"]
        assert right - left > 100 and bottom - top > 30 and plot["shapes"] > 0, plot
        texts = [t for t in plot["texts"] if t["text"].strip()]
        assert texts, plot
        for t in texts:
            assert t["size"] >= 9, t
            assert t["box"][0] >= left - 1 and t["box"][2] <= right + 1 and t["box"][1] >= top - 1 and t["box"][3] <= bottom + 1, (t, plot["box"])
        for i, a in enumerate(texts):
            for b in texts[:i]:
                across = min(a["box"][2], b["box"][2]) - max(a["box"][0], b["box"][0])
                down = min(a["box"][3], b["box"][3]) - max(a["box"][1], b["box"][1])
                assert across <= 1 or down <= 3, f"{a} is written over {b}"
