#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of contrib/tidy: a small good tree passes, and each way to spoil it
is refused by the rule meant for it, at the file meant."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TIDY = Path(__file__).resolve().parent / "tidy"
C = "/* SPDX-License-Identifier: BSD-3-Clause */\n"


def header(guard, body=""):
    return f"{C}#ifndef {guard}\n#define {guard}\n{body}\n#endif\n"


GOOD = {
    "src/ucs/list.h": header("UCS_LIST_H_", "int ucs_list(int a);"),
    "src/ucs/list.c": C + '#include "ucs/list.h"\n\nint ucs_list(int a)\n'
                          "{\n    return a;\n}\n",
    "src/ucs/Makefile.inc": "X = %D%/list.c %D%/list.h\n",
    "src/uct/api/uct.h": header("UCT_API_UCT_H_", '#include "ucs/list.h"'),
    "src/uct/base/transports.c": C + '#include "uct/api/uct.h"\n'
                                     "int uct_tcp_transport;\n",
    "src/uct/self/self.c": C + '#include "uct/base/am.h"\nint uct_self;\n',
    "src/uct/tcp/tcp.c": C + '#include "uct/tcp/tcp.h"\n',
    "src/uct/tcp/tcp.h": header("UCT_TCP_TCP_H_"),
    "src/uct/base/am.h": header("UCT_BASE_AM_H_"),
    "src/uct/Makefile.inc": "X = %D%/api/uct.h %D%/base/transports.c "
                            "%D%/base/am.h %D%/self/self.c "
                            "%D%/tcp/tcp.c %D%/tcp/tcp.h\n",
    "src/ucp/api/ucp.h": header("UCP_H_", "#include <ucs/list.h>\n"
                                          "struct p { int field_mask; };"),
    "src/ucp/entry/ep.c": C + "#include <ucp/api/ucp.h>\n"
                              "int e(struct p *p);\nint e(struct p *p)\n"
                              "{\n    return p->field_mask;\n}\n",
    "src/ucp/core/ep.h": header("UCP_CORE_EP_H_", '#include "uct/api/uct.h"'),
    "src/ucp/Makefile.inc": "X = %D%/api/ucp.h %D%/entry/ep.c "
                            "%D%/core/ep.h\n",
    "src/tools/info.c": C + '#include <ucp/api/ucp.h>\n#include <stdio.h>\n'
                            'int i(void);\nint i(void)\n{\n'
                            '    return printf("%d", 1);\n}\n',
    "src/tools/Makefile.inc": "X = %D%/info.c\n",
    "test/ucs/test_list.c": C + "/* a test */\n",
    "test/ucs/Makefile.inc": "X = %D%/test_list.c\n",
    "contrib/tidy.allow": "# exceptions\n"
                          "tests src/uct/* the contract suite runs them\n"
                          "tests src/ucp/entry/ep.c its caller is tested\n"
                          "tests src/tools/info.c run by hand\n",
    "README.md": "See [the list](src/ucs/list.h), [us](https://example.org).\n",
}
LONG_FUNCTION = ("int ucs_long(void);\nint ucs_long(void)\n{\n" +
                 "    ;\n" * 60 + "    return 0;\n}\n")
NESTED = ("int f(int a)\n{\n    for (;;) {\n        while (a) {\n"
          "            if (a) {\n                int b[] = {1, 2};\n"
          "                %s\n            }\n        }\n    }\n"
          "    return 0;\n}\n")
LIST_C = GOOD["src/ucs/list.c"]
LIST_H = GOOD["src/ucs/list.h"]


# A protocol with its page.
PAGE = """# 9. Fast

     S                            R
     |---- ASK{tag, length} ---->|
     |==== put =================>|

**When.** Always.
**Messages.** ASK: `tag:8`.
**Cost.** None.
**Limits.** None.
**Failure.** Now and then.

| arrow | fails when | then |
|---|---|---|
| ASK, put | it is lost | it is sent again |

**Tests.** `test/ucp/test_fast.c`: `fast__is_fast`.
"""


