# SPDX-License-Identifier: Apache-2.0
"""Headers of HIP that are newer than those at hand: ours take the place of HIP 6.4's wave functions with masks. And
those that the build has noted, where the system has none.
Usage: newer_headers_test.py HIPCC_CPU NATIVE_DIR"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HIPCC, NATIVE = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
LIMIT_SECONDS = 300
HEADERS = {
    'hip/hip_version.h': '''
#define HIP_VERSION_H
#define HIP_VERSION_MAJOR 6
#define HIP_VERSION_MINOR 4
#define HIP_VERSION_PATCH 0
#define HIP_VERSION 60400000
''',
    # What the vendor's function comes to where the masks differ (docs/waves.md).
    'hip/hip_runtime.h': '''
#pragma once
#include_next <hip/hip_runtime.h>
#if defined(__HIP__) && defined(HIP_ENABLE_WARP_SYNC_BUILTINS)
template <typename T>
__device__ unsigned long long __match_all_sync(unsigned long long mask, T value, int* same) {
  return *same = 0;
}
#endif
'''}
PROGRAM = '''
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void match(unsigned long long* found) {
  const unsigned long long odd = 0xaaaaaaaaaaaaaaaaull;
  int same = 0;
  found[threadIdx.x] = __match_all_sync(threadIdx.x % 2 ? odd : ~odd, threadIdx.x % 2, &same);
  if (!same) found[threadIdx.x] = 1;
}
int main() {
  unsigned long long *device, host[64];
  if (hipMalloc(&device, sizeof host) != hipSuccess) return 2;
  match<<<1, 64>>>(device);
  if (hipMemcpy(host, device, sizeof host, hipMemcpyDeviceToHost) != hipSuccess) return 3;
  std::printf("%llx %llx %llx\\n", host[0], host[1], host[63]);
}
'''


class NewerHeaders(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        for name, text in dict(HEADERS, **{'program.hip': PROGRAM}).items():
            path = os.path.join(self.place.name, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)

    def tearDown(self):
        self.place.cleanup()

    def run_tool(self, *words):
        return subprocess.run(words, capture_output=True, text=True, cwd=self.place.name, timeout=LIMIT_SECONDS,
                              env=dict(os.environ, LD_LIBRARY_PATH=NATIVE), check=False)

    def test_masks_of_which_lanes_have_different_ones(self):
        made = self.run_tool(HIPCC, '--hip-include', self.place.name, '-DHIP_ENABLE_WARP_SYNC_BUILTINS', 'program.hip',
                             '-o', 'program')
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual(self.run_tool('./program').stdout, '5555555555555555 aaaaaaaaaaaaaaaa aaaaaaaaaaaaaaaa\n')

    def test_not_without_being_asked_for(self):
        made = self.run_tool(HIPCC, '--hip-include', self.place.name, 'program.hip', '-o', 'program')
        self.assertIn('__match_all_sync', made.stderr)
        self.assertEqual(made.returncode, 1)

    def test_headers_that_the_build_has_noted_come_last(self):
        tree, noted, named = (os.path.join(self.place.name, name) for name in ('tree', 'noted', 'named'))
        prefix = os.path.dirname(os.path.dirname(HIPCC))
        for part in ('bin/hipcc-cpu', 'share/hip-remote'):
            source, target = os.path.join(prefix, part), os.path.join(tree, part)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            (shutil.copytree if os.path.isdir(source) else shutil.copy)(source, target)
        for path, text in ((os.path.join(tree, 'share/hip-remote/hipcc_cpu/hip_include'), noted + '\n'),
                           (os.path.join(noted, 'hip/hipr_test_one.h'), '#define ONE 1\n'),
                           (os.path.join(noted, 'hip/hipr_test_two.h'), '#error the other one comes first\n'),
                           (os.path.join(named, 'hip/hipr_test_two.h'), '#define TWO 2\n'),
                           (os.path.join(self.place.name, 'both.hip'), '#include <hip/hipr_test_one.h>\n'
                            '#include <hip/hipr_test_two.h>\nstatic_assert(ONE + TWO == 3);\n')):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
        made = self.run_tool(os.path.join(tree, 'bin/hipcc-cpu'), '-I', named, '-c', 'both.hip', '-o', 'both.o')
        self.assertEqual(made.returncode, 0, made.stderr)


if __name__ == '__main__':
    unittest.main()
