# SPDX-License-Identifier: Apache-2.0
"""The kernels of cpu_kernel_test, compiled by every clang from 14 on that is installed, and run; a program of each;
and PTX of each. Usage: versions_test.py HIPCC_CPU CPU_KERNEL_TEST KERNELS_HIP NATIVE_DIR"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HIPCC, KERNEL_TEST, KERNELS, NATIVE = [os.path.abspath(sys.argv.pop(1)) for _ in range(4)]
VERSIONS = range(14, 41)
INSTALLED = [n for n in VERSIONS if shutil.which('clang++-%d' % n)]
# Debian has llvm-link in another package than clang.
WHOLE = [n for n in INSTALLED
         if os.path.exists(os.path.dirname(os.path.realpath(shutil.which('clang++-%d' % n))) + '/llvm-link')]
PROGRAM = '''#include <hip/hip_runtime.h>
#include <cstdio>
struct alignas(32) Wide { char name; double value; };
__device__ int counter = 5;
__global__ void work(bool add, Wide wide, int* out, char last) {
  extern __shared__ int shared[];
  __shared__ int fixed;
  if (threadIdx.x == 0) fixed = counter;
  shared[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (add) out[threadIdx.x] = shared[3 - threadIdx.x] + fixed + int(wide.value) + last;
}
int main() {
  int *device, host[4] = {};
  if (hipMalloc(&device, sizeof host) != hipSuccess) return 2;
  work<<<1, 4, 4 * sizeof(int)>>>(true, Wide{'w', 100.0}, device, 7);
  if (hipMemcpy(host, device, sizeof host, hipMemcpyDeviceToHost) != hipSuccess) return 3;
  std::printf("%d %d %d %d\\n", host[0], host[1], host[2], host[3]);
}
'''

# What LLVM calls differently from version to version.
NAMES = '#include <hip/hip_runtime.h>\n' + '''
extern "C" __device__ unsigned long long __ockl_steadyctr_u64();  // wall_clock64() of newer headers
__global__ void names(unsigned* p, float* f, double* d, unsigned long long* b) {
  atomicInc(p, 100u); atomicDec(p + 1, 100u); atomicAdd(f, 1.0f); atomicAdd(d, 1.0); atomicMax(d, 2.0);
  unsafeAtomicAdd(f, 1.0f); unsafeAtomicAdd(d, 1.0);
  b[4] = __ockl_steadyctr_u64();
  b[0] = __ballot(threadIdx.x & 1); b[1] = __any(1); b[2] = __shfl_xor(threadIdx.x, 1); b[3] = __lane_id();
}
'''


class Versions(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.place.cleanup()

    def run_tool(self, version, *words):
        environment = dict(os.environ, HIPCC_CPU_CLANG='clang++-%d' % version, LD_LIBRARY_PATH=NATIVE)
        done = subprocess.run(words, capture_output=True, text=True, cwd=self.place.name, env=environment, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def for_each(self, test):
        for version in WHOLE:
            with self.subTest(clang=version):
                test(version)
        print('with clang', ', '.join(map(str, WHOLE)) or 'of no version: none is installed')

    def test_code_objects(self):
        def check(version):
            for name in ('kernels', 'waves', 'headers'):
                source = os.path.join(os.path.dirname(KERNELS), name + '.hip')
                said = self.run_tool(version, HIPCC, '--genco', '-std=c++17', source, '-o', name + '.co').stderr
                self.assertNotIn('warning: Linking', said)
            self.run_tool(version, KERNEL_TEST, self.place.name)
        self.for_each(check)

    def test_programs(self):
        def check(version):
            with open(os.path.join(self.place.name, 'prog.hip'), 'w', encoding='utf-8') as file:
                file.write(PROGRAM)
            for words in ([], ['-fgpu-rdc']):
                self.run_tool(version, HIPCC, *words, 'prog.hip', '-o', 'prog')
                self.assertEqual(self.run_tool(version, './prog').stdout, '115 114 113 112\n')
        self.for_each(check)

    def test_names(self):
        def check(version):
            with open(os.path.join(self.place.name, 'names.hip'), 'w', encoding='utf-8') as file:
                file.write(NAMES)
            self.run_tool(version, HIPCC, '--genco', 'names.hip', '-o', 'names.co')
        self.for_each(check)

    def test_ptx(self):
        """Made with clang 14; others say that."""
        def check(version):
            environment = dict(os.environ, HIPCC_CPU_CLANG='clang++-%d' % version)
            done = subprocess.run([HIPCC, '--genco', '--offload-arch=sm_70', KERNELS, '-o', 'x.ptx'], env=environment,
                                  capture_output=True, text=True, cwd=self.place.name, check=False)
            if version > 14:
                self.assertEqual(done.returncode, 1)
                self.assertIn('PTX is made with clang 14', done.stderr)
        self.for_each(check)

    def test_a_linker_that_is_older_than_clang(self):
        clang = os.path.join(self.place.name, 'clang++')
        with open(clang, 'w', encoding='utf-8') as file:
            file.write('#!/bin/sh\n[ "$1" = --version ] && echo clang version 99.0.0 || exec clang++-14 "$@"\n')
        os.chmod(clang, 0o755)
        with open(os.path.join(self.place.name, 'names.hip'), 'w', encoding='utf-8') as file:
            file.write(NAMES)
        environment = dict(os.environ, HIPCC_CPU_CLANG=clang)
        for linker, code, said in ((None, 127, 'clang 99 needs llvm-link of LLVM 99 or newer'),
                                   ('llvm-link-14', 0, '')):
            if linker:
                environment['HIPCC_CPU_LLVM_LINK'] = linker
            done = subprocess.run([HIPCC, '--genco', 'names.hip', '-o', 'names.co'], env=environment, text=True,
                                  capture_output=True, cwd=self.place.name, check=False)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(said, done.stderr)


if __name__ == '__main__':
    unittest.main()
