# SPDX-License-Identifier: Apache-2.0
"""The PTX that hipcc-cpu makes. Usage: nvptx_test.py HIPCC_CPU"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HIPCC = sys.argv.pop(1) if len(sys.argv) > 1 else 'hipcc-cpu'
FEATURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'features.hip')

# What each kernel's text must have.
WORDS = {
    'arguments': ['.param .u8 arguments_param_0,', '.param .align 8 .b8 arguments_param_1[16],',
                  '.param .u16 arguments_param_2,', '.param .align 4 .b8 arguments_param_3[12],',
                  '.param .u64 arguments_param_5', '.maxntid 1024, 1, 1', 'add.rn.f16'],
    'indices': ['.maxntid 128, 1, 1', '%tid.x', '%tid.z', '%ctaid.y', '%ntid.z', '%nctaid.x'],
    'shared': ['bar.sync', 'st.shared', 'ld.shared'],
    'warps': ['activemask.b32', 'shfl.sync.idx.b32', 'vote.sync.ballot.b32', 'vote.sync.any', 'vote.sync.all'],
    'relaxed': ['atom.global.add.u32', 'atom.global.min.s32', 'atom.global.cas.b32', 'atom.inc.u32',
                'atom.global.exch.b64', 'atom.global.max.u64', 'atom.global.add.f32', 'atom.global.add.f64'],
    'ordered': ['atom.relaxed.sys.add.u32', 'atom.acq_rel.sys.add.u32', 'ld.acquire.gpu.b32', 'st.release.sys.b32',
                'atom.relaxed.sys.cas.b32', 'atom.relaxed.sys.add.f32', 'fence.sc.gpu', 'fence.sc.sys'],
    'signs': ['shr.s64', '63;', '60;', '7;', '255;', '40, 8;'],
    'clocks': ['%clock64', '%globaltimer'],
    'prints': ['vprintf'],
    'fails': ['__assert_fail', 'trap'],
    'textures': ['tex.1d.v4.f32.f32', 'tex.1d.v4.f32.s32', 'tex.a1d.v4.f32.f32', 'tex.2d.v4.f32.f32',
                 'tex.a2d.v4.f32.f32', 'tex.3d.v4.f32.f32', 'tex.cube.v4.f32.f32', 'tex.acube.v4.f32.f32', 'tld4.g.2d',
                 'tex.level.1d', 'tex.level.2d', 'tex.level.3d', 'tex.level.cube', 'tex.level.acube', 'tex.grad.1d',
                 'tex.grad.2d', 'tex.grad.3d', 'tex.grad.a1d', 'tex.grad.a2d'],
    'surfaces': ['su%s.b.%s.%s.zero' % (way, geometry, size) for way in ('ld', 'st')
                 for geometry in ('1d', 'a1d', '2d', 'a2d', '3d') for size in ('b8', 'b16', 'b32', 'v2.b32', 'v4.b32')],
    'maths': ['sqrt.rn.f64', 'fma.rn.f64', 'cvt.rmi.f64.f64', 'div.rn'],
}
MODULE = ['.version 6.3', '.target sm_70', '.address_size 64', '.visible .global .align 4 .f32 factor;',
          '.visible .global .align 4 .u32 counter = 7;', '.visible .global .align 4 .u32 _ZL12used_by_host = 3;',
          '.visible .global .align 4 .f32 _Z11of_templateIfE = 0f41100000;', '.extern .shared .align 16 .b8 dynamic[];',
          '.extern .func __assertfail']


def hipcc(*words, text=None):
    """(status, standard error) of one run; `text` becomes its source."""
    with tempfile.TemporaryDirectory() as folder:
        if text is not None:
            source = os.path.join(folder, 'source.hip')
            with open(source, 'w', encoding='utf-8') as file:
                file.write('#include <hip/hip_runtime.h>\n' + text)
            words += (source, '-o', os.path.join(folder, 'out'))
        done = subprocess.run([HIPCC, '--genco', *words], capture_output=True, text=True, check=False)
        return done.returncode, done.stderr


class Features(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, 'features.ptx')
        status, errors = hipcc('--offload-arch=sm_70', FEATURES, '-o', cls.path)
        assert status == 0, errors
        with open(cls.path, encoding='utf-8') as file:
            cls.ptx = file.read()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_every_kernel_has_its_words(self):
        for name, words in WORDS.items():
            entry = re.search(r'^\.visible \.entry %s\(.*?^}' % name, self.ptx, flags=re.M | re.S)
            self.assertIsNotNone(entry, name)
            for word in words:
                self.assertTrue(word in entry.group(0), '%s has no %s' % (name, word))

    def test_no_field_extends_beyond_the_sign(self):
        for first, bits in re.findall(r'bfe\.u64\s+%\w+, %\w+, (\d+), (\d+);', self.ptx):
            self.assertLessEqual(int(first) + int(bits), 64)

    def test_module(self):
        for word in MODULE:
            self.assertTrue(word in self.ptx, word)
        self.assertFalse('.weak' in self.ptx)
        needed = set(re.findall(r'^\.extern \.func\s+(?:\([^)]*\)\s*)?(\w+)', self.ptx, flags=re.M))
        self.assertEqual(needed, {'vprintf', '__assertfail'})

    def test_assembles(self):
        assembler = shutil.which('ptxas')
        if not assembler:
            self.skipTest('ptxas is not installed')
        for target in ('sm_75', 'sm_90'):
            done = subprocess.run([assembler, '-arch=' + target, self.path, '-o', os.path.join(self.folder.name, 'x')],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)


class CommandLine(unittest.TestCase):
    KERNEL = 'extern "C" __global__ void k(int* out) { out[0] = 1; }\n'

    def make(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            source, out = os.path.join(folder, 'source.hip'), os.path.join(folder, 'out')
            with open(source, 'w', encoding='utf-8') as file:
                file.write('#include <hip/hip_runtime.h>\n' + self.KERNEL)
            done = subprocess.run([HIPCC, '--genco', *words, source, '-o', out], capture_output=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(out, 'rb') as file:
                return file.read()

    def test_one_target_is_bare_several_are_a_bundle(self):
        self.assertTrue(self.make().startswith(b'\x7fELF'))
        self.assertTrue(self.make('--offload-arch=sm_70').startswith(b'//'))
        for words in (('--offload-arch=x86_64-cpu,sm_80',), ('--offload-arch=sm_80', '--offload-arch=x86_64-cpu')):
            bundle = self.make(*words)
            self.assertTrue(bundle.startswith(b'__CLANG_OFFLOAD_BUNDLE__\3'))
            self.assertIn(b'hipv4-nvptx64-nvidia-cuda--sm_80', bundle)
            self.assertIn(b'hipv4-x86_64-unknown-linux-gnu--x86_64-cpu', bundle)
            self.assertIn(b'.target sm_80', bundle)
        self.assertTrue(self.make('--offload-arch=sm_70', '--emit-bundle').startswith(b'__CLANG_OFFLOAD_BUNDLE__\2'))

    def test_debug_information_is_left_out(self):
        made = self.make('--offload-arch=sm_70', '-g')
        self.assertFalse(b'.file' in made or b'debug' in made)

    def test_newer_gpus_get_the_newest_that_can_be_made(self):
        self.assertIn(b'.target sm_86', self.make('--offload-arch=sm_90a'))

    def test_managed_variables(self):
        self.KERNEL = '__managed__ int x = 5;\nextern "C" __global__ void k() { x += 1; }\n'
        made = self.make('--offload-arch=sm_70')
        self.assertIn(b'.visible .global .align 4 .u32 x$managed = 5;', made)
        self.assertRegex(made, rb'\.visible \.global \.align \d \.u64 x;')

    def test_refusals(self):
        for words, text, said in (
                (('--offload-arch=sm_61',), self.KERNEL, 'sm_61'),
                (('--offload-arch=nonsense',), self.KERNEL, 'nonsense'),
                (('--offload-arch=sm_70,gfx90a',), self.KERNEL, 'gfx90a'),
                (('--offload-arch=sm_70',), '__global__ void k(double* d) { d[0] = j0(d[0]); }', 'no j0'),
                (('--offload-arch=sm_70',), '#include <hip/hip_cooperative_groups.h>\n__global__ void k() '
                 '{ cooperative_groups::this_grid().sync(); }', 'grid_sync')):
            status, errors = hipcc(*words, text=text)
            self.assertNotEqual(status, 0, said)
            self.assertIn(said, errors)


if __name__ == '__main__':
    unittest.main()
