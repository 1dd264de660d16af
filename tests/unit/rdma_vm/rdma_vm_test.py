#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/rdma-vm without its machine: parsers, rows, module order, and the words of its refusals."""
import contextlib
import io
import json
import os
import pathlib
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

CONFORMANCE = os.environ.get("RDMA_VM_CONFORMANCE", "")  # the program
TOOLS = pathlib.Path(__file__).resolve().parents[3] / "tools"
sys.path.insert(0, str(TOOLS))

from rdma_vm import cli, figures, image, machine, packages, report  # noqa: E402
from rdma_vm.errors import Impossible  # noqa: E402

# As the tools of Debian 12 print it, shortened.
WRITE_LAT = """                    RDMA_Write Latency Test
 TX depth        : 1
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   \
99% percentile[usec]   99.9% percentile[usec]
 64      1000          23.03          183.78       23.47    \t       25.81       \t9.55   \t\t86.66   \t\t183.78
---------------------------------------------------------------------------------------
"""
READ_BW = """ Outstand reads  : 128
 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 1048576    60               87.36              83.32  \t\t   0.000083
---------------------------------------------------------------------------------------
"""
UCX_LAT = """iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr
500,34.000,42.000,42.000,1.40,1.40,24000,24000
1000,34.500,41.621,41.621,1.47,1.47,24026,24026
"""
UCX_BW = """iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr
  60,73.000,24578.317,24578.317,40.69,40.69,41,41
"""
# The backends that the machine runs, as tests/conformance names them.
PATTERNS = cli.parser().get_default("filter").split(":")
BACKEND = PATTERNS[0].rpartition("/")[2]
GTEST = f"""[ RUN      ] All/Conformance.Echo/{BACKEND}
[       OK ] All/Conformance.Echo/{BACKEND} (12 ms)
[ RUN      ] All/Conformance.Bulk/{BACKEND}
something else
[  FAILED  ] All/Conformance.Bulk/{BACKEND}, where GetParam() = 16-byte object <00-00> (3 ms)
[ RUN      ] All/Conformance.Kill/{BACKEND}
[  SKIPPED ] All/Conformance.Kill/{BACKEND} (0 ms)
"""
GTEST_END = f"""[  FAILED  ] 1 test, listed below:
[  FAILED  ] All/Conformance.Bulk/{BACKEND}, where GetParam() = 16-byte object <00-00>
"""


def our_row(metric, size, value, unit, p50=None):
    return json.dumps({"bench": "transport_bench", "transport": "rdma", "metric": metric, "bytes": size,
                       "value": value, "p50": value if p50 is None else p50, "unit": unit,
                       "limit": None, "ratio": None, "limit_name": ""})


class Parsers(unittest.TestCase):
    def test_perftest(self):
        self.assertAlmostEqual(figures.perftest_round_trip(WRITE_LAT), 46.94)
        self.assertAlmostEqual(figures.perftest_bandwidth(READ_BW), 83.32 * 1.048576e-3)

    def test_one_kind_is_not_taken_for_the_other(self):
        self.assertIsNone(figures.perftest_round_trip(READ_BW))
        self.assertIsNone(figures.perftest_bandwidth(WRITE_LAT))

    def test_ucx_counts_the_last_line(self):
        self.assertAlmostEqual(figures.ucx_round_trip(UCX_LAT), 69.0)
        self.assertAlmostEqual(figures.ucx_bandwidth(UCX_BW), 40.69 * 1.048576e-3)

    def test_ours(self):
        rows = [our_row("round_trip", 64, 45000, "ns", 41000), our_row("bulk_send", 1048576, 0.08, "GB/s")]
        text = "\n".join(["progress", *rows])
        self.assertEqual(figures.our_round_trip(text), 41.0)
        self.assertEqual(figures.our_bandwidth(text, "bulk_send", 1048576), 0.08)
        self.assertIsNone(figures.our_bandwidth(text, "bulk_receive", 1048576))

    def test_no_figure_is_none_and_no_crash(self):
        for reader in (figures.perftest_round_trip, figures.perftest_bandwidth, figures.ucx_round_trip,
                       figures.ucx_bandwidth, figures.our_round_trip):
            for text in ("", "Couldn't connect to 10.9.0.1:19001\n", "#bytes\n 1 2 3\n", "a,b,c,d,e,f,g,h\n",
                         '{"metric":3}', WRITE_LAT.splitlines()[2] + "\n", "{broken\n"):
                self.assertIsNone(reader(text), (reader, text))

    def test_gtest(self):
        counts = figures.gtest_counts(GTEST + GTEST_END)
        self.assertEqual((counts["passed"], counts["failed"], counts["skipped"]), (1, 1, 1))
        self.assertEqual(counts["names"], [f"All/Conformance.Bulk/{BACKEND}"])
        self.assertIsNone(counts["running"])

    def test_gtest_within_a_test(self):
        inner = "[ RUN      ] Partner.Works\n[       OK ] Partner.Works (1 ms)\n"
        counts = figures.gtest_counts("[ RUN      ] Ipc.A\n" + inner + inner + "[       OK ] Ipc.A (9 ms)\n")
        self.assertEqual((counts["passed"], counts["failed"], counts["running"]), (1, 0, None))

    def test_gtest_that_ended_in_a_test(self):
        counts = figures.gtest_counts(GTEST + f"[ RUN      ] All/Conformance.Wait/{BACKEND}\n")
        self.assertEqual(counts["running"], f"All/Conformance.Wait/{BACKEND}")


