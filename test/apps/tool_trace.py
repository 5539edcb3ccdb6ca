#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check traces, or make one of another host out of one of ours.

usage: tool_trace.py check PROCESSES FILE      what Perfetto would lose of it
                                               (tool_import.py), and what it
                                               must mean
       tool_trace.py move SECONDS IN OUT       another boot, another clock
       tool_trace.py shift FILE                how far arrows go back, in us
"""
import collections
import json
import sys

import tool_import


def check_bytes(events):
    """What requests promised is what messages carried and peers got."""
    carried = collections.Counter()
    for event in events:
        if event["ph"] == "X" and event["name"] != "ANNOUNCE":
            carried[event["cat"]] += event["args"]["bytes"]
    assert carried["send"] == carried["receive"] > 0, carried


def check(processes, path):
    done = tool_import.read(path)
    if int(processes) == 1:
        done.lost.pop("an arrow without start", None)  # in the peer's file
    assert not done.lost, done.lost
    with open(path, encoding="utf-8") as stream:
        events = json.load(stream)
    assert len({e["pid"] for e in events}) == int(processes)
    if int(processes) > 1:
        times = [e["ts"] for e in events if e["ph"] != "M"]
        assert times == sorted(times)
        check_bytes(events)
        assert done.arrows and all(done.arrows.values())
        print(len(done.arrows), "messages")
    print(len(events), "events")


def move(seconds, source, target):
    lines = []
    with open(source, encoding="utf-8") as stream:
        for line in stream:
            if line[0] == "{":
                event = json.loads(line.rstrip(",\n"))
                if event["ph"] != "M":
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
