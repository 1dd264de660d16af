#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles kernels for AMD's GPUs with each clang found, and compares the layouts that we read with those that
llvm-readelf prints: amdgpu_layouts_test.py PRINT_LAYOUTS [CLANG ...]. Status 77: nothing here can compile them.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
TARGETS = ("gfx90a", "gfx90a:xnack+", "gfx942", "gfx1030", "gfx1100", "gfx9-4-generic")
# A device that runs code for the target.
DEVICES = {"gfx90a": "gfx90a:sramecc+:xnack-", "gfx90a:xnack+": "gfx90a:sramecc+:xnack+",
           "gfx9-4-generic": "gfx942:sramecc+:xnack-"}
CODE_OBJECT_VERSIONS = (3, 4, 5, 6)
KINDS = ("by_value", "global_buffer", "dynamic_shared_pointer")
KERNEL_FIELDS = (".name", ".symbol", ".kernarg_segment_size", ".kernarg_segment_align", "explicit",
                 ".group_segment_fixed_size", ".private_segment_fixed_size", ".max_flat_workgroup_size",
                 ".wavefront_size", ".sgpr_count", ".vgpr_count")


def kernels_of(notes):
    """The list of kernels in what llvm-readelf --notes prints: dicts with text values, .args a list of dicts."""
    text = notes[notes.index("amdhsa.kernels:"):]
    text = text[:re.search(r"^amdhsa\.(target|version)|^\.\.\.", text, re.M).start()]
    kernels = []
    for block in re.split(r"^  - ", text, flags=re.M)[1:]:
        # As deep as the others, so that the first line is one like all.
        lines = ("    " + block).splitlines()
        kernel, arguments = {}, []
        for line in lines:
            field = re.match(r"( *)(- )?(\.\w+): *(.*)$", line)
            if field is None:
                continue  # an element of a list of numbers
            depth = len(field[1]) + len(field[2] or "")
            if depth > 4:
                if field[2]:
                    arguments.append({})
                arguments[-1][field[3]] = field[4].strip("'")
            else:
                kernel[field[3]] = field[4].strip("'")
        kernel[".args"] = arguments
        kernels.append(kernel)
    return kernels


def expected(kernels):
    """What print_layouts must print."""
    lines = []
    for kernel in kernels:
        arguments = [a for a in kernel[".args"] if not a[".value_kind"].startswith("hidden_")]
        ends = [int(a[".offset"]) + int(a[".size"]) for a in arguments]
        kernel = {**kernel, "explicit": str(max(ends, default=0))}
        lines.append("kernel " + " ".join(kernel[field] for field in KERNEL_FIELDS))
        for a in arguments:
            kind = a[".value_kind"] if a[".value_kind"] in KINDS else "other"
            lines.append(f"argument {a['.offset']} {a['.size']} {kind}")
    return lines


def run(*command, temporary=None):
    """`temporary`: the folder for files that the command makes for itself."""
    environment = dict(os.environ, TMPDIR=str(temporary)) if temporary else None
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          env=environment)


def major_of(tool):
    found = re.search(r"(?:version|LLD) (\d+)", run(tool, "--version").stdout)
    return int(found[1]) if found else 0


class Compiler:
    def __init__(self, clang):
        self.clang = clang
        folder = pathlib.Path(os.path.realpath(shutil.which(clang))).parent
        self.readelf, self.linker = (shutil.which(name, path=folder) or shutil.which(name)
                                     for name in ("llvm-readelf", "ld.lld"))
        self.major = major_of(clang)

    def usable(self):
        targets = run(self.clang, "--print-targets").stdout
        # Clang calls the linker of its own version, or the one that there is; an older one does not know its options.
        return ("amdgcn" in targets and self.readelf is not None and self.linker is not None
                and major_of(self.linker) >= self.major)

    def compile(self, target, version, out):
        """Whether this clang knows the target in that version of code objects."""
        arguments = [self.clang, "-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc",
                     "-nogpulib", "-std=c++17", "-O1", f"--offload-arch={target}",
                     f"-mcode-object-version={version}", str(HERE / "amdgpu_kernels.hip"), "-o", str(out)]
        done = run(*arguments, temporary=pathlib.Path(out).parent)  # clang leaves an empty folder behind
        unknown = re.search("invalid target ID|unsupported (HIP|CUDA) gpu|invalid integral value"
                            "|only available on code object version", done.stdout)
        if done.returncode != 0 and not unknown:
            raise AssertionError(done.stdout)
        return done.returncode == 0


class Layouts(unittest.TestCase):
    print_layouts = ""
    compilers = ()

    def compare(self, compiler, target, version, folder):
        elf = pathlib.Path(folder, "elf")
        if not compiler.compile(target, version, elf):
            return 0
        ours = run(self.print_layouts, elf, DEVICES.get(target, target))
        self.assertEqual(ours.returncode, 0, ours.stdout)
        theirs = kernels_of(run(compiler.readelf, "--notes", elf).stdout)
        self.assertEqual(ours.stdout.splitlines(), expected(theirs), f"{compiler.clang} {target} v{version}")
        return len(theirs)

    def test_layouts_are_those_of_llvm_readelf(self):
        for compiler in self.compilers:
            compared = []
            for target in TARGETS:
                for version in CODE_OBJECT_VERSIONS:
                    with self.subTest(clang=compiler.clang, target=target, version=version), \
                            tempfile.TemporaryDirectory() as folder:
                        if self.compare(compiler, target, version, folder) >= 9:
                            compared.append(f"{target} v{version}")
            print(f"{compiler.clang} ({compiler.major}): {', '.join(compared)}")
            self.assertTrue(compared, f"{compiler.clang} compiled for no target")


if __name__ == "__main__":
    Layouts.print_layouts = sys.argv[1]
    named = sys.argv[2:] or ["clang"]
    Layouts.compilers = [c for c in map(Compiler, filter(shutil.which, named)) if c.usable()]
    if not Layouts.compilers:
        print(f"skipped: none of {' '.join(named)} compiles for AMD's GPUs, with ld.lld and llvm-readelf beside it")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
