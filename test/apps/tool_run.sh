#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# causeway run: what it sets, that it proves which libucp was loaded, that it
# tells why another one was, signals, exit codes; first with a stand-in for
# our libraries, then with ours.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/tool_lib.sh"

ours=$tool_work/ours foreign=$tool_work/foreign
mkdir "$ours" "$foreign" "$tool_work/tmp"
for folder in ours foreign; do
    flags=$([ $folder = ours ] || echo -DSTANDIN_SILENT)
    # shellcheck disable=SC2086
    compile $folder/libucp.so.0 -shared -fPIC -Wl,-soname,libucp.so.0 $flags \
        "$tool_src/tool_standin.c" -ldl
    echo 'int tool_nothing;' >"$tool_work/nothing.c"
    for library in ucm ucs uct; do
        compile $folder/lib$library.so.0 -shared -fPIC \
            -Wl,-soname,lib$library.so.0 "$tool_work/nothing.c"
    done
done
link="$tool_src/tool_client.c $foreign/libucp.so.0"
# shellcheck disable=SC2086
{
    compile plain $link
    compile rpath $link -Wl,--disable-new-dtags,-rpath,"$foreign"
    compile runpath $link -Wl,--enable-new-dtags,-rpath,"$foreign"
}
echo 'int main(void) { return 0; }' >"$tool_work/empty.c"
compile static -static "$tool_work/empty.c"
TMPDIR=$tool_work/tmp
export TMPDIR

# go WORD...: run the stand-in's clients
go() {
    run "$tool_causeway" run --libdir "$ours" "$@"
    [ -z "$(ls "$tool_work/tmp")" ] || notok "$*" "it left files"
}
cd_plain=$tool_work/plain

go "$cd_plain" init
expect "ours was loaded" 0 err "^causeway run: 1 process used $ours/libucp.so.0"
go "$cd_plain" init init init
expect "one process is counted once" 0 err ': 1 process used'
go "$tool_work/runpath" init
expect "RUNPATH comes later" 0 err ': 1 process used'
go sh -c "$cd_plain init; $cd_plain init & $cd_plain init; wait"
expect "three processes" 0 err ': 3 processes used'
go --quiet -- "$cd_plain" init
expect "quiet" 0 err ''
[ ! -s "$tool_work/err" ] || notok "quiet" "it is not"

# nobody loaded ours, and why
go /bin/true
expect "a program without libucp" 125 err \
    'no process used Causeway: neither /bin/true nor what it started'
go "$cd_plain" other
expect "loaded but not initialised" 125 err 'did not call ucp_init'
go "$tool_work/static"
expect "a static program" 125 err 'is statically linked'
go "$tool_work/rpath" init
expect "RPATH, by the file" 125 err \
    "loads $foreign/libucp.so.0; .*rpath has an RPATH .$foreign.*--preload"
(sleep 4; touch "$tool_work/go") &
go sh -c "$tool_work/rpath init wait $tool_work/go; true"
expect "RPATH, seen while it runs" 125 err \
    "process [0-9]+ .rpath. loaded $foreign/libucp.so.0; .*has an RPATH"
rm -f "$tool_work/go"
(sleep 4; touch "$tool_work/go") &
go sh -c "$cd_plain init
    LD_LIBRARY_PATH=$foreign $cd_plain init wait $tool_work/go; true"
expect "only some processes" 125 err \
    'only some processes .1. used Causeway: process .* loaded .*foreign'
go --preload "$tool_work/rpath" init
expect "preload beats RPATH" 0 err ': 1 process used'
cp -r "$ours" "$tool_work/elsewhere"
go env LD_LIBRARY_PATH="$tool_work/elsewhere" "$cd_plain" init
expect "another Causeway" 125 err "another Causeway, .*elsewhere"

# exit codes, signals
go "$cd_plain" init exit 7
expect "exit code" 7 err ': 1 process used'
go "$cd_plain" exit 7
expect "exit code of a program without ours" 7 err 'no process used Causeway'
go "$cd_plain" init raise 9
expect "killed" 137 err ': 1 process used'
go "$tool_work/absent"
expect "no such program" 127 err 'absent: No such file'
go "$tool_work/empty.c"
expect "not a program" 126 err 'empty.c: Permission denied'
rm -f "$tool_work/ready"
"$tool_causeway" run --libdir "$ours" sh -c "trap 'exit 9' TERM
    $cd_plain init; touch $tool_work/ready
    while :; do sleep 0.1; done" 2>"$tool_work/err" &
pid=$!
tries=0
while [ ! -e "$tool_work/ready" ] && [ $tries -lt 400 ]; do
    tries=$((tries + 1))
    sleep 0.05 # a poll with a deadline
done
# libtool's script in the build tree execs, so the pid is the command's
kill -TERM $pid
code=0
wait $pid || code=$?
expect "signals are passed on" 9 err ': 1 process used'

# the environment
go sh -c "$cd_plain init; env"
for variable in OMPI_MCA_pml=ucx 'OMPI_MCA_osc=\^ucx' \
    OMPI_MCA_opal_common_ucx_tls=any OMPI_MCA_opal_common_ucx_devices=any \
    MPIR_CVAR_CH4_NETMOD=ucx "LD_LIBRARY_PATH=$ours"; do
    expect "sets $variable" 0 out "^$variable"
done
! grep -q ALLOW_RUN_AS_ROOT "$tool_work/out" ||
    notok "root" "it allows what nobody asked for"
run env OMPI_MCA_pml=ob1 LD_LIBRARY_PATH=/somewhere "$tool_causeway" run \
    --libdir "$ours" --allow-root sh -c "$cd_plain init; env"
expect "keeps what the user set" 0 out '^OMPI_MCA_pml=ob1'
expect "keeps the user's folders, behind" 0 out "^LD_LIBRARY_PATH=$ours:.*/somewhere"
expect "root, asked for" 0 out '^OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1'

# folders that are none
run "$tool_causeway" run --libdir "$tool_work/tmp" true
expect "no libraries there" 125 err "libdir '.*/tmp': libucp.so.0 is not there"
rm "$tool_work/elsewhere/libucs.so.0"
run "$tool_causeway" run --libdir "$tool_work/elsewhere" true
expect "one is missing" 125 err 'libucs.so.0 is missing in'

# the real thing
if [ "${TOOL_LIBS:-ours}" = debian ]; then
    skip "our own libucp" "TOOL_LIBS=debian"
else
    run "$tool_causeway" run "$tool_causeway" perf --sizes 8 --test lat
    expect "our own libucp" 0 err '^causeway run: 2 processes used /.*libucp'
    # Open MPI, and nothing said of it but how many processes.
    if command -v mpicc mpirun >/dev/null; then
        cat >"$tool_work/mpi.c" <<'CODE'
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&(int){rank + 1}, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return (sum == 3) ? 0 : 1;
}
CODE
        (CC=mpicc && compile mpi "$tool_work/mpi.c") || finish
        allow=$([ "$(id -u)" -ne 0 ] || echo --allow-root)
        # shellcheck disable=SC2086
        run env OMPI_MCA_rmaps_base_oversubscribe=1 "$tool_causeway" run \
            $allow mpirun -np 2 "$tool_work/mpi"
        expect "mpirun" 0 err '^causeway run: 2 processes used /.*libucp'
    else
        skip "mpirun" "no mpicc or mpirun"
    fi
fi
finish
