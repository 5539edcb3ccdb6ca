#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Read what `causeway perf --csv` and `--json` printed, strictly.

usage: tool_output.py csv|json FILE
"""
import csv
import json
import math
import sys


def number(row, name):
    value = float(row[name])
    assert math.isfinite(value) and value >= 0, (name, value)
    return value


def check(rows):
    """Tests lat and bw over 8 and 1024, with limits, checked."""
    assert len(rows) == 4, len(rows)
    assert [(r["test"], int(r["size_bytes"])) for r in rows] == [
        ("lat", 8), ("lat", 1024), ("bw", 8), ("bw", 1024)]
    for row in rows:
        assert row["unit"] == {"lat": "us", "bw": "MB/s"}[row["test"]]
        order = [number(row, n) for n in ("min", "p10", "median", "p90", "max")]
        assert order == sorted(order) and order[0] > 0, order
        assert int(row["repetitions"]) == 3 and int(row["iterations"]) > 0
        assert int(row["window"]) == {"lat": 1, "bw": 64}[row["test"]]
        assert int(row["verified_messages"]) > 0
        ratio = number(row, "median") / number(row, "limit")
        assert abs(number(row, "ratio") / ratio - 1) < 0.01
        number(row, "cpu_percent")
        for raw in ("raw_udp", "raw_tcp"):
            ratio = number(row, "median") / number(row, raw)
            assert abs(number(row, raw + "_ratio") / ratio - 1) < 0.01, raw
        # 8 and 1024 bytes fit in a packet: there is nothing to cut.
        assert not row.get("raw_udp_segments")


def main():
    kind, path = sys.argv[1:]
    with open(path, newline="", encoding="utf-8") as stream:
        if kind == "csv":
            rows = list(csv.DictReader(stream, strict=True))
            assert all(None not in r and None not in r.values() for r in rows)
            assert all("libucp" in r["library"] for r in rows)
            assert len({r["seed"] for r in rows}) == 1
        else:
            report = json.load(stream)
            assert "libucp" in report["library"] and report["library_version"]
            assert len(report["cpus"]) == 2 and report["seed"] > 0
            assert 0 <= report["idle_cpu_percent"] <= 101
            rows = report["rows"]
    check(rows)
    print(f"{len(rows)} rows")


if __name__ == "__main__":
    main()
