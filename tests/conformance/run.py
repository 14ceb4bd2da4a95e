"""Runs the conformance suite: run.py [OP…] [--backend stage|node] [--family MODULE] [--gaps] [--write-docs]."""

import argparse
import atexit
import os
import pathlib
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")


def arguments():
    parser = argparse.ArgumentParser(description="Compares Troupe's ops with TensorFlow's.")
    parser.add_argument("ops", nargs="*", metavar="OP", help="only cases of these ops")
    parser.add_argument("--backend", choices=("stage", "node"), default=None, help="single kernels, or a running node (default: a node if TROUPE_BIN is there)")
    parser.add_argument("--target", help="a node that already runs: grpc://host:port")
    parser.add_argument("--family", help="only this module of cases")
    parser.add_argument("--case", help="only this case, by its key")
    parser.add_argument("--gaps", action="store_true", help="list what has no kernel or no case, and fail on it, as a run of the whole suite does")
    parser.add_argument("--write-docs", action="store_true", help="write docs/ops.md from the results")
    parser.add_argument("--details", type=int, default=3, metavar="N", help="disagreements shown for each op (default 3)")
    parser.add_argument("--refusals", action="store_true", help="list what TensorFlow refuses, to tell cases that were meant to have values")
    parser.add_argument("--once", action="store_true", help="do not ask TensorFlow again where the answers disagree")
    parser.add_argument("--times", action="store_true", help="say where the time went")
    return parser.parse_args()


def main():
    args = arguments()
    begun = time.perf_counter()
    import framework
    import report
    from suite import Suite, load_cases
    from varying import find_varying

    framework.want_only(args.ops)
    cases = load_cases(args.family)
    if args.ops:
        wanted = set(args.ops)
        cases = [c for c in cases if wanted & set(c.ops)]
    if args.case:
        cases = [c for c in cases if c.key == args.case]
    if not cases:
        sys.exit("no case fits")
    backend = args.backend or ("node" if args.target or os.path.exists(os.environ.get("TROUPE_BIN", "")) else "stage")
    suite = Suite(backend, args.target)
    kernels = suite.stage.runner.kernels() if suite.stage else None
    verdicts = list(suite.run(cases))
    suite.close()
    varying = () if args.once else find_varying([v for v in verdicts if v.wrong is not None and not v.skipped])
    for v in verdicts:
        v.varies = v.case.key in varying
    whole = not (args.ops or args.family or args.case)
    report.print_table(verdicts, kernels, short=whole)
    report.print_details(verdicts, kernels, args.details)
    bad = report.print_summary(verdicts, kernels, time.perf_counter() - begun)
    if args.times:
        print(", ".join(f"{what} {seconds:.1f} s" for what, seconds in suite.seconds.items()))
    if args.refusals:
        report.print_refusals(verdicts)
    if args.gaps or whole:
        bad = report.print_gaps(verdicts, kernels, set(args.ops)) or bad
    if args.write_docs:
        report.write_docs(verdicts)
    sys.stdout.flush()
    atexit._run_exitfuncs()
    # Not the usual way out: threads of TensorFlow may still be at work on what was closed.
    os._exit(1 if bad else 0)


def guarded():
    """Runs the suite in a process of its own: where TensorFlow aborts, it is said which cases it was given."""
    with tempfile.NamedTemporaryFile() as progress:
        environment = {**os.environ, "TROUPE_CONFORMANCE_PROGRESS": progress.name}
        status = subprocess.run([sys.executable, *sys.argv], env=environment).returncode
        if status < 0:
            print(f"ended by signal {-status} while TensorFlow ran\n" + pathlib.Path(progress.name).read_text())
        sys.exit(status if status >= 0 else 2)


if __name__ == "__main__":
    if "TROUPE_CONFORMANCE_PROGRESS" in os.environ:
        main()
    else:
        guarded()
