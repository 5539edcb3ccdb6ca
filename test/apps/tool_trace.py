#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check traces, or make one of another host out of one of ours.

usage: tool_trace.py check PROCESSES FILE      JSON, and what it must mean
       tool_trace.py move SECONDS IN OUT       another boot, another clock
       tool_trace.py shift FILE                how far arrows go back, in us
"""
import collections
import json
import sys


def check_arrows(events):
    """Each message has one start and one end, not before it."""
    ends = collections.defaultdict(list)
    for event in events:
        if event["ph"] in "sf":
            ends[event["id"]].append(event)
    for pair in ends.values():
        assert [e["ph"] for e in sorted(pair, key=lambda e: e["ph"])] == [
            "f", "s"], pair
        start, end = sorted(pair, key=lambda e: e["ph"] != "s")
        assert end["ts"] >= start["ts"], pair
    return len(ends)


def check_requests(events):
    """What begins ends, once before it begins again."""
    is_open = set()
    for event in events:
        key = event["pid"], str(event.get("id2"))
        if event["ph"] == "b":
            assert key not in is_open, event
            is_open.add(key)
        elif event["ph"] == "e":
            is_open.remove(key)
    assert not is_open


def check_boxes(events):
    """Boxes of one row lie beside or within one another."""
    rows = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            rows[event["pid"], event["tid"]].append(
                (round(event["ts"] * 1000),
                 round((event["ts"] + event["dur"]) * 1000)))
    for boxes in rows.values():
        stack = []
        for begin, end in sorted(boxes, key=lambda b: (b[0], -b[1])):
            while stack and stack[-1] <= begin:
                stack.pop()
            assert not stack or end <= stack[-1], (begin, end, stack)
            stack.append(end)


def check_bytes(events):
    """What requests promised is what messages carried and peers got."""
    carried = collections.Counter()
    for event in events:
        if event["ph"] == "X" and event["name"] != "ANNOUNCE":
            carried[event["cat"]] += event["args"]["bytes"]
    assert carried["send"] == carried["receive"] > 0, carried


def check(processes, path):
    with open(path, encoding="utf-8") as stream:
        events = json.load(stream)
    assert len({e["pid"] for e in events}) == int(processes)
    named = {(e["pid"], e["tid"]) for e in events
             if e["ph"] == "M" and e["name"] == "thread_name"}
    assert all((e["pid"], e["tid"]) in named for e in events if e["ph"] != "M")
    if int(processes) > 1:
        times = [e["ts"] for e in events if e["ph"] != "M"]
        assert times == sorted(times)
        check_bytes(events)
        print(check_arrows(events), "messages")
    check_requests(events)
    check_boxes(events)
    print(len(events), "events")


def move(seconds, source, target):
    lines = []
    with open(source, encoding="utf-8") as stream:
        for line in stream:
            if line[0] == "{":
                event = json.loads(line.rstrip(",\n"))
                if "ts" in event:
                    event["ts"] = round(event["ts"] + float(seconds) * 1e6, 3)
                if event["name"] == "causeway_clock":
                    event["args"]["boot"] = "another"
                lines.append(json.dumps(event, separators=(",", ":")))
    with open(target, "w", encoding="utf-8") as stream:
        stream.write("[\n" + ",\n".join(lines) + "\n]\n")


def shift(path):
    with open(path, encoding="utf-8") as stream:
        events = json.load(stream)
    starts = {e["id"]: e["ts"] for e in events if e["ph"] == "s"}
    took = [e["ts"] - starts[e["id"]] for e in events if e["ph"] == "f"]
    assert min(took) > -1, min(took)
    assert min(took) < 1000, min(took)
    print("%.3f us at least" % min(took))


if __name__ == "__main__":
    {"check": check, "move": move, "shift": shift}[sys.argv[1]](*sys.argv[2:])
