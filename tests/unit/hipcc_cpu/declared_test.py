#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the device library of kernels on the host's cores has every function of AMD's device libraries that HIP's
headers declare (__ockl_*, __ocml_*), by its name or by what hipcc-cpu makes of it: declared_test.py FOLDER HEADERS,
where the compiled device library lies, and the folder with hip/."""
import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../../tools'))
from hipcc_cpu import passed_on  # noqa: E402 pylint: disable=wrong-import-position

# A declaration: result, name, parameters. Names alone also stand in comments.
DECLARED = re.compile(r'\b(__(?:ockl|ocml)_\w+)\s*\(([^;{}()]*)\)\s*;')
# Newer headers and clang's own declare these (HIP 6).
NEWER = ['__ocml_cvtrt%s_%s' % (mode, kinds) for mode in 'npz' for kinds in (
    'f16_f32', 'f32_f64', 'f32_s32', 'f32_s64', 'f32_u32', 'f32_u64', 'f64_s64', 'f64_u64')]
# What newer clang's headers call by built-in functions (ir.py makes these names of them).
NEWER += ['__hipr_amdgcn_%s_f32' % name for name in ('exp2', 'ldexp', 'log', 'rcp', 'rsq')]
# As clang writes them for an AMD GPU, where the argument list decides.
VECTORS = {'__ockl_%sdot%s' % (sign, count): 'declare hidden i32 @__ockl_%sdot%s(%s, %s, i32, i1 zeroext)' % (
    sign, count, kind, kind) for sign in 'su' for count, kind in (('2', '<2 x i16>'), ('4', '<4 x i8>'), ('8', 'i32'))}
VECTORS['__ockl_fdot2'] = 'declare hidden float @__ockl_fdot2(<2 x half>, <2 x half>, float, i1 zeroext)'
for direction in 'npz':
    conversion = '__ocml_cvtrt%s_f16_f32' % direction
    VECTORS[conversion] = 'declare hidden half @%s(float)' % conversion


def declared(headers):
    names = set(NEWER)
    for path in glob.glob(os.path.join(headers, 'hip/amd_detail/*.h')):
        with open(path, encoding='utf-8', errors='replace') as file:
            text = re.sub(r'//[^\n]*|/\*.*?\*/', '', file.read(), flags=re.S)
        names.update(name for name, _ in DECLARED.findall(text))
    return names


def defined(folder):
    tool = shutil.which('llvm-nm-14') or shutil.which('llvm-nm')
    listed = subprocess.run([tool, '--defined-only'] + glob.glob(os.path.join(folder, '*.bc')), check=True,
                            capture_output=True, text=True).stdout
    return {line.split()[-1] for line in listed.splitlines() if line.strip() and not line.endswith(':')}


def half(name):
    """A declaration of a half-precision function, as far as passed_on.py reads it."""
    kind = '<2 x half>' if name.endswith('_2f16') else 'half'
    return 'declare hidden %s @%s(%s)' % (kind, name, kind)


def missing(name, have):
    """The function of the device library that `name` needs and that is not there, or None."""
    if name in have:
        return None
    line = VECTORS.get(name) or (half(name) if name.endswith('f16') else None)
    made = line and passed_on.define(line)
    if not made:
        return name
    for need in made[1]:
        lacks = missing(re.search(r'@(\w+)\(', need).group(1), have)
        if lacks:
            return '%s (for %s)' % (lacks, name)
    return None


def main():
    names, have = declared(sys.argv[2]), defined(sys.argv[1])
    assert len(names) > 300 and len(have) > 300, (len(names), len(have))
    lacking = sorted(filter(None, (missing(name, have) for name in names)))
    for name in lacking:
        print('missing: ' + name)
    return 1 if lacking else 0


sys.exit(main())
