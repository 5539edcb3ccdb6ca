#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a reader of Chrome's trace format makes of a file: a model of how
Perfetto reads it, as far as our traces go.

usage: tool_import.py FILE     says what was lost; 0: nothing
       tool_import.py --test   each way to be refused, on a small file

The file is an array of events. A reader takes each object by itself, sorts all
by time (what is written first stays first), and keeps a stack of boxes for
each row:

  X   ts, dur      lies on the stack until its end; one that begins in a box
                   and ends behind it is dropped
  s f id           an arrow from, to the box that is uppermost at that moment;
                   the end binds to it by "bp": "e", and follows its start
  b e cat, id      a line of its own for each name and id; an end needs its
                   beginning, by the same name
  M                names a process, or the row that was met last

Facts: the Trace Event Format, and the sources of Perfetto's importer (2025).
"""
import collections
import json
import re
import sys

UINT32_END = 1 << 32
DEPTH_MAX = 512
# Beyond these escapes and between bytes 32 and 126 readers differ.
STRING = re.compile(r'"(?:[^"\\\x00-\x1f\x7f]|\\["\\/bfnrt])*"')
NUMBER = re.compile(r"-?\d+(?:\.\d+)?$")
KEYS = {
    "X": {"ph", "pid", "tid", "ts", "dur", "name", "cat", "args"},
    "s": {"ph", "pid", "tid", "ts", "name", "cat", "id"},
    "f": {"ph", "pid", "tid", "ts", "name", "cat", "id", "bp"},
    "b": {"ph", "pid", "tid", "ts", "name", "cat", "id2", "args"},
    "e": {"ph", "pid", "tid", "ts", "name", "cat", "id2", "args"},
    "M": {"ph", "pid", "tid", "ts", "name", "cat", "args"},
}
NAMED_BY = {"process_name": "name", "thread_name": "name",
            "process_labels": "labels"}

Slice = collections.namedtuple("Slice", "begin end dur name")


class Import:
    """A file as it is read. lost: what for, how often, the first event."""

    def __init__(self, text):
        self.lost = {}
        self.stacks = collections.defaultdict(list)
        self.names = {}      # of rows
        self.latest = {}     # tid: the row met last, which a name is for
        self.arrows = {}     # id: begun
        self.lines = collections.defaultdict(list)
        self.counts = collections.Counter()
        events = [self.check(e) for e in self.split(text)]
        for event in sorted((e for e in events if e), key=lambda e: e["at"]):
            self.counts[event["ph"]] += 1
            getattr(self, "read_" + event["ph"])(event)
        for key in self.lines:
            if self.lines[key]:
                self.lose("a line without end", key)

    def lose(self, why, what):
        count, first = self.lost.get(why, (0, what))
        self.lost[why] = count + 1, first

    # ---- text ----
    def split(self, text):
        """The objects of the array, read as no more than brackets and
        strings; numbers stay text."""
        bare = STRING.sub(lambda m: '"' + "_" * (len(m[0]) - 2) + '"', text)
        if not text.startswith("[") or not bare.rstrip().endswith("]"):
            self.lose("no array of events", text[:40])
        if "\\" in bare or bare.count('"') % 2 != 0:
            self.lose("a string that readers refuse", "")
        depth, begin = 0, 0
        for match in re.finditer(r"[{}]", bare):
            if match[0] == "{":
                begin = match.start() if depth == 0 else begin
                depth += 1
                continue
            depth -= 1
            if depth == 0:
                yield self.parse(text[begin:match.end()])
        if depth != 0:
            self.lose("an object without end", text[begin:begin + 40])

    def parse(self, text):
        try:
            return json.loads(text, parse_float=str, parse_int=str)
        except ValueError as error:
            self.lose("no JSON", f"{error}: {text[:80]}")
            return {}

    # ---- each by itself ----
    def nanoseconds(self, event, key):
        """As it is read: a time as text, a length as a double. None: it is no
        number of microseconds."""
        text = event.get(key)
        if not isinstance(text, str) or not NUMBER.match(text):
            self.lose(f"{key} is no number", event)
            return None
        if key == "dur":
            return int(float(text) * 1000)
        whole, _, part = text.partition(".")
        return int(whole) * 1000 + int(float("0." + (part or "0")) * 1000)

    def check(self, event):
        """The event with numbers, or None: nobody reads it."""
        phase = event.get("ph")
        if phase not in KEYS:
            self.lose("an unknown phase", event)
            return None
        if set(event) - {"bp"} != KEYS[phase] - {"bp"}:
            self.lose("other members than " + phase + " has", event)
            return None
        for key in ("pid", "tid"):
            if not event[key].isdigit() or int(event[key]) >= UINT32_END:
                self.lose(f"{key} is no number of 32 bits", event)
                return None
            event[key] = int(event[key])
        if not all(isinstance(event[k], str) and event[k]
                   for k in ("name", "cat") if k in event):
            self.lose("no name", event)
            return None
        event["at"] = self.nanoseconds(event, "ts")
        event["took"] = self.nanoseconds(event, "dur") if phase == "X" else 0
        if None in (event["at"], event["took"]):
            return None
        if min(event["at"], event["took"]) < 0:
            self.lose("a time below 0", event)
            return None
        return event

    # ---- by time ----
    def row(self, event):
        row = event["pid"], event["tid"]
        if row not in self.names:
            self.names[row] = None
            self.latest[event["tid"]] = row
        return row

    def read_M(self, event):
        row = self.row(event)
        key = NAMED_BY.get(event["name"])
        if key and not (isinstance(event["args"].get(key), str) and
                        event["args"][key]):
            self.lose("an empty name", event)
        elif event["name"] == "thread_name":
            if self.latest[event["tid"]] != row or self.names[row]:
                self.lose("the name is another row's", event)
            self.names[row] = event["args"]["name"]

    def read_X(self, event):
        stack = self.stacks[self.row(event)]
        new = Slice(event["at"], event["at"] + event["took"], event["took"],
                    event["name"])
        if self.names[self.row(event)] is None:
            self.lose("a box in a row without name", event)
        # What has ended goes; points in time lie on one another.
        stack[:] = [s for s in stack if s.end > new.begin or
                    (s.end == new.begin and s.dur == new.dur == 0)]
        if any(s.begin <= new.begin < s.end < new.end for s in stack):
            self.lose("a box that overlaps another", event)
        elif len(stack) >= DEPTH_MAX:
            self.lose("boxes too deep", event)
        else:
            stack.append(new)

    def arrow(self, event):
        """Its key; None: it has no box of its own."""
        stack = self.stacks[self.row(event)]
        if not re.match(r"0x[0-9a-f]{1,16}$", event["id"]):
            self.lose("an arrow without id", event)
        elif not stack or stack[-1].begin != event["at"]:
            self.lose("an arrow without a box", event)
        else:
            return event["cat"], event["name"], int(event["id"], 16)
        return None

    def read_s(self, event):
        key = self.arrow(event)
        if key in self.arrows:
            self.lose("two arrows of one id", event)
        elif key:
            self.arrows[key] = False

    def read_f(self, event):
        key = self.arrow(event)
        if event.get("bp") != "e":
            self.lose("an arrow that binds to the next box", event)
        elif key and self.arrows.get(key, True):
            self.lose("an arrow without start", event)
        elif key:
            self.arrows[key] = True

    def line(self, event):
        local = event["id2"].get("local")
        if not local:
            self.lose("a line without id", event)
        return event["pid"], event["cat"], local, event["name"]

    def read_b(self, event):
        self.row(event)
        self.lines[self.line(event)].append(event["at"])

    def read_e(self, event):
        self.row(event)
        stack = self.lines[self.line(event)]
        if not stack:
            self.lose("an end without beginning", event)
        else:
            stack.pop()


def read(path):
    with open(path, encoding="utf-8") as stream:
        return Import(stream.read())


# ---- does it notice? ----
ROW = ('{"ph":"M","pid":1,"tid":1,"ts":0.000,"name":"thread_name",'
       '"cat":"__metadata","args":{"name":"r"}}')
BOX = ('{"ph":"X","pid":1,"tid":1,"ts":%s,"dur":%s,"name":"n","cat":"send",'
       '"args":{}}')
ARROW = ('{"ph":"%s","pid":1,"tid":1,"ts":%s,"name":"message",'
         '"cat":"message","id":"%s"%s}')
LINE = ('{"ph":"%s","pid":1,"tid":1,"ts":%s,"name":"%s","cat":"request",'
        '"id2":{"local":"%s"},"args":{}}')
BOXES = BOX % ("1.000", "1.000"), BOX % ("2.000", "1.000")
START = ARROW % ("s", "1.000", "0x1", "")
END = ARROW % ("f", "2.000", "0x1", ',"bp":"e"')
LINES = LINE % ("b", "1.0", "a", "0x1"), LINE % ("e", "2.0", "a", "0x1")

FINE = (
    (ROW,),
    (ROW, *BOXES, START, END, *LINES),
    (ROW, BOXES[0], START, BOXES[1], END),
    # within, beside, at one moment; the outer one first
    (ROW, BOX % ("1.000", "5.000"), BOX % ("1.000", "2.000"),
     BOX % ("3.000", "3.000"), BOX % ("4.000", "0.000")),
    # by time, not as written
    (ROW, END, BOXES[1], START, BOXES[0])[:1] + (BOXES[1], END, BOXES[0],
                                                 START),
)
BAD = (
    ("no array of events", '{"traceEvents":[]}'),
    ("no array of events", "[" + ROW),
    ("an object without end", "[" + ROW[:-1] + "]"),
    ("a string that readers refuse", (ROW.replace('"r"', r'"\u0041"'),)),
    ("no JSON", (ROW.replace('"r"', '"a\tb"'),)),
    ("no JSON", (ROW.replace('"tid":1', '"tid":01'),)),
    ("an unknown phase", (ROW.replace('"M"', '"Y"'),)),
    ("an unknown phase", (ROW.replace('"ph":"M",', ""),)),
    ("other members than X has", (BOXES[0].replace(',"dur":1.000', ""),)),
    ("other members than s has", (START.replace('"id"', '"bind_id"'),)),
    ("pid is no number of 32 bits",
     (ROW.replace('"pid":1', '"pid":4294967296'),)),
    ("tid is no number of 32 bits", (ROW.replace('"tid":1', '"tid":"r"'),)),
    ("tid is no number of 32 bits", (ROW.replace('"tid":1', '"tid":-1'),)),
    ("no name", (ROW, BOXES[0].replace('"n"', '""'))),
    ("ts is no number", (ROW, BOX % ('"soon"', "1.0"))),
    ("ts is no number", (ROW, BOX % ("1e9", "1.0"))),
    ("dur is no number", (ROW, BOX % ("1.0", "null"))),
    ("a time below 0", (ROW, BOX % ("1.000", "-1.000"))),
    ("an empty name", (ROW.replace('"r"', '""'),)),
    ("the name is another row's",
     (ROW, ROW.replace('"pid":1', '"pid":2'), ROW)),
    ("a box in a row without name", (BOXES[0],)),
    ("a box that overlaps another",
     (ROW, BOX % ("1.000", "2.000"), BOX % ("2.000", "2.000"))),
    ("a box that overlaps another",
     (ROW, BOX % ("1.000", "2.000"), BOX % ("1.000", "3.000"))),
    ("boxes too deep", (ROW, *[BOX % ("1.000", "9.000")] * 513)),
    ("an arrow without id", (ROW, BOXES[0], START.replace("0x1", "one"))),
    ("an arrow without a box", (ROW, START, BOXES[0])),
    ("an arrow without a box",
     (ROW, BOXES[0], START.replace("1.000", "1.500"))),
    ("two arrows of one id", (ROW, BOXES[0], START, START)),
    ("an arrow without start", (ROW, BOXES[1], END)),
    ("an arrow without start", (ROW, *BOXES, START, END, END)),
    ("an arrow that binds to the next box",
     (ROW, *BOXES, START, END.replace(',"bp":"e"', ""))),
    ("a line without id", (LINES[0].replace("0x1", ""),)),
    ("a line without end", (LINES[0],)),
    ("an end without beginning", (LINES[1],)),
    ("an end without beginning",
     (LINES[0], LINES[1].replace('"a"', '"b"'))),
)


def test():
    failed = 0
    for expected, text in [(None, t) for t in FINE] + list(BAD):
        if not isinstance(text, str):
            text = "[\n" + ",\n".join(text) + "\n]\n"
        lost = set(Import(text).lost)
        if (expected not in lost) if expected else lost:
            print(f"expected {expected}, not {lost}: {text}")
            failed += 1
    print(f"{len(FINE) + len(BAD) - failed} samples as expected, "
          f"{failed} not")
    return 1 if failed else 0


def main():
    if sys.argv[1:] == ["--test"]:
        return test()
    done = read(sys.argv[1])
    for why, (count, first) in sorted(done.lost.items()):
        print(f"{count} times: {why}: {first}")
    print(dict(done.counts))
    return 1 if done.lost else 0


if __name__ == "__main__":
    sys.exit(main())
