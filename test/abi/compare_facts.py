# SPDX-License-Identifier: BSD-3-Clause
"""compare_facts.py PROGRAM OURS ALLOWED THEIRS...: what a behave_* program
printed on ours and on the reference, there in one run or in several: under
load the reference does not always do the same, and each of its ways is right.
Lines that are no facts are skipped."""
import re
import sys

FACT = re.compile(r'^([A-Za-z][\w.]*): (.*)$')


def facts(path):
    found = {}
    with open(path, errors='replace') as lines:
        for line in lines:
            match = FACT.match(line.rstrip('\n'))
            if match is None:
                continue
            if match.group(1) in found:
                sys.exit('%s: the fact %s comes twice' % (path, match.group(1)))
            found[match.group(1)] = match.group(2)
    return found


def allowed(path, program):
    reasons = {}
    with open(path) as lines:
        for line in lines:
            words = line.split(None, 2)
            if len(words) == 3 and words[0] == 'behave' and \
                    words[1].startswith(program + '/'):
                reasons[words[1][len(program) + 1:]] = words[2].strip()
    return reasons


def main():
    program, ours_path, allowed_path = sys.argv[1:4]
    runs = [facts(path) for path in sys.argv[4:]]
    whole = [run for run in runs if run.get('end') == '1']
    theirs, ours = {}, facts(ours_path)
    for run in whole:
        theirs.update(run)
    reasons = allowed(allowed_path, program)
    bad = 0
    for name in list(theirs) + [n for n in ours if n not in theirs]:
        wants = {run.get(name) for run in whole}
        got = ours.get(name)
        text = '%s: %s there, %s here' % (
            name, ' or '.join(sorted(map(str, wants))), got)
        if wants == {got}:
            if name in reasons:
                print('  %s: on the list of differences, but equal' % name)
                bad += 1
        elif name in reasons:
            print('  (%s: %s)' % (text, reasons[name]))
        elif got in wants:
            print('  (%s)' % text)
        else:
            print('  ' + text)
            bad += 1
    for name in reasons:
        if name not in theirs:
            print('  %s: on the list of differences, but no fact' % name)
            bad += 1
    if not whole:
        print('  the reference did not come to the end')
        bad += 1
    print('%s: %d facts, %d wrong' % (program, len(theirs), bad))
    sys.exit(1 if bad else 0)


main()
