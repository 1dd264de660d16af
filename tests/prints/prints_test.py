# SPDX-License-Identifier: Apache-2.0
"""What kernels print comes out where the program prints, in order with its own output: the same bytes natively and
over every transport."""
import os
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "faults"))
from harness import BUILD, SLOWER, TRANSPORTS, Worker  # noqa: E402

PROGRAM = os.path.join(BUILD, "bin", "tests", "prints_program")
TIMEOUT_S = 30 * SLOWER
LINES = 100000


def start(case, transport, environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
    clean["ASAN_OPTIONS"] = "detect_leaks=0"
    if transport != "native":
        clean["LD_LIBRARY_PATH"] = os.path.join(BUILD, "lib")
    return subprocess.Popen([PROGRAM, case], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env={**clean, **environment})


class Prints(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.worker = Worker()

    @classmethod
    def tearDownClass(cls):
        cls.worker.__exit__()

    def places(self):
        yield "native", {}
        for transport in TRANSPORTS:
            yield transport, self.worker.environment(transport)

    def each(self, case):
        """What the case printed, as (where, standard output, standard error), wherever its kernels run."""
        for where, environment in self.places():
            with self.subTest(case=case, where=where):
                process = start(case, where, environment)
                output, errors = process.communicate(timeout=TIMEOUT_S)
                self.assertEqual(process.returncode, 0, errors.decode())
                yield where, output, errors

    def same(self, case):
        """The output, which is the same everywhere."""
        native = None
        for where, output, _ in self.each(case):
            native = output if where == "native" else native
            self.assertEqual(output, native)
        return native.decode()

    def test_every_wait(self):
        lines = self.same("waits").splitlines()
        self.assertEqual(lines[0], "[device<0>]")
        self.assertEqual(lines[10], "[host function<10> then the host]")
        for number, line in enumerate(lines):
            self.assertIn(f"<{number}>", line)
            self.assertEqual(line[0] + line[-1], "[]")

    def test_forms(self):
        text = self.same("forms")
        self.assertTrue(text.startswith("host first, -3  2.50 text z -7 0xff % left  | "), text)
        self.assertTrue(text.endswith("end\nthen the host\n"), text)

    def test_many_lines(self):
        expected = [f"0: line {number}" for number in range(LINES)] + ["all lines"]
        self.assertEqual(self.same("many").splitlines(), expected)

    def test_graphs(self):
        once = "<1>(host)<2>"
        self.assertEqual(self.same("graph"), f"[{once}]\n" * 3 + f"[{once}{once}]\n")

    def by_stream(self, case, expected):
        for _, output, _ in self.each(case):
            lines = output.decode().splitlines()
            for stream in range(4):
                self.assertEqual([line for line in lines if line[0] == str(stream)],
                                 [f"{stream}: {rest}" for rest in expected])

    def test_streams(self):
        self.by_stream("streams", [f"line {line}" for _ in range(8) for line in range(10)] + ["waited"])

    def test_threads(self):
        self.by_stream("threads", [text for number in range(50) for text in ("line 0", f"round {number}")])

    def test_assertion(self):
        for _, output, errors in self.each("assert"):
            self.assertEqual(output, b"host, before the assertion\n; error 719\n")
            self.assertRegex(errors.decode(), r"program\.hip:\d+: .*assert_that.*: Device-side assertion "
                                              r"`static_cast<int>\(threadIdx\.x\) < bound' failed\.\n")

    def test_trap(self):
        self.assertEqual(self.same("trap"), "host, before the trap; error 719\n")

    def test_end_of_the_process(self):
        self.assertEqual(self.same("no_wait").splitlines(), [f"0: line {line}" for line in range(2000)])

    def test_closed_output(self):
        for _, output, errors in self.each("closed"):
            self.assertEqual(output, b"")
            self.assertIn(b"went on\n", errors)

    def test_nobody_reads(self):
        for where, environment in self.places():
            with self.subTest(where=where):
                process = start("endless", where, environment)
                with process:
                    process.stdout.readline()
                    process.stdout.close()
                    self.assertEqual(process.wait(TIMEOUT_S), -signal.SIGPIPE)

    def test_the_log_has_nothing_of_it(self):
        for transport in TRANSPORTS:
            start("assert", transport, self.worker.environment(transport)).communicate(timeout=TIMEOUT_S)
        self.assertNotIn("Device-side assertion", self.worker.log())
        self.assertNotIn("before the assertion", self.worker.log())


if __name__ == "__main__":
    if not os.path.exists(PROGRAM):
        sys.exit(f"TF_BUILD_DIR: no {PROGRAM}")
    unittest.main(verbosity=2)