class Filter(unittest.TestCase):
    @unittest.skipUnless(CONFORMANCE, "this build has no rdma")
    def test_every_pattern_names_tests(self):
        for pattern in PATTERNS:
            done = subprocess.run([CONFORMANCE, f"--gtest_filter={pattern}", "--gtest_list_tests"], check=True,
                                  capture_output=True, text=True, timeout=30)
            self.assertGreater(figures.gtest_tests(done.stdout), 20, pattern)


class Rows(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)

    def leave(self, name, text, status=0):
        path = self.out / (name + ".txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        (self.out / (name + ".status")).write_text(f"{status}\n")

    def conformance(self, tests, text="", status=0):
        self.leave("conformance_list", tests)
        self.leave("conformance", text, status)
        return report.rows_of_conformance(self.out)[0]

    def test_a_suite_without_such_tests_fails(self):
        row = self.conformance("")
        self.assertEqual((row["result"], row["note"]), ("FAILED", "no rdma tests in this build"))

    def test_a_suite_that_skips_everything_fails(self):
        row = self.conformance(f"All/Conformance.\n  Kill/{BACKEND}\n", "\n".join(GTEST.splitlines()[-2:]))
        self.assertEqual(row["result"], "FAILED")

    def test_a_suite_that_passes(self):
        row = self.conformance(f"All/Conformance.\n  Echo/{BACKEND}\n", "\n".join(GTEST.splitlines()[:2]))
        self.assertEqual(row["result"], "passed")

    def test_hello(self):
        self.leave("hello_rdma", "PASSED: all 1024 elements correct\n")
        self.leave("hello_tcp", "", 124)
        self.assertEqual([row["result"] for row in report.rows_of_hello(self.out)], ["passed", "FAILED"])
        self.assertIn("limit", report.rows_of_hello(self.out)[1]["note"])

    def leave_auto(self, name, transport, reason="", text="PASSED: all 1024 elements correct\n"):
        self.leave(name, text)
        (self.out / (name + ".err")).write_text(
            f"hip-remote: {reason}\nhip-remote: connected to 127.0.0.1:18515 over {transport}, runtime cpu, 1 device\n")

    def test_auto(self):
        for name, _, transport, reason in report.AUTO:
            self.leave_auto(name, transport, reason)
        self.assertEqual({row["result"] for row in report.rows_of_auto(self.out)}, {"passed"})
        self.leave_auto("auto", "tcp")
        self.leave_auto("auto_no_device", "tcp")
        self.leave_auto("auto_refused", "tcp", "rdma cannot be used: the worker refused", text="")
        (self.out / "auto_cut.status").write_text("1\n")
        rows = report.rows_of_auto(self.out)
        self.assertEqual([row["result"] for row in rows], ["FAILED"] * 4 + ["passed"])
        self.assertIn('wanted "over rdma"', rows[0]["note"])
        self.assertIn("over tcp, runtime", rows[0]["note"])

    def test_verbs_that_meet_no_device_fail(self):
        skipped = "[ RUN      ] RealVerbs.ADeviceOpens\n[  SKIPPED ] RealVerbs.ADeviceOpens (0 ms)\n"
        self.leave("real_verbs", skipped)
        self.assertEqual(report.rows_of_tests(self.out, ("verbs",), True)[0]["result"], "FAILED")
        self.leave("real_verbs", skipped.replace("[  SKIPPED ]", "[       OK ]"))
        self.assertEqual(report.rows_of_tests(self.out, ("verbs",), True)[0]["result"], "passed")

    def test_amd(self):
        self.leave("amd_api", "rdma: 9 passed, in 3 s\n")
        for part in ("amd_random_natively", "amd_random"):
            self.leave(part, "12\n34\n")
        said = self.out / "amd_random.err"
        said.write_text("hip-remote: connected to 127.0.0.1:18515 over rdma, runtime amd, 1 device\n")
        rows = report.rows_of_tests(self.out, ["amd"], False)
        self.assertEqual([row["result"] for row in rows], ["passed", "passed"])
        self.assertIn("9 passed", rows[0]["note"])
        self.leave("amd_api", "rdma: 8 passed, 1 failed, in 3 s\nMemory.Info: failed\n", 1)
        self.leave("amd_random", "12\n35\n")
        rows = report.rows_of_amd(self.out, False)
        self.assertEqual([row["result"] for row in rows], ["FAILED", "FAILED"])
        self.assertIn("Memory.Info", rows[0]["note"])
        self.assertIn("other numbers", rows[1]["note"])
        for part in ("amd_random_natively", "amd_random"):
            self.leave(part, "")
        self.assertEqual(report.rows_of_amd(self.out, False)[1]["result"], "FAILED", "no numbers at all")
        for part in ("amd_random_natively", "amd_random"):
            self.leave(part, "12\n")
        said.write_text("")
        self.assertIn("connected over rdma", report.rows_of_amd(self.out, False)[1]["note"], "both natively")

    def test_amd_where_it_cannot_run(self):
        self.leave("amd_api", "all tests skipped: no libamdhip64.so.5 of AMD's (libamdhip64-5)\n")
        self.assertEqual(report.rows_of_amd(self.out, True)[0]["result"], "FAILED")
        row, = report.rows_of_amd(self.out, False)
        self.assertEqual((row["result"], row["note"]), ("skipped", "no libamdhip64.so.5 of AMD's (libamdhip64-5)"))

    def test_settings_are_words_of_bash(self):
        script = (f"A={machine.shell_value('a b')}; B={machine.shell_value(('x *', 'y'))}\n"
                  'echo "$A|${B[0]}|${#B[@]}"')
        said = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout
        self.assertEqual(said, "a b|x *|2\n")

    def test_info(self):
        def result(details, available=True):
            self.leave("info", json.dumps({"transports": [{"name": "rdma", "available": available,
                                                           "details": details}]}))
            return report.rows_of_info(self.out)[0]["result"]
        good = [f"rxe{index} (software): port 1 active, Ethernet, MTU 4096; "
                f"GID 0 fe80::{index} (RoCE v2), GID 1 ::ffff:10.9.0.{index + 1} (RoCE v2)" for index in range(2)]
        self.assertEqual(result(good), "passed")
        self.assertEqual(result(good[:1]), "FAILED")
        self.assertEqual(result(good, available=False), "FAILED")
        self.assertEqual(result([good[0], good[1].replace("active", "down")]), "FAILED")
        self.leave("info", "no JSON")
        self.assertEqual(report.rows_of_info(self.out)[0]["result"], "FAILED")

    def test_serving(self):
        self.assertIn("did not run", report.rows_of_serving(self.out)[0]["note"])
        self.leave("serve", "", 1)
        (self.out / "serve.err").write_text("the relay ended: OSError: no such address\n")
        row = report.rows_of_serving(self.out)[0]
        self.assertEqual(row["result"], "FAILED")
        self.assertIn("the relay ended: OSError", row["note"])
        self.leave("serve", "", 0)
        self.assertEqual(report.rows_of_serving(self.out)[0]["result"], "passed")

    def test_keys(self):
        for name, _, works, said in report.KEYED:
            self.leave(name, "PASSED: all\n" if works else "", 0 if works else 1)
            (self.out / f"{name}.err").write_text(f"hip-remote: {said}\n")
        self.assertEqual({row["result"] for row in report.rows_of_keys(self.out)}, {"passed"})
        self.leave("rdma_encrypt", "PASSED: all\n", 0)
        (self.out / "hello_rdma.err").write_text("connected over rdma (level none)\n")
        wrong = [row["name"] for row in report.rows_of_keys(self.out) if row["result"] == "FAILED"]
        self.assertEqual(wrong, ["hello_hip over rdma, both sides proven", "refused: rdma at the level encrypt"])

    def test_order_of_packets(self):
        def result(text):
            self.leave("overtaken", text)
            return report.row_of_order(self.out)["result"]
        self.assertEqual([result(text) for text in ("0\n", "10\n", "11\n", "-1\n", "")],
                         ["passed", "passed", "FAILED", "FAILED", "FAILED"])

    def measure(self, trips=(40000, 44000, 90000), write=READ_BW):
        for number, trip in enumerate(trips, 1):
            self.leave(f"figures/{number}/ib_write_lat", WRITE_LAT)
            self.leave(f"figures/{number}/ib_read_bw", READ_BW)
            self.leave(f"figures/{number}/ib_write_bw", write, 0 if write else 1)
            self.leave(f"figures/{number}/ib_send_lat", WRITE_LAT)
            self.leave(f"figures/{number}/ucx_tag_lat", UCX_LAT)
            for name in ("ib_read_bw_unpinned", "ib_write_bw_unpinned"):
                self.leave(f"figures/{number}/{name}", READ_BW)
            for size in ("", "_large", "_unpinned"):
                for name in ("ucx_get", "ucx_put_bw"):
                    self.leave(f"figures/{number}/{name}{size}", UCX_BW)
            self.leave(f"figures/{number}/ucx_am_bw", UCX_BW)
            self.leave(f"figures/{number}/ours_trip", our_row("round_trip", 64, trip, "ns"))
            for name in ("ours_bulk", "ours_unpinned"):
                self.leave(f"figures/{number}/{name}", "\n".join(
                    our_row(metric, size, 0.05, "GB/s")
                    for metric in ("bulk_send", "bulk_receive", "bulk_send_stream", "bulk_receive_stream")
                    for size in (report.BULK, report.LARGE)))
        return report.rows_of_figures(self.out, quick=False)

    def test_figures_are_medians_with_ratios(self):
        rows = {row["name"]: row for row in self.measure()}
        trip = rows["64 B round trip"]
        self.assertEqual(trip["ours"], 44.0)
        self.assertAlmostEqual(trip["ratio"], 44 / 46.94)
        self.assertTrue(trip["ahead"])
        bulk = rows["client to worker, 1 MiB"]
        self.assertAlmostEqual(bulk["ratio"], 0.05 / (83.32 * 1.048576e-3))
        self.assertTrue(bulk["ahead"])
        self.assertEqual(len(rows), 11)
        self.assertTrue(rows["client to worker, 1 MiB, a stream, beside messages"]["ahead"])
        self.assertTrue(rows["worker to client, 1 MiB, a stream, unpinned"]["ahead"])
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            report.show(list(rows.values()))
        self.assertIn("everything passed", shown.getvalue())

    def test_a_tool_without_a_figure_is_a_failure(self):
        rows = self.measure(write="")
        failures = [row["name"] for row in rows if row.get("result") == "FAILED"]
        self.assertEqual(failures, ["measuring with ib_write_bw"])

    def test_faults(self):
        self.leave("faults", "", 1)
        (self.out / "faults.err").write_text("test_one_thing (__main__.F.test_one_thing) ... ok\n"
                                             "test_two (__main__.F.test_two) ... FAIL\nRan 2 tests\n")
        self.leave("cgroups", "", 0)
        (self.out / "cgroups.err").write_text("test_three (__main__.C.test_three) ... skipped 'why'\n")
        rows = report.rows_of_faults(self.out)
        self.assertEqual([(row["name"], row["result"]) for row in rows],
                         [("one thing", "passed"), ("two", "FAILED"), ("three", "skipped")])

    def test_faults_that_ended_early_fail(self):
        self.leave("faults", "", 124)
        self.leave("cgroups", "", 124)
        self.assertEqual([row["result"] for row in report.rows_of_faults(self.out)], ["FAILED", "FAILED"])


class Image(unittest.TestCase):
    @staticmethod
    def module(*depends):
        return b"\x7fELF..license=GPL\0depends=" + ",".join(depends).encode() + b"\0name=x\0"

    def test_modules_come_behind_what_they_need(self):
        modules = {"rxe": self.module("core", "udp-tunnel"), "core": self.module(), "udp_tunnel": self.module("core")}
        self.assertEqual(image.load_order(["rxe"], modules, set()), ["core", "udp_tunnel", "rxe"])

    def test_what_is_built_in_is_left_out(self):
        self.assertEqual(image.load_order(["rxe", "virtio"], {"rxe": self.module("core")}, {"core", "virtio"}), ["rxe"])

    def test_a_missing_module_and_a_circle_are_told(self):
        with self.assertRaisesRegex(Impossible, "core"):
            image.load_order(["rxe"], {"rxe": self.module("core")}, set())
        with self.assertRaises(Impossible):
            image.load_order(["a"], {"a": self.module("b"), "b": self.module("a")}, set())

    def test_an_unknown_kernel_is_booted_as_it_is(self):
        self.assertIsNone(image.plain_kernel(b"no kernel"))
        packed = bytearray(4096)
        packed[0x202:0x206] = b"HdrS"
        struct.pack_into("<II", packed, 0x248, 16, 64)
        self.assertIsNone(image.plain_kernel(bytes(packed)))

    def test_no_disk_space_is_told(self):
        class Full:
            free = 1 << 20
        with tempfile.TemporaryDirectory() as folder:
            usage, image.shutil.disk_usage = image.shutil.disk_usage, lambda _: Full
            self.addCleanup(setattr, image.shutil, "disk_usage", usage)
            with self.assertRaisesRegex(Impossible, "1 MiB free"):
                image.build(pathlib.Path(folder), lambda _: None)


@unittest.skipIf(shutil.which("dpkg-query") is None, "not on Debian")
class Packages(unittest.TestCase):
    def test_missing_ones_are_named(self):
        self.addCleanup(os.environ.pop, "TF_SKIP_SETUP", None)
        os.environ["TF_SKIP_SETUP"] = "1"
        with self.assertRaisesRegex(Impossible, "apt-get install .*no-such-package-of-debian"):
            packages.require(["no-such-package-of-debian"], lambda _: None)


class CommandLine(unittest.TestCase):
    def refuses(self, word, *words):
        done = subprocess.run([str(TOOLS / "rdma-vm"), *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(word, done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_wrong_words(self):
        self.refuses("which script", "run")
        self.refuses("no such file", "run", "/nonexistent.sh")
        self.refuses("only run takes a script", "build", str(TOOLS / "test"))
        self.refuses("not allowed with", "--quick", "--faults")
        self.refuses("belong to the tests", "run", str(TOOLS / "test"), "--quick")
        self.refuses("from 256", "--memory", "3")
        self.refuses("nothing else", "--two", "--only", "hello")
        self.refuses("does not run hip_bench; possible: conformance", "--quick", "--only", "hip_bench")
        self.refuses("does not run hello; possible: none", "--faults", "--only", "hello")
        self.refuses("invalid choice", "boot")
        self.refuses("which folder", "fidelity")
        self.refuses("no such folder", "fidelity", str(TOOLS / "test"))
        self.refuses("only fidelity takes more", "run", str(TOOLS / "test"), "--", "--short")
        self.refuses("belong to the tests", "fidelity", str(TOOLS), "--only", "hello")

    def test_fidelity_in_the_guest(self):
        words = ["--filter", "a b/*:*'s*", "--timeout", "300"]
        options = cli.parse(["fidelity", str(TOOLS), "--memory", "3072", "--", *words])
        self.assertEqual((options.words, options.memory, options.limit), (words, 3072, 3600))
        with tempfile.TemporaryDirectory() as folder:
            tool = pathlib.Path(folder) / "tool"
            tool.write_text('#!/bin/sh\nprintf "%s\\n" "$@" "$TF_RDMA_DEVICE"; exit 7\n')
            tool.chmod(0o755)
            settings = {"BUILD": "/the build", "FIDELITY": tool, "PROGRAMS": "/pro grams",
                        "WORDS": shlex.join(options.words)}
            lines = [f"{name}={shlex.quote(str(value))}\n" for name, value in settings.items()]
            (pathlib.Path(folder) / "config").write_text("".join(lines))
            done = subprocess.run(["bash", str(image.GUEST / "fidelity.sh")], capture_output=True, text=True,
                                  env=dict(os.environ, VM=folder))
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual(done.stdout.splitlines(),
                         ["/pro grams", "--build", "/the build", "--ways", "native,rdma", *words, "rxe0"])

    def test_help_teaches(self):
        done = subprocess.run([str(TOOLS / "rdma-vm"), "--help"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0)
        for word in ("tools/rdma-vm --quick", "run my_script.sh", "exit codes", "soft-RoCE"):
            self.assertIn(word, done.stdout)

    def test_without_python(self):
        with tempfile.TemporaryDirectory() as folder:
            for word in ("bash", "dirname", "id"):
                os.symlink(shutil.which(word), pathlib.Path(folder) / word)
            done = subprocess.run([shutil.which("bash"), str(TOOLS / "rdma-vm"), "--help"], capture_output=True,
                                  text=True, env={"PATH": folder, "TF_SKIP_SETUP": "1"})
        self.assertEqual(done.returncode, 3)
        self.assertIn("as root: tools/setup", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
