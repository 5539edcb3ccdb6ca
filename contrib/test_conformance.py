#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of contrib/update-conformance: a skip, a test that is gone, one that is
new, a failure: each makes --check fail; what a machine forbids does not, but
hides nothing else. The log is made from the document's own table.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/transports/conformance.md"
outcomes = {"ok": 0, "FAIL": 0}


def log_lines():
    """What uct_conform prints for the table: [(outcome, name, reason)]."""
    lines, suite, columns = [], None, []
    for line in PAGE.read_text().split("table: begin -->")[1].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] == "test":
            columns = cells[1:]
        elif cells[0].startswith("**conform"):
            suite = cells[0].strip("*")
        elif re.fullmatch(r"\w+__\w+", cells[0]):
            for column, cell in zip(columns, cells[1:]):
                if cell:
                    lines.append(["ok" if cell == "pass" else "skip",
                                  f"{suite}.{cells[0]}/{column}",
                                  cell.partition(": ")[2]])
    return lines


def run(lines, *options, page=PAGE):
    with tempfile.NamedTemporaryFile("w", suffix=".log") as log:
        for outcome, name, reason in lines:
            log.write(f"{outcome:<5} {name}" +
                      (f": {reason}\n" if reason else " (3 ms)\n"))
        log.flush()
        return subprocess.run(
            [str(ROOT / "contrib/update-conformance"), *options, log.name,
             str(page)], capture_output=True, text=True, check=False)


def expect(name, lines, passes, text):
    result = run(lines, "--check")
    said = result.stdout + result.stderr
    good = (result.returncode == 0) == passes and text in said
    outcomes["ok" if good else "FAIL"] += 1
    print(f"{'ok   ' if good else 'FAIL '} {name}")
    if not good:
        print("  | status", result.returncode, said[-400:])


def changed(lines, name, outcome, reason):
    """The log with another outcome of the first test of that name."""
    lines = [list(line) for line in lines]
    line = next(line for line in lines if name in line[1])
    line[0], line[2] = outcome, reason
    return lines


def main():
    lines = log_lines()
    passing = "conform_flush.flush__comes_after_all_before/"
    expect("check__the_same", lines, True, "as in the document")
    expect("check__new_skip", changed(lines, passing, "skip", "am_bcopy"),
           False, "skip: am_bcopy")
    expect("check__failure", changed(lines, passing, "FAIL", "line 7"), False,
           "failed: no table of failures")
    expect("check__test_gone", [x for x in lines if passing not in x[1]], False,
           "another one")
    expect("check__test_new",
           lines + [["ok", passing.replace("__comes", "__also") + "sm.2", ""]],
           False, "flush__also")
    expect("check__column_gone", [x for x in lines if not
                                  x[1].endswith("/example.2")], False,
           "another one")
    expect("check__log_of_nothing", [], False, "no results")
    forbidden = changed(lines, passing + "sm.1", "skip", "not here: ptrace")
    expect("check__forbidden_here", forbidden, True, "1 not tested here")
    expect("check__forbidden_hides_nothing",
           changed(forbidden, passing + "sm.2", "skip", "am_bcopy"), False,
           "skip: am_bcopy")
    with tempfile.NamedTemporaryFile("w+", suffix=".md") as page:
        page.write(PAGE.read_text())
        page.flush()
        new_skip = changed(lines, passing, "skip", "am_bcopy")
        good = (run(new_skip, page=page.name).returncode == 0 and
                run(new_skip, "--check", page=page.name).returncode == 0 and
                run(lines, "--check", page=page.name).returncode != 0)
        outcomes["ok" if good else "FAIL"] += 1
        print(f"{'ok   ' if good else 'FAIL '} write__then_check")
    print(f"{outcomes['ok']} passed, {outcomes['FAIL']} failed, 0 skipped")
    return 1 if outcomes["FAIL"] or not outcomes["ok"] else 0


sys.exit(main())
