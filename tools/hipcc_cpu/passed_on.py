# SPDX-License-Identifier: Apache-2.0
"""Functions of AMD's device libraries that only IR can pass on, since the device library's own C++ passes half
precision and short vectors in other ways than the kernels' IR: half-precision math is that of float, dot products and
directed conversions to half are functions of plain numbers."""
import re

from .text import split_top, take_type

HALF = re.compile(r'^declare (.*?)(half|<2 x half>|i32|<2 x i16>) @(__ocml_(\w+)_(2?f16)|'
                  r'__(?:hipr|llvm)_amdgcn_(\w+)_f16)\((.*)\)')


def half_function(line):
    """Defines a half-precision math function by its float one. None: `line` declares no such function."""
    match = HALF.match(line)
    if not match:
        return None
    result, name = match.group(2), match.group(3)
    single = '__ocml_%s_f32' % match.group(4) if match.group(4) else '__hipr_amdgcn_%s_f32' % match.group(6)
    kinds = [take_type(p) for p in split_top(match.group(7))]
    if result in ('<2 x half>', '<2 x i16>'):
        return half_vector(name, result, kinds)
    body, passed, types = [], [], []
    for i, kind in enumerate(kinds):
        if kind == 'half':
            body.append('  %%f%d = fpext half %%a%d to float' % (i, i))
            passed.append('float %%f%d' % i)
            types.append('float')
        else:
            passed.append('%s %%a%d' % (kind, i))
            types.append(kind)
    returned = 'float' if result == 'half' else result
    body.append('  %%r = call %s @%s(%s)' % (returned, single, ', '.join(passed)))
    if result == 'half':
        body += ['  %h = fptrunc float %r to half', '  ret half %h']
    else:
        body.append('  ret %s %%r' % result)
    head = 'define internal %s @%s(%s) {' % (result, name, ', '.join('%s %%a%d' % k for k in zip(
        kinds, range(len(kinds)))))
    return [head] + body + ['}'], ['declare %s @%s(%s)' % (returned, single, ', '.join(types))]


def half_vector(name, result, kinds):
    scalar, needs = name.replace('_2f16', '_f16'), []
    element = 'half' if result == '<2 x half>' else 'i32'
    body, last = [], 'undef'
    types = ['half' if k == '<2 x half>' else 'i16' if k.startswith('<') else k for k in kinds]
    for lane in range(2):
        passed = []
        for i, kind in enumerate(kinds):
            if kind.startswith('<'):
                body.append('  %%e%d%d = extractelement %s %%a%d, i32 %d' % (lane, i, kind, i, lane))
                passed.append('%s %%e%d%d' % (types[i], lane, i))
            else:
                passed.append('%s %%a%d' % (kind, i))
        body.append('  %%r%d = call %s @%s(%s)' % (lane, element, scalar, ', '.join(passed)))
        value = '%%r%d' % lane
        if element == 'i32':  # a truth value per lane is all ones
            body += ['  %%n%d = sub i32 0, %%r%d' % (lane, lane),
                     '  %%t%d = trunc i32 %%n%d to i16' % (lane, lane)]
            value = '%%t%d' % lane
        body.append('  %%v%d = insertelement %s %s, %s %s, i32 %d'
                    % (lane, result, last, 'half' if element == 'half' else 'i16', value, lane))
        last = '%%v%d' % lane
    head = 'define internal %s @%s(%s) {' % (result, name, ', '.join('%s %%a%d' % k for k in zip(
        kinds, range(len(kinds)))))
    needs.append('declare %s @%s(%s)' % (element, scalar, ', '.join(types)))
    return [head] + body + ['  ret %s %s' % (result, last), '}'], needs


DOT = re.compile(r'^declare .*?\b(i32|float) @__ockl_([fsu]dot[248])\((.*)\)')


def dot_product(line):
    """Passes vectors of integers as one word each, halves as floats. None: `line` declares no such function."""
    match = DOT.match(line)
    if not match:
        return None
    result, name = match.group(1), match.group(2)
    kinds = [take_type(p) for p in split_top(match.group(3))]
    body, passed = [], []
    for i, kind in enumerate(kinds):
        if kind == '<2 x half>':
            for lane in range(2):
                body += ['  %%e%d%d = extractelement %s %%a%d, i32 %d' % (lane, i, kind, i, lane),
                         '  %%f%d%d = fpext half %%e%d%d to float' % (lane, i, lane, i)]
                passed.append('float %%f%d%d' % (lane, i))
        elif kind == 'i1' or kind.startswith('<'):
            body.append('  %%w%d = %s %s %%a%d to i32' % (i, 'zext' if kind == 'i1' else 'bitcast', kind, i))
            passed.append('i32 %%w%d' % i)
        else:
            passed.append('%s %%a%d' % (kind, i))
    call = 'call %s @__hipr_%s(%s)' % (result, name, ', '.join(passed))
    head = 'define internal %s @__ockl_%s(%s) {' % (result, name, ', '.join('%s %%a%d' % (k, i)
                                                                         for i, k in enumerate(kinds)))
    types = ', '.join(p.split(' ')[0] for p in passed)
    return [head] + body + ['  %r = ' + call, '  ret %s %%r' % result, '}'], [
        'declare %s @__hipr_%s(%s)' % (result, name, types)]


TO_HALF = re.compile(r'^declare .*?\bhalf @(__ocml_cvtrt([nzp])_f16_f32)\(')


def directed_half(line):
    """A conversion to half that rounds in one direction. None: `line` declares none."""
    match = TO_HALF.match(line)
    if not match:
        return None
    needs = '__hipr_half_rt%s' % match.group(2)
    return ['define internal half @%s(float %%a0) {' % match.group(1), '  %%w = call i32 @%s(float %%a0)' % needs,
            '  %b = trunc i32 %w to i16', '  %r = bitcast i16 %b to half', '  ret half %r', '}'], [
                'declare i32 @%s(float)' % needs]


def define(line):
    """The definition of the function that `line` declares, and what that needs: declarations. None: it is another."""
    return half_function(line) or dot_product(line) or directed_half(line)
