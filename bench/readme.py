"""The README's table, made from results."""

import re

BEGIN, END = "<!-- bench: made by ./run bench --write_readme -->", "<!-- end of bench -->"


def number(value):
    if value is None:
        return ""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def table(results):
    lines = ["| workload | TensorFlow 2.15.1 | Troupe | ratio | aim | do-nothing server |", "|---|---|---|---|---|---|"]
    for row in results["rows"]:
        median = row["median"]
        lines.append(f"| {row['name']} | {number(median.get('tensorflow'))} | {number(median['troupe'])} | {number(row['ratio'])} | {row['target']} | "
                     f"{number(median.get('floor'))} |")
    limits = "; ".join(f"{name} {number(value)}" for name, value in results["machine"].items())
    return "\n".join([*lines, "", f"This machine: {limits}."])


def write(path, results):
    with open(path) as file:
        text = file.read()
    between = re.compile(re.escape(BEGIN) + ".*" + re.escape(END), re.DOTALL)
    if not between.search(text):
        raise SystemExit(f"{path} has no place for the table: {BEGIN} ... {END}")
    with open(path, "w") as file:
        file.write(between.sub(lambda _: f"{BEGIN}\n{table(results)}\n{END}", text))