def protocol(old="", new="", **more):
    assert old in PAGE
    return {
        "docs/protocols/README.md": "# Protocols\n",
        "docs/protocols/fast.md": PAGE.replace(old, new) if old else PAGE,
        "src/ucp/proto/fast.c": C + "const struct ucp_proto ucp_fast_proto = "
                                    "{0};\n",
        "src/ucp/Makefile.inc": GOOD["src/ucp/Makefile.inc"].rstrip() +
        " %D%/proto/fast.c\n",
        "test/ucp/test_fast.c": C + "void fast__is_fast(void);\n",
        "test/ucp/Makefile.inc": "X = %D%/test_fast.c\n", **more}


# A file of udp, which makes it a transport.
def udp(name, text):
    return {f"src/uct/udp/{name}": text if name.endswith(".h") else C + text,
            "src/uct/Makefile.inc": GOOD["src/uct/Makefile.inc"].rstrip() +
            f" %D%/udp/{name}\n",
            "src/ucs/fd.h": header("UCS_FD_H_"),
            "src/ucs/Makefile.inc": GOOD["src/ucs/Makefile.inc"].rstrip() +
            " %D%/fd.h\n"}


FAST = "docs/protocols/fast.md"

# name, rule, file that is blamed, {file: new text, or None to remove it}
BAD = (
    ("layers__upwards", "layers", "src/ucs/list.c",
     {"src/ucs/list.c": LIST_C + '#include "uct/api/uct.h"\n'}),
    ("layers__upwards_angle", "layers", "src/ucs/list.c",
     {"src/ucs/list.c": LIST_C + "#  include <ucp/api/ucp.h>\n"}),
    ("layers__not_api_of_below", "layers", "src/ucp/core/ep.h",
     {"src/ucp/core/ep.h": header("UCP_CORE_EP_H_",
                                  '#include "uct/base/am.h"')}),
    ("layers__other_transport", "layers", "src/uct/self/self.c",
     {"src/uct/self/self.c": C + '#include "uct/tcp/tcp.h"\n'}),
    ("layers__base_knows_transport", "layers", "src/uct/base/am.h",
     {"src/uct/base/am.h": header("UCT_BASE_AM_H_",
                                  '#include "uct/tcp/tcp.h"')}),
    ("layers__api_uses_base", "layers", "src/uct/api/uct.h",
     {"src/uct/api/uct.h": header("UCT_API_UCT_H_",
                                  '#include "uct/base/am.h"')}),
    ("layers__public_header_uses_private", "layers", "src/ucp/api/ucp.h",
     {"src/ucp/api/ucp.h": header("UCP_H_", '#include "ucp/core/ep.h"')}),
    ("layers__tool_looks_inside", "layers", "src/tools/info.c",
     {"src/tools/info.c": C + '#include "ucp/core/ep.h"\n'}),
    ("layers__relative_path", "layers", "src/ucs/list.c",
     {"src/ucs/list.c": LIST_C + '#include "list.h"\n'}),
    ("layers__includes_source", "layers", "src/uct/base/am.h",
     {"src/uct/base/am.h": header("UCT_BASE_AM_H_",
                                  '#include "ucs/list.c"')}),
    ("transport_names__in_ucp", "transport_names", "src/ucp/core/ep.h",
     {"src/ucp/core/ep.h": header("UCP_CORE_EP_H_", "int is_tcp_lane;")}),
    ("transport_names__as_string", "transport_names", "src/ucp/entry/ep.c",
     {"src/ucp/entry/ep.c": C + 'const char *e = "self";\n'}),
    ("transport_names__in_ucs", "transport_names", "src/ucs/list.h",
     {"src/ucs/list.h": header("UCS_LIST_H_", "int uct_tcp_count;\n")}),
    ("transport_names__by_another", "transport_names", "src/uct/self/self.c",
     {"src/uct/self/self.c": C + "int uct_tcp_iface;\n"}),
    ("field_mask__outside_entry", "field_mask", "src/ucp/core/ep.h",
     {"src/ucp/core/ep.h": header("UCP_CORE_EP_H_", "int field_mask;")}),
    ("file_length__source", "file_length", "src/ucs/list.c",
     {"src/ucs/list.c": LIST_C + "\n" * 500}),
    ("file_length__header", "file_length", "src/ucs/list.h",
     {"src/ucs/list.h": LIST_H + "\n" * 250}),
    ("function_length__61", "function_length", "src/ucs/list.c",
     {"src/ucs/list.c": LIST_C + LONG_FUNCTION}),
    ("function_length__hidden_brace", "function_length", "src/ucs/list.c",
     {"src/ucs/list.c": LIST_C + "int f(void) {\n    return 0;\n}\n"}),
    ("nesting__4", "nesting", "src/ucs/list.c",
     {"src/ucs/list.c": LIST_C + NESTED % "if (a) { a = b[0]; }"}),
    ("nesting__4_else", "nesting", "src/ucs/list.c",
     {"src/ucs/list.c": LIST_C + NESTED % "if (a) a = 0; else { a = 3; }"}),
    ("parameters__7", "parameters", "src/ucs/list.c",
     {"src/ucs/list.c": LIST_C + "int f(int a, int b, int c, int d,\n"
                                 "      int e, int g, int (*h)(int, int))\n"
                                 "{\n    return 0;\n}\n"}),
    ("spdx__missing", "spdx", "test/ucs/test_list.c",
     {"test/ucs/test_list.c": "/* a test */\n"}),
    ("spdx__missing_in_script", "spdx", "contrib/go",
     {"contrib/go": "#!/bin/sh\ntrue\n"}),
    ("guards__missing", "guards", "src/ucs/list.h",
     {"src/ucs/list.h": C + "int ucs_list(int a);\n"}),
    ("guards__wrong_name", "guards", "src/ucs/list.h",
     {"src/ucs/list.h": header("UCS_LITS_H_")}),
    ("guards__taken", "guards", "src/ucs/list.h",
     {"src/ucs/list.h": header("LIST_H_"),
      "src/tools/list.h": header("LIST_H_"),
      "src/tools/Makefile.inc": "X = %D%/info.c %D%/list.h\n"}),
    ("banned__strcpy", "banned", "src/ucs/list.c",
     {"src/ucs/list.c": LIST_C + "void f(void) { strcpy (a, b); }\n"}),
    ("banned__sprintf_in_test", "banned", "test/ucs/test_list.c",
     {"test/ucs/test_list.c": C + "int a = sprintf(b);\n"}),
    ("banned__clock", "banned", "src/uct/tcp/tcp.c",
     {"src/uct/tcp/tcp.c": C + "int a = clock_gettime(1, 2);\n"}),
    ("banned__printf", "banned", "src/ucs/list.c",
     {"src/ucs/list.c": LIST_C + 'int a = printf("x");\n'}),
    ("banned__fprintf_stderr", "banned", "src/ucs/list.c",
     {"src/ucs/list.c": LIST_C + 'int a = fprintf(\n   stderr, "x");\n'}),
    ("banned__volatile", "banned", "src/ucs/list.h",
     {"src/ucs/list.h": LIST_H + "extern volatile int a;\n"}),
    ("banned__sync", "banned", "src/ucs/list.c",
     {"src/ucs/list.c": LIST_C + "int a = __sync_fetch_and_add(&b, 1);\n"}),
    ("banned__attribute", "banned", "src/ucs/list.h",
     {"src/ucs/list.h": LIST_H + "int f(void) __attribute__((cold));\n"}),
    ("banned__userfaultfd", "banned", "src/ucs/list.c",
     {"src/ucs/list.c": LIST_C + "long a = syscall(SYS_userfaultfd, 0);\n"}),
    ("banned__userfaultfd_in_test", "banned", "test/ucs/test_list.c",
     {"test/ucs/test_list.c": C + "int a = ioctl(b, UFFDIO_API, c);\n"}),
    ("banned__allocator_hook", "banned", "src/ucs/list.c",
     {"src/ucs/list.c": LIST_C + "void *a = &__malloc_hook;\n"}),
    ("alloc__not_listed", "alloc", "src/ucs/list.c",
     {"src/ucs/list.c": LIST_C + "void *p = malloc(3);\n"}),
    ("pure_cores__header_of_sockets", "pure_cores", "src/uct/udp/udp_conn.c",
     udp("udp_conn.c", "#include <sys/socket.h>\n")),
    ("pure_cores__header_of_threads", "pure_cores", "src/uct/udp/udp_conn.h",
     udp("udp_conn.h", header("UDP_CONN_H_", "#include <pthread.h>"))),
    ("pure_cores__our_descriptors", "pure_cores", "src/uct/udp/udp_conn.c",
     udp("udp_conn.c", '#include "ucs/fd.h"\n')),
    ("pure_cores__like_the_rim", "pure_cores", "src/uct/udp/udp_socketless.c",
     udp("udp_socketless.c", "#include <poll.h>\n")),
    ("pure_cores__call", "pure_cores", "src/uct/udp/udp_conn.c",
     udp("udp_conn.c", "long a = sendto(b, c);\n")),
    ("todo__without_issue", "todo", "src/ucs/list.c",
     {"src/ucs/list.c": LIST_C + "/* TODO: more */\n"}),
    ("todo__fixme", "todo", "src/ucs/list.c",
     {"src/ucs/list.c": LIST_C + "/* FIXME */\n"}),
    ("own_header__not_first", "own_header", "src/ucs/list.c",
     {"src/ucs/list.c": C + '#include <stdio.h>\n#include "ucs/list.h"\n'}),
    ("tests__missing", "tests", "src/ucs/list.c",
     {"test/ucs/test_list.c": None, "test/ucs/Makefile.inc": ""}),
    ("tests__orphan", "tests", "test/ucs/test_gone.c",
     {"test/ucs/test_gone.c": C,
      "test/ucs/Makefile.inc": "X = %D%/test_list.c %D%/test_gone.c\n"}),
    ("dead_files__not_built", "dead_files", "src/ucs/list.c",
     {"src/ucs/Makefile.inc": "X = %D%/list.h %D%/list.cc\n"}),
    ("links__broken", "links", "README.md", {"README.md": "[x](no/file.md)"}),
    ("protocol_pages__none", "protocol_pages", "src/ucp/proto/fast.c",
     protocol(**{FAST: None})),
    ("protocol_pages__of_nobody", "protocol_pages", "docs/protocols/slow.md",
     protocol(**{"docs/protocols/slow.md": PAGE})),
    ("protocol_pages__no_drawing", "protocol_pages", FAST,
     protocol("     |", "  ")),
    ("protocol_pages__no_part", "protocol_pages", FAST,
     protocol("**Limits.**", "Limits:")),
    ("protocol_pages__empty_part", "protocol_pages", FAST,
     protocol("**Cost.** None.", "**Cost.**")),
    ("protocol_pages__no_table", "protocol_pages", FAST,
     protocol("| fails when", "| if")),
    ("protocol_pages__arrow_without_row", "protocol_pages", FAST,
     protocol("| ASK, put |", "| ASK |")),
    ("protocol_pages__row_without_arrow", "protocol_pages", FAST,
     protocol("| ASK, put |", "| ASK, put, FIN |")),
    ("protocol_pages__no_such_file", "protocol_pages", FAST,
     protocol("test_fast.c", "test_fats.c")),
    ("protocol_pages__no_such_test", "protocol_pages", FAST,
     protocol("fast__is_fast", "fast__is_slow")),
    ("headers__not_alone", "headers", "src/uct/tcp/tcp.h",
     {"src/uct/tcp/tcp.h": header("UCT_TCP_TCP_H_", "size_t tcp(int a);")}),
    ("headers__public_not_cpp", "headers", "src/ucp/api/ucp.h",
     {"src/ucp/api/ucp.h": header("UCP_H_", "struct p { int class; };")}),
    ("format__spaces", "format", "src/ucs/list.c",
     {".clang-format": "DisableFormat: true\n",
      "src/ucs/.clang-format": "BasedOnStyle: LLVM\nIndentWidth: 4\n"
                               "BreakBeforeBraces: Linux\n",
      "src/ucs/list.c": LIST_C.replace("return a;", "return  a ;")}),
    ("allow__unused_row", "allow", "contrib/tidy.allow",
     {"contrib/tidy.allow": GOOD["contrib/tidy.allow"] +
      "alloc src/ucs/list.c not true\n"}),
    ("allow__no_reason", "allow", "contrib/tidy.allow",
     {"contrib/tidy.allow": GOOD["contrib/tidy.allow"] +
      "tests src/ucs/list.c\n"}),
    ("allow__no_such_rule", "allow", "contrib/tidy.allow",
     {"contrib/tidy.allow": GOOD["contrib/tidy.allow"] + "tets * some why\n"}),
)

