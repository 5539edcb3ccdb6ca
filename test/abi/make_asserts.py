# SPDX-License-Identifier: BSD-3-Clause
"""Runs inside gdb over an object file with the reference's types, and writes
a C file that holds only when our headers have the same layouts and values.

  ABI_NAMES    file with the names to look at, one a line
  ABI_OUT      the C file to write
  ABI_ALLOWED  names that may differ, separated by spaces
"""
import os

import gdb

lines = []


def add(condition, what):
    lines.append('_Static_assert(%s, "%s");' % (condition, what))


def type_text(type_):
    """The type as C can spell it, or None for one without a name."""
    text = str(type_)
    return None if '{' in text else text


def add_fields(name, type_, path):
    for field in type_.fields():
        where = path + field.name
        add('offsetof(%s, %s) == %d' % (name, where,
                                        base_of(path) + field.bitpos // 8),
            'offset of %s.%s' % (name, where))
        add('sizeof(((%s *)0)->%s) == %d' % (name, where, field.type.sizeof),
            'size of %s.%s' % (name, where))
        text = type_text(field.type)
        if text is not None:
            add('__builtin_types_compatible_p(__typeof__(((%s *)0)->%s), %s)'
                % (name, where, text), 'type of %s.%s' % (name, where))
        inner = field.type.strip_typedefs()
        if inner.code in (gdb.TYPE_CODE_UNION, gdb.TYPE_CODE_STRUCT) and \
                text is None:
            bases[where + '.'] = base_of(path) + field.bitpos // 8
            add_fields(name, inner, where + '.')


bases = {}


def base_of(path):
    return bases.get(path, 0)


def add_type(name, type_):
    real = type_.strip_typedefs()
    if real.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        fields = real.fields()
        if not fields:
            return  # opaque
        # Structs with a mask grow at the tail, others never.
        masked = fields[0].name in ('field_mask', 'op_attr_mask')
        add('sizeof(%s) %s %d' % (name, '>=' if masked else '==', real.sizeof),
            'size of %s' % name)
        bases.clear()
        add_fields(name, real, '')
    else:
        add('sizeof(%s) == %d' % (name, real.sizeof), 'size of %s' % name)
        if real.code == gdb.TYPE_CODE_PTR and type_text(real) is not None:
            add('__builtin_types_compatible_p(%s, %s)' % (name, real),
                'type of %s' % name)


def look_up(name):
    try:
        return gdb.lookup_type(name)
    except gdb.error:
        return None


def main():
    allowed = os.environ['ABI_ALLOWED'].split()
    with open(os.environ['ABI_NAMES']) as names:
        for name in names.read().split():
            if name in allowed:
                continue
            for spelling in (name, 'struct ' + name, 'enum ' + name):
                type_ = look_up(spelling)
                if type_ is not None and \
                        (type_.code == gdb.TYPE_CODE_TYPEDEF or
                         spelling != name):
                    add_type(spelling, type_)
            try:
                value = gdb.parse_and_eval(name)
            except gdb.error:
                continue
            if value.type.strip_typedefs().code == gdb.TYPE_CODE_ENUM:
                add('(long long)(%s) == %dll' % (name, int(value)),
                    'value of %s' % name)
    with open(os.environ['ABI_OUT'], 'w') as out:
        out.write('#include <stddef.h>\n#include <ucp/api/ucp.h>\n')
        out.write('\n'.join(lines) + '\n')


main()
