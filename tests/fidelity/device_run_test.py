# SPDX-License-Identifier: Apache-2.0
"""tools/device-run measures with the benchmark of the build, and fails where the benchmark does."""
import json
import pathlib
import subprocess
import sys
import unittest

ROOT, BUILD = pathlib.Path(sys.argv[1]), sys.argv[2]
del sys.argv[1:3]


def device_run(*arguments):
    return subprocess.run([ROOT / 'tools' / 'device-run', '--runtime', 'cpu', '--build', BUILD, '--only', 'bench',
                           '--turns', '1', '--ways', 'native,shm', '--json', *arguments],
                          capture_output=True, text=True, timeout=100, check=False)


class Benchmark(unittest.TestCase):
    def test_every_size_is_measured_each_way(self):
        run = device_run('--metric', 'h2d', '--sizes', '4096,65536')
        self.assertEqual(run.returncode, 0, run.stderr)
        rows = [json.loads(line) for line in run.stdout.splitlines()]
        self.assertEqual({row['bytes'] for row in rows}, {4096, 65536})
        for row in rows:
            self.assertGreater(row['native'], 0)
            self.assertGreater(row['shm'], 0)

    def test_a_benchmark_that_fails_is_a_failure(self):
        run = device_run('--sizes', 'many')
        self.assertEqual(run.returncode, 1)
        self.assertIn('failed', run.stderr)


if __name__ == '__main__':
    unittest.main(verbosity=2)