# Not to be refused: name, {file: text}
FINE = (
    ("good__tree", {}),
    ("good__comment_and_string", {
        "src/ucs/list.c": LIST_C + '/* strcpy( volatile malloc( "tcp" */\n'
                                   'const char *f = "printf(volatile";\n'}),
    ("good__asm_volatile", {
        "src/ucs/list.c": LIST_C + 'int f(void);\nint f(void)\n{\n'
                                   '    __asm__ volatile("");\n    return 0;\n'
                                   '}\n'}),
    ("good__60_lines", {
        "src/ucs/list.c": LIST_C + LONG_FUNCTION.replace("    ;\n", "", 1)}),
    ("good__nesting_3", {"src/ucs/list.c": LIST_C + NESTED % "a = b[1];"}),
    ("good__members_named_like_calls", {
        "src/ucs/list.c": LIST_C + "int a = b->free(c) + d.time(e);\n"}),
    ("good__fprintf_to_stream", {
        "src/ucs/list.c": LIST_C + 'int a = fprintf(stream, "x");\n'}),
    ("good__rim_calls", udp("udp_io_send.c", "#include <poll.h>\n"
                                             "long a = sendto(b, c);\n")),
    ("good__core_of_members", udp("udp_conn.c", "#include <string.h>\n"
                                  "int a = b->send(c) + conn_close(d);\n")),
    ("good__todo_with_issue", {
        "src/ucs/list.c": LIST_C + "/* TODO(#12): grow by chunks. */\n"}),
    ("good__protocol_page", protocol()),
    ("good__self_is_a_word", {
        "src/ucp/core/ep.h": header("UCP_CORE_EP_H_", "struct self *self;")}),
)


