# SPDX-License-Identifier: Apache-2.0
"""Conversions from floating point to integers, in the IR that clang makes for amdgcn.

GPUs answer the nearest integer of the type where the value is outside of it, and 0 for what is no number; HIP's
functions such as __double2int_rn() and programs rely on that. A core's instructions answer any number there, so the
conversions become those that saturate. As on AMD's GPUs, what is narrower than the instructions (16 bits from halves,
else 32) is cut off from their answer."""
import re

from .text import NAME

CAST = re.compile(r'^(\s+%' + NAME + r' = )fpto([su])i (<(\d+) x (\w+)>|\w+) (.*?) to (<\d+ x i(\d+)>|i(\d+))'
                  r'(?=,|$)(.*)$')
CODES = {'half': 'f16', 'bfloat': 'bf16', 'float': 'f32', 'double': 'f64'}
WIDEST = 64


class Conversions:
    def __init__(self):
        self.made = 0
        self.declared = set()

    def value(self):
        """A new name."""
        self.made += 1
        return '%%__hipr_conversion.%d' % self.made

    def replaced(self, line):
        """The lines for one of the module."""
        match = CAST.match(line)
        if not match:
            return [line]
        result, sign, source, count, element, operand, target, *widths, rest = match.groups()
        element = element or source
        bits = int(widths[0] or widths[1])
        if element not in CODES or bits > WIDEST:
            return [line]
        count = int(count or 0)

        def kind(name):
            return '<%d x %s>' % (count, name) if count else name

        lines, wide = [], max(bits, 16 if element == 'half' else 32)
        if element in ('half', 'bfloat'):
            lines.append('  %s = fpext %s %s to %s' % (self.value(), source, operand, kind('float')))
            element, operand = 'float', '%%__hipr_conversion.%d' % self.made
        prefix = 'v%d' % count if count else ''
        name = '@llvm.fpto%si.sat.%si%d.%s%s' % (sign, prefix, wide, prefix, CODES[element])
        self.declared.add('declare %s %s(%s)' % (kind('i%d' % wide), name, kind(element)))
        call = 'call %s %s(%s %s)' % (kind('i%d' % wide), name, kind(element), operand)
        if wide == bits:
            return lines + [result + call + rest]
        lines.append('  %s = %s%s' % (self.value(), call, rest))
        return lines + ['%strunc %s %%__hipr_conversion.%d to %s' % (result, kind('i%d' % wide), self.made, target)]


def saturate(text):
    """`text` with conversions that saturate."""
    conversions = Conversions()
    out = [made for line in text.split('\n') for made in conversions.replaced(line)]
    return '\n'.join(out + sorted(conversions.declared))
