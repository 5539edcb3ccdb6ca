#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every bad word on the command line is named, with what is allowed, and
# nothing is measured or started. Every option is in --help.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/tool_lib.sh"

# bad REGEX WORD...: refused with code 2
bad() {
    regex=$1
    shift
    run "$tool_causeway" "$@"
    if [ -s "$tool_work/out" ]; then
        notok "refuse: $*" "it printed results"
    else
        expect "refuse: $*" 2 err "$regex"
    fi
}

bad 'Usage: causeway COMMAND'
bad "unknown command 'perv' .did you mean perf" perv
bad "unknown command 'x'" x
bad 'unknown option --sizs .did you mean --sizes' perf --sizs 8
bad 'unknown option --nothing; .causeway perf --help. lists all' perf --nothing
bad 'unknown option -s' perf -s
bad '--sizes needs a value' perf --sizes
bad '--verify takes no value' perf --verify=yes
bad "unexpected word 'extra'" perf extra
for value in '' , 8, ,8 x 8q -1 8-4 2g 99999999999999999999 8-; do
    bad "--sizes '.*': expected up to 256 sizes" perf --sizes "$value"
done
for value in '' latt lat, all; do
    bad "--test '.*': expected one or more of lat, sync, bw, rate" \
        perf --test "$value"
done
bad "--window '0': expected a whole number from 1 to 4096" perf --window 0
bad "--window '4097': expected" perf --window 4097
bad "--window '1x': expected" perf --window 1x
bad "--repeat '-1': expected a whole number from 1 to 1000" perf --repeat=-1
bad "--seed '0': expected" perf --seed 0
bad "--procs '1': expected a whole number from 2 to 256" perf --procs 1
bad "--time 'nan': expected seconds from 0.001 to 3600" perf --time nan
bad "--time '0': expected" perf --time 0
bad "--time '1e9': expected" perf --time 1e9
bad "--sleep 'x': expected wait .* or efd" perf --sleep x
bad "--cpus '99999,0': expected two processors" perf --cpus 99999,0
bad '--cpus: expected two processors' perf --cpus 0
bad '--csv and --json exclude one another' perf --csv --json
bad '--listen and --connect exclude' perf --listen 1 --connect h:1
bad '--limits is for the one that leads' perf --limits --listen 1
bad '--procs excludes' perf --procs 3 --listen 1
bad 'unknown option --confi .did you mean --config' info --confi
bad "unexpected word 'x'" info x

# run keeps 2 for programs
run "$tool_causeway" run
expect "run without a command" 125 err 'no command'
run "$tool_causeway" run --preloat true
expect "run with a bad option" 125 err 'did you mean --preload'

# listens and connects only where that makes sense
run "$tool_causeway" perf --listen 70000
expect "port out of range" 1 err "listen '70000': expected"
run "$tool_causeway" perf --connect 127.0.0.1:1
expect "nobody listens" 1 err "connect '127.0.0.1:1': Connection refused"

for command in '' perf info run; do
    # shellcheck disable=SC2086
    run "$tool_causeway" $command --help
    expect "causeway $command --help" 0 out '^Usage: causeway '
done
run "$tool_causeway" perf --help
for option in test sizes window repeat time iterations verify seed limits \
    sleep procs cpus listen connect csv json timeout; do
    if ! grep -q -- "^  --$option" "$tool_work/out"; then
        notok "help names --$option" "it does not"
    fi
done
expect "help hides what processes say to one another" 0 out 'Examples:'
! grep -q -e '-fd' "$tool_work/out" || notok "help hides -fd options" "it shows"
run "$tool_causeway" --version
expect "version" 0 out '^causeway [0-9]'
finish
