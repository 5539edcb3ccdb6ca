# SPDX-License-Identifier: BSD-3-Clause
"""compare_facts.py PROGRAM THEIRS OURS ALLOWED: what a behave_* program
printed on the reference and on ours. Lines that are no facts are skipped."""
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
    program, theirs_path, ours_path, allowed_path = sys.argv[1:]
    theirs, ours = facts(theirs_path), facts(ours_path)
    reasons = allowed(allowed_path, program)
    bad = 0
    for name in list(theirs) + [n for n in ours if n not in theirs]:
        want, got = theirs.get(name), ours.get(name)
        if want == got:
            if name in reasons:
                print('  %s: on the list of differences, but equal' % name)
                bad += 1
        elif name in reasons:
            print('  (%s: %s there, %s here: %s)' % (name, want, got,
                                                     reasons[name]))
        else:
            print('  %s: %s there, %s here' % (name, want, got))
            bad += 1
    for name in reasons:
        if name not in theirs:
            print('  %s: on the list of differences, but no fact' % name)
            bad += 1
    if theirs.get('end') != '1':
        print('  the reference did not come to the end')
        bad += 1
    print('%s: %d facts, %d wrong' % (program, len(theirs), bad))
    sys.exit(1 if bad else 0)


main()
