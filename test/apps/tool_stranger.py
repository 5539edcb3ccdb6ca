#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Connect to `causeway perf --listen` and send what no client would.

The server has to end with one message and code 1, in time, every time.
usage: tool_stranger.py CAUSEWAY
"""
import contextlib
import random
import re
import socket
import struct
import subprocess
import sys

MAGIC = 0x6672657079777363


def message(kind, data):
    return struct.pack("<II", kind, len(data)) + data


def words(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def hello(sleep=0, size=4096, magic=MAGIC, version=1):
    return message(1, words(magic, version, sleep, size))


def strangers():
    """Name, bytes."""
    yield "nothing", b""
    yield "a browser", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    yield "a length that lies", struct.pack("<II", 1, 0xffffffff)
    yield "an unknown type", message(77, b"")
    yield "half a head", b"\1\0\0"
    yield "another magic", hello(magic=1)
    yield "another version", hello(version=2)
    yield "an impossible buffer", hello(size=1 << 62)
    yield "an impossible sleep", hello(sleep=99)
    yield "a short hello", message(1, words(MAGIC))
    yield "a fail with escapes", message(9, b"\x1b[2Jgone" + bytes(900))
    yield "a fail too long", message(9, bytes(5000))
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    source = random.Random(seed)
    for _ in range(5):
        yield "noise", source.randbytes(source.randrange(1, 200))


def try_one(causeway, name, data):
    server = subprocess.Popen(
        [causeway, "perf", "--listen", "127.0.0.1:0", "--timeout", "5"],
        stderr=subprocess.PIPE, text=True)
    try:
        port = int(re.search(r"port (\d+)", server.stderr.readline())[1])
        with socket.create_connection(("127.0.0.1", port), 10) as client:
            with contextlib.suppress(OSError):  # it may have hung up
                client.sendall(data)
                client.shutdown(socket.SHUT_WR)
            errors = server.stderr.read()
            code = server.wait(10)
    finally:
        server.kill()
    assert code == 1, (name, code, errors)
    lines = errors.splitlines()
    assert 1 <= len(lines) <= 2, (name, errors)
    assert all(t.startswith("causeway perf: ") for t in lines), (name, errors)
    assert "\x1b" not in errors, (name, errors)


def main():
    count = 0
    for name, data in strangers():
        try_one(sys.argv[1], name, data)
        count += 1
    print(f"strangers: {count}")


if __name__ == "__main__":
    main()
