#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every fact that COVERAGE.md names is printed by the program it names.

usage: check_coverage.py COVERAGE.md FOLDER   (with <program>.ours files)

In the table of facts a cell reads "program: fact, fact; program: fact". A *
stands for anything, <size> too; ".x" is a fact of that program that ends so.
Words in parentheses and quotes are for people.
"""
import fnmatch
import re
import sys
from pathlib import Path


def facts_of(path):
    return {line.split(": ", 1)[0] for line in path.read_text().splitlines()
            if ": " in line}


def rows(text):
    """The cells of the first table with facts, as (row, cell)."""
    for line in text.split("## Rows without a fact")[0].splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 2 and cells[0] != "row":
            yield cells


def named(cell):
    """(program, pattern) for each fact that a cell names."""
    cell = re.sub(r"\([^)]*\)|\"[^\"]*\"|`", "", cell)
    program = None
    for part in re.split(r"[;,]", cell):
        words = part.split(":")
        if len(words) > 1:
            program = words[-2].split()[-1] if words[-2].split() else program
        pattern = words[-1].strip()
        if re.fullmatch(r"[a-z0-9_.*<>x]+", pattern):
            yield program, re.sub(r"<\w+>", "*", pattern)


def main():
    coverage, folder = Path(sys.argv[1]), Path(sys.argv[2])
    facts = {path.name[:-len(".ours")]: facts_of(path)
             for path in folder.glob("*.ours")}
    count, wrong = 0, 0
    for row, cell in rows(coverage.read_text()):
        for program, pattern in named(cell):
            count += 1
            wanted = "*" + pattern if pattern.startswith(".") else pattern
            if not fnmatch.filter(facts.get(program, ()), wanted):
                wrong += 1
                print(f"{coverage.name}: {row}: {program} prints no {pattern}")
    print(f"coverage: {count} facts named, {wrong} wrong")
    return 1 if wrong or count < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
