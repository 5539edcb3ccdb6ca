#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Read what `causeway explain --json` printed, and check its sense.

usage: tool_explain.py FILE
"""
import collections
import json
import sys

SIZE_MAX = 2**64 - 1


def cost(offer, size):
    return offer["base_s"] + size * offer["per_byte_s"]


def check_table(rows):
    """Ranges follow one another from 0 to the end; the costs grow."""
    size = 0
    for row in rows:
        assert row["bytes_first"] == size, row
        assert row["bytes_last"] >= size, row
        assert cost(row, size) > 0 and row["per_byte_s"] >= 0, row
        size = row["bytes_last"] + 1
    assert size == SIZE_MAX + 1, rows


def check_loser(loser):
    """Whoever lost was refused, is for other sizes, or is dearer."""
    if loser["verdict"] == "refused":
        assert loser["reason"], loser
    elif loser["verdict"] == "size":
        assert (loser["offer_last"] < loser["bytes_first"] or
                loser["offer_first"] > loser["bytes_last"]), loser
    else:
        assert loser["verdict"] == "dearer", loser
        for by in loser["by_first_s"], loser["by_last_s"]:
            assert by is None or by >= -1e-12, loser


def main():
    with open(sys.argv[1], encoding="utf-8") as stream:
        records = [json.loads(line) for line in stream]
    kinds = collections.defaultdict(list)
    for record in records:
        kinds[record["record"]].append(record)
    tables = collections.defaultdict(list)
    names = {r["protocol"] for r in kinds["protocol"] + kinds["lost"]}
    for row in kinds["protocol"]:
        tables[row["mode"], row["datatype"]].append(row)
    assert len(tables) == 20, sorted(tables)
    for rows in tables.values():
        check_table(rows)
    for loser in kinds["lost"]:
        check_loser(loser)
    losers = collections.Counter((r["mode"], r["datatype"], r["bytes_first"])
                                 for r in kinds["lost"])
    assert set(losers.values()) == {len(names) - 1}, losers
    assert sum(lane["percent"] for lane in kinds["lane"]) >= 100
    assert sum(c["verdict"] == "taken" for c in kinds["candidate"]) >= 1
    assert len(kinds["rights"]) >= 2
    print(f"{len(names)} protocols, {len(kinds['protocol'])} ranges")


if __name__ == "__main__":
    main()