def run(changes):
    with tempfile.TemporaryDirectory() as folder:
        for path, text in {**GOOD, **changes}.items():
            if text is not None:
                file = Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
        return subprocess.run(
            [sys.executable, str(TIDY), "--root", folder], check=False,
            capture_output=True, text=True,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})


def main():
    counts = {True: 0, False: 0}

    def result(name, passed, done):
        counts[passed] += 1
        print(f"{'ok   ' if passed else 'FAIL '} {name}")
        if not passed:
            print(done.stdout + done.stderr)

    for name, changes in FINE:
        done = run(changes)
        result(name, done.returncode == 0, done)
    for name, rule, path, changes in BAD:
        done = run(changes)
        blamed = [l for l in done.stdout.splitlines() if f": [{rule}] " in l]
        result(name, done.returncode == 1 and len(blamed) > 0 and
               all(l.startswith(path + ":") for l in blamed), done)
    empty = run({path: None for path in GOOD})
    result("good__empty_tree_fails", empty.returncode == 2, empty)
    listed = subprocess.run([sys.executable, str(TIDY), "--list"], check=True,
                            capture_output=True, text=True).stdout
    rules = {line.split()[0] for line in listed.splitlines()}
    untried = rules - {rule for _, rule, _, _ in BAD}
    result("bad__every_rule_is_tried", not untried, empty)
    print(f"{counts[True]} passed, {counts[False]} failed, 0 skipped")
    return 0 if counts[False] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
