# SPDX-License-Identifier: BSD-3-Clause
"""udp_garbage.py COUNT RATE PORT...: COUNT packets to those ports of 127.0.0.1,
RATE each second at most: noise, packets of udp that are cut, and whole ones
with a tag that is wrong. With `--aside` before them they go to a socket of
this process instead, which nobody reads. Prints how many went."""
import random
import socket
import struct
import sys
import time

EXTENSIONS = [0, 16, 24, 24, 16, 40, 16, 0, 0, 0, 8, 8, 8, 40, 40, 40, 40]
BURST = 32


def packet(draw):
    kind = draw.randrange(len(EXTENSIONS))
    head = struct.pack("<IIIHBBBBBBHHQ", draw.getrandbits(32),
                       draw.randrange(100), draw.randrange(100), 4096,
                       kind | 1 << 5, 0, 1, 0, 0, 0, 0, 0, draw.getrandbits(64))
    whole = head + draw.randbytes(EXTENSIONS[kind])
    return draw.choice([draw.randbytes(draw.randrange(1, 1400)),
                        whole[:draw.randrange(1, len(whole))],
                        whole, whole + draw.randbytes(64)])


def main(words):
    aside = words[0] == "--aside"
    count, rate, *ports = map(int, words[aside:])
    draw = random.Random(1)
    packets = [packet(draw) for _ in range(4096)]
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sink.bind(("127.0.0.1", 0))
    if aside:
        ports = [sink.getsockname()[1]]
    begin, sent = time.monotonic(), 0
    while sent < count:
        for _ in range(BURST):
            try:
                out.sendto(packets[sent % len(packets)],
                           ("127.0.0.1", ports[sent % len(ports)]))
            except OSError:
                pass  # nobody is at that port any more
            sent += 1
        early = begin + sent / rate - time.monotonic()
        if early > 0:
            time.sleep(early)
    print(sent)


main(sys.argv[1:])
