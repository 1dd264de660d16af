#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""smi-remote, librocm_smi64 and AMD's rocm-smi, on a worker with the CPU runtime.

smi_test.py BUILD [ROCM-CLIENT [ROCM-SMI]]: the program of rocm_client.c, and AMD's rocm-smi, where there are any.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "faults"))
from harness import MIB, Worker, eventually  # noqa: E402  (where it is, this file says)
from keys import Keys  # noqa: E402

BUILD = pathlib.Path(sys.argv[1])
ROCM_CLIENT, ROCM_SMI = (sys.argv[2:] + ["", ""])[:2]
LIMIT_S = 60
CLEAN = {name: value for name, value in os.environ.items()
         if not name.startswith(("TF_", "HIP_")) and name not in ("LD_PRELOAD", "LD_LIBRARY_PATH")}
NOT_SUPPORTED, PERMISSION, INIT_ERROR = 2, 4, 8


def run(*words, **changes):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=LIMIT_S, check=False,
                          stdin=subprocess.DEVNULL, env={**CLEAN, **changes})


def symbols_of(library):
    listed = run("nm", "-D", "--defined-only", library).stdout
    return {line.split()[-1].partition("@")[0] for line in listed.splitlines()}


class Smi(unittest.TestCase):
    """A worker with two devices, and clients over its Unix socket."""

    def start(self, *options, devices="2", **environment):
        worker = Worker(*options, environment={"HIP_CPU_DEVICES": devices, **environment})
        self.addCleanup(worker.__exit__)
        return worker

    def holder(self, worker, mebibytes, transport="shm", **changes):
        client = worker.client(transport, "hold", mebibytes * MIB, **changes)
        self.addCleanup(client.__exit__)
        self.assertEqual(client.expect("holding", 30)[0], 0, client.errors())
        return client

    def ask(self, worker, *words, **changes):
        done = run(BUILD / "bin/smi-remote", *words, "--host", f"unix:{worker.socket}", **changes)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def ask_json(self, worker, *words, **changes):
        return json.loads(self.ask(worker, *words, "--json", **changes))


class SmiRemote(Smi):
    def test_devices_are_those_of_hip(self):
        worker = self.start()
        devices = self.ask_json(worker, "list")["devices"]
        self.assertEqual([device["device"] for device in devices], [0, 1])
        for device in devices:
            self.assertEqual(device["architecture"].partition(":")[0], "x86_64-cpu")
            self.assertEqual(device["runtime"], "host")
            self.assertGreater(device["memory_total_bytes"], 0)
            self.assertIn(device["core_busy_percent"], range(101))
            self.assertGreater(device["host_memory_total_bytes"], device["host_memory_used_bytes"])
        for what in ("pci_bus", "unique_id"):
            self.assertNotEqual(devices[0][what], devices[1][what])
        for variable, value, order in (("HIP_VISIBLE_DEVICES", "1,0", (1, 0)), ("TF_DEVICE_ID", "1", (1,))):
            seen = self.ask_json(worker, "list", **{variable: value})["devices"]
            self.assertEqual([row["pci_bus"] for row in seen], [devices[index]["pci_bus"] for index in order])

    def test_one_device(self):
        worker = self.start()
        self.assertEqual([row["device"] for row in self.ask_json(worker, "info", "1")["devices"]], [1])
        self.assertRegex(self.ask(worker, "metrics", "0"), r"^GPU 0\n  GPU use \(%\) +\d+\n")
        self.assertRegex(self.ask(worker, "info"), r"  VRAM total memory \(B\)  \d+  \(\d+\.\d GiB\)\n")
        self.assertRegex(self.ask(worker, "info"), r"\n  N/A: .*\bSerial Number\b")
        done = run(BUILD / "bin/smi-remote", "info", "7", "--host", f"unix:{worker.socket}")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("there is no device 7; this worker shows 2", done.stderr)

    def test_memory_and_processes_are_the_tenants(self):
        worker = self.start()

        def processes():  # but for those that have just asked: their sessions end a moment later
            rows = self.ask_json(worker, "processes")["processes"]
            return [row for row in rows if row["program"] != "smi-remote"]

        before = self.ask_json(worker, "metrics", "0")["devices"][0]["memory_used_bytes"]
        self.assertEqual(processes(), [])
        client = self.holder(worker, 96)
        row, = processes()
        self.assertEqual((row["pid"], row["program"]), (client.pid, "fault_client"))
        self.assertGreaterEqual(row["memory_bytes"][0], 96 * MIB)
        self.assertEqual(row["memory_bytes"][1], 0)
        after = self.ask_json(worker, "metrics", "0")["devices"][0]["memory_used_bytes"]
        self.assertGreaterEqual(after - before, 96 * MIB)
        self.assertIn("fault_client", self.ask(worker, "processes"))
        client.kill()
        self.assertTrue(eventually(lambda: processes() == [], 10))

    def test_topology(self):
        worker = self.start()
        links = self.ask_json(worker, "topology")["links"]
        self.assertEqual([link["hops"] for link in links], [0, 1, 1, 0])
        self.assertEqual([link["bandwidth_most_mb_per_s"] for link in links], [None] * 4)
        text = self.ask(worker, "topology")
        self.assertEqual(re.findall(r"(?m)^GPU([01]) +(\S+) +(\S+)$", text.partition("\n\n")[0]),
                         [("0", "-", "memory"), ("1", "memory", "-")])
        self.assertIn(f"GPU0     -    {links[1]['weight']:>2}\n", text)
        self.assertEqual([(link["from"], link["to"], link["link"]) for link in links],
                         [(0, 0, "same"), (0, 1, "memory"), (1, 0, "memory"), (1, 1, "same")])

    def test_watch_ends_after_its_count(self):
        worker = self.start()
        self.holder(worker, 8)
        text = self.ask(worker, "watch", "--count", "2", "--color", "always")
        self.assertEqual(text.count("PROCESS NAME"), 2)
        self.assertIn("\033[0m", text)
        self.assertNotIn("\033[0m", self.ask(worker, "watch", "--count", "1"))

    def test_watch_for_programs(self):
        worker = self.start()
        client = self.holder(worker, 8)
        first, second = map(json.loads, self.ask(worker, "watch", "--count", "2", "--json").splitlines())
        self.assertGreaterEqual(second["time_ms"] - first["time_ms"], 900)
        for look in (first, second):
            self.assertEqual([device["device"] for device in look["devices"]], [0, 1])
            self.assertIn(client.pid, [row["pid"] for row in look["processes"]])

    def test_an_unknown_runtime_leaves_what_hip_knows(self):
        worker = self.start(TF_SMI_RUNTIME="magic")
        device = self.ask_json(worker, "list")["devices"][0]
        self.assertEqual((device["runtime"], device["core_busy_percent"]), (None, None))
        self.assertGreater(device["memory_total_bytes"], 0)
        self.assertIn("TF_SMI_RUNTIME=magic: expected auto, amd, nvidia or host", worker.log())

    def test_no_worker(self):
        done = run(BUILD / "bin/smi-remote", "list", "--host", "127.0.0.1:1", TF_CONNECT_TIMEOUT="1")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("127.0.0.1:1", done.stderr)


class Tenants(Smi):
    def test_other_tenants_do_not_exist(self):
        with Keys() as keys:
            keys.authorize(*(keys.make(name) for name in ("ann", "bob")))
            worker = self.start(*keys.options("--limit", "memory=1G"))
            self.holder(worker, 64, "tcp", **keys.environment("ann"))
            address = f"127.0.0.1:{worker.port}"
            for name, count in (("ann", 1), ("bob", 0)):
                answers = {}
                for what in ("processes", "metrics"):
                    done = run(BUILD / "bin/smi-remote", what, "--json", "--host", address, **keys.environment(name))
                    self.assertEqual(done.returncode, 0, done.stderr)
                    answers.update(json.loads(done.stdout))
                self.assertEqual(len(answers["processes"]), count, name)
                used = answers["devices"][0]["memory_used_bytes"]
                self.assertEqual(used >= 64 * MIB, count == 1, f"{name}: {used}")


class RocmSmi(Smi):
    LIBRARIES = [BUILD / f"lib/librocm_smi64.so.{major}" for major in (1, 5, 6, 7)]

    def test_every_symbol_and_no_other(self):
        described = set(re.findall(r"rsmi_status_t (rsmi_\w+)\(",
                                   (FOLDER.parent.parent / "smi/api/rocm_smi.h").read_text()))
        self.assertGreaterEqual(len(described), 118)
        for library in self.LIBRARIES:
            self.assertEqual(symbols_of(library), described | {"hip_remote_smi_version"}, library)
            needed = run("readelf", "-d", library).stdout
            self.assertIn(f"[{library.name}]", needed)  # its soname

    def test_every_function_without_a_session(self):
        """In a process of its own: none crashes, and each says that there is none."""
        script = ("import ctypes, sys\n"
                  "library = ctypes.CDLL(sys.argv[1])\n"
                  "for name in sys.argv[2:]:\n"
                  "    print(name, getattr(library, name)(0, *([None] * 4)) & 0xffffffff)\n")
        names = sorted(symbols_of(self.LIBRARIES[-1]) - {"hip_remote_smi_version", "rsmi_init"})
        done = run(sys.executable, "-c", script, self.LIBRARIES[-1], *names)
        self.assertEqual(done.returncode, 0, done.stderr)
        codes = dict(line.split() for line in done.stdout.splitlines())
        self.assertEqual(len(codes), len(names))
        others = {name: code for name, code in codes.items() if code not in ("1", str(INIT_ERROR))}
        self.assertEqual(others, {})

    def test_every_function_with_a_session_and_null_pointers(self):
        worker = self.start()
        script = ("import ctypes, sys\n"
                  "library = ctypes.CDLL(sys.argv[1])\n"
                  "assert library.rsmi_init(ctypes.c_uint64(0)) == 0\n"
                  "for name in sys.argv[2:]:\n"
                  "    print(name, getattr(library, name)(0, *([None] * 4)) & 0xffffffff)\n")
        names = sorted(symbols_of(self.LIBRARIES[-1]) - {"hip_remote_smi_version", "rsmi_init", "rsmi_shut_down"})
        done = run(sys.executable, "-c", script, self.LIBRARIES[-1], *names, TF_WORKER_SOCKET=worker.socket)
        self.assertEqual(done.returncode, 0, done.stderr)
        codes = dict(line.split() for line in done.stdout.splitlines())
        self.assertEqual(set(codes.values()) - {"1", str(NOT_SUPPORTED), str(PERMISSION)}, set(), codes)
        setters = {name for name in names if re.search(r"_set(_v1)?$|_reset$", name)} - {
            "rsmi_event_notification_mask_set"}
        self.assertEqual({name for name in setters if codes[name] != str(PERMISSION)}, set())

    def test_links(self):
        worker = self.start()
        script = ("import ctypes, sys\n"
                  "library = ctypes.CDLL(sys.argv[1])\n"
                  "assert library.rsmi_init(ctypes.c_uint64(0)) == 0\n"
                  "value, hops, kind = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_uint32()\n"
                  "for one, other in (0, 0), (0, 1), (1, 0), (1, 1):\n"
                  "    assert library.rsmi_topo_get_link_weight(one, other, ctypes.byref(value)) == 0\n"
                  "    assert library.rsmi_topo_get_link_type(one, other, ctypes.byref(hops), "
                  "ctypes.byref(kind)) == 0\n"
                  "    print(value.value, hops.value)\n")
        for library in self.LIBRARIES:
            done = run(sys.executable, "-c", script, library, TF_WORKER_SOCKET=worker.socket)
            self.assertEqual(done.returncode, 0, done.stderr)
            (own, _), (there, hops), (back, _), _ = [line.split() for line in done.stdout.splitlines()]
            self.assertEqual((own, there, hops), ("0", back, "1"), library)
            self.assertGreaterEqual(int(there), 10)

    def test_what_rccl_asks(self):
        """The eight functions that librccl.so.1 of Debian's 5.4.3 imports, and the firmware that newer ones ask for."""
        worker = self.start()
        script = ("import ctypes, sys\n"
                  "library = ctypes.CDLL(sys.argv[1])\n"
                  "class Version(ctypes.Structure):\n"
                  "    _fields_ = [(name, ctypes.c_uint32) for name in ('major', 'minor', 'patch')] + [\n"
                  "        ('build', ctypes.c_char_p)]\n"
                  "def ask(name, *values):\n"
                  "    code = getattr(library, 'rsmi_' + name)(*values)\n"
                  "    text = ctypes.c_char_p()\n"
                  "    assert library.rsmi_status_string(code, ctypes.byref(text)) == 0 and text.value, (name, code)\n"
                  "    print(name, code, text.value.decode())\n"
                  "    return code\n"
                  "version, count = Version(), ctypes.c_uint32()\n"
                  "ask('init', ctypes.c_uint64(0))\n"
                  "ask('version_get', ctypes.byref(version))\n"
                  "ask('num_monitor_devices', ctypes.byref(count))\n"
                  "assert count.value == 2 and version.major >= 5 and version.build\n"
                  "a, b, kind = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_uint32()\n"
                  "for device in range(2):\n"
                  "    ask('dev_pci_id_get', device, ctypes.byref(a))\n"
                  "    print('pci', '%04x:%02x:%02x.%x' % (a.value >> 32, a.value >> 8 & 255, a.value >> 3 & 31,\n"
                  "                                        a.value & 7))\n"
                  "    ask('dev_firmware_version_get', device, 0, ctypes.byref(a))\n"
                  "ask('topo_get_link_type', 0, 1, ctypes.byref(a), ctypes.byref(kind))\n"
                  "ask('topo_get_link_weight', 0, 1, ctypes.byref(b))\n"
                  "ask('minmax_bandwidth_get', 0, 1, ctypes.byref(a), ctypes.byref(b))\n")
        hip = [device["pci_bus"] for device in self.ask_json(worker, "list")["devices"]]
        for library in self.LIBRARIES:
            done = run(sys.executable, "-c", script, library, TF_WORKER_SOCKET=worker.socket)
            self.assertEqual(done.returncode, 0, done.stderr)
            lines = [line.split(maxsplit=2) for line in done.stdout.splitlines()]
            self.assertEqual([line[1] for line in lines if line[0] == "pci"], hip, "RCCL matches them with HIP's")
            # The host has no link between devices whose bandwidth it knows, and no firmware: RCCL goes on without.
            unknown = {line[0] for line in lines if line[0] != "pci" and line[1] != "0"}
            self.assertEqual(unknown, {"dev_firmware_version_get", "minmax_bandwidth_get"}, library)
            self.assertEqual({line[1] for line in lines if line[0] in unknown}, {str(NOT_SUPPORTED)}, library)

    def test_layouts_of_majors(self):
        """The list of frequencies, of ROCm 5 and of ROCm 6, and nothing behind it."""
        worker = self.start()
        script = ("import ctypes, sys\n"
                  "library = ctypes.CDLL(sys.argv[1])\n"
                  "assert library.rsmi_init(ctypes.c_uint64(0)) == 0\n"
                  "buffer = (ctypes.c_uint8 * 512)(*([0x5a] * 512))\n"
                  "print(library.rsmi_dev_gpu_clk_freq_get(0, 0, buffer))\n"
                  "print(bytes(buffer).rstrip(b'\\x5a').hex())\n")
        debians, rocm5, _, rocm7 = self.LIBRARIES  # Debian's name is that of both
        for library, rocm, bytes_of_all, first in ((rocm5, "", 264, 0), (rocm7, "", 280, 4),
                                                   (debians, "5", 264, 0), (debians, "6", 280, 4)):
            done = run(sys.executable, "-c", script, library, TF_WORKER_SOCKET=worker.socket, TF_ROCM_SMI=rocm)
            self.assertEqual(done.returncode, 0, done.stderr)
            code, written = done.stdout.split("\n")[:2]
            if code == str(NOT_SUPPORTED):
                self.skipTest("this host does not say how fast its processors are")
            listed = bytes.fromhex(written)
            self.assertEqual((code, len(listed)), ("0", bytes_of_all), (library, rocm))
            count = int.from_bytes(listed[first:first + 4], "little")
            self.assertIn(count, (1, 2, 3))

    def test_fork(self):
        worker = self.start()
        script = ("import ctypes, os, sys\n"
                  "library = ctypes.CDLL(sys.argv[1])\n"
                  "count = ctypes.c_uint32()\n"
                  "assert library.rsmi_init(ctypes.c_uint64(0)) == 0\n"
                  "if os.fork() == 0:\n"
                  "    assert library.rsmi_num_monitor_devices(ctypes.byref(count)) == 8\n"
                  "    assert library.rsmi_init(ctypes.c_uint64(0)) == 0\n"
                  "    assert library.rsmi_num_monitor_devices(ctypes.byref(count)) == 0\n"
                  "    os._exit(count.value)\n"
                  "assert os.waitstatus_to_exitcode(os.wait()[1]) == 2\n"
                  "assert library.rsmi_num_monitor_devices(ctypes.byref(count)) == 0\n")
        done = run(sys.executable, "-c", script, self.LIBRARIES[-1], TF_WORKER_SOCKET=worker.socket)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_a_lost_worker(self):
        worker = self.start()
        script = ("import ctypes, os, sys, time\n"
                  "library = ctypes.CDLL(sys.argv[1])\n"
                  "value = ctypes.c_uint32()\n"
                  "assert library.rsmi_init(ctypes.c_uint64(0)) == 0\n"
                  "print('ready', flush=True)\n"
                  "sys.stdin.readline()\n"
                  "print(library.rsmi_dev_busy_percent_get(0, ctypes.byref(value)) & 0xffffffff)\n")
        client = subprocess.Popen([sys.executable, "-c", script, self.LIBRARIES[-1]], stdin=subprocess.PIPE, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env={**CLEAN, "TF_WORKER_SOCKET": worker.socket})
        self.assertEqual(client.stdout.readline(), "ready\n")
        worker.process.kill()
        worker.process.wait()
        out, errors = client.communicate("\n", timeout=LIMIT_S)
        self.assertEqual((client.returncode, out.strip()), (0, str(0xffffffff)), errors)
        self.assertIn("lost the worker", errors)

    @unittest.skipUnless(ROCM_CLIENT, "AMD's header is not installed")
    def test_a_program_in_c(self):
        worker = self.start()
        client = self.holder(worker, 32)
        done = run(BUILD / "bin/hip-remote", "run", "--worker", f"unix:{worker.socket}", "--", ROCM_CLIENT)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        self.assertEqual([row[0] for row in rows], ["0", "1", "process"])
        self.assertGreaterEqual(int(rows[0][2]), 32 * MIB)
        self.assertEqual(rows[2][1:], [str(client.pid), rows[2][2], "1"])

    @unittest.skipUnless(ROCM_SMI, "AMD's rocm-smi is not installed")
    def test_amds_program(self):
        worker = self.start()
        client = self.holder(worker, 32)

        def rocm_smi(*words):
            done = run(BUILD / "bin/hip-remote", "run", "--worker", f"unix:{worker.socket}", "--", ROCM_SMI, *words)
            self.assertNotIn("Traceback", done.stderr)
            self.assertNotIn("not initialized", done.stderr)
            return done.stdout

        concise = rocm_smi()
        rows = re.findall(r"^(\d)\s.*\d+%\s*$", concise, re.MULTILINE)
        self.assertEqual(rows, ["0", "1"], concise)
        use = json.loads(rocm_smi("--showuse", "--showmeminfo", "vram", "--showbus", "--json"))
        self.assertEqual(list(use), ["card0", "card1"])
        self.assertIn(int(use["card0"]["GPU use (%)"]), range(101))
        self.assertGreaterEqual(int(use["card0"]["VRAM Total Used Memory (B)"]), 32 * MIB)
        named = self.ask_json(worker, "list")["devices"]
        self.assertEqual([use[card]["PCI Bus"].lower() for card in use], [device["pci_bus"] for device in named])
        topology = rocm_smi("--showtopo")
        for title in ("Weight between two GPUs", "Hops between two GPUs", "Link Type between two GPUs"):
            matrix = topology.split(title, 1)[1]
            rows = [re.search(rf"(?m)^GPU{row}\s+(\S+)\s+(\S+)\s*$", matrix).groups() for row in (0, 1)]
            self.assertEqual(rows[0][0], "0", topology)
            self.assertEqual(rows[0][1], rows[1][0], topology)
            if title.startswith("Weight"):
                self.assertGreaterEqual(int(rows[0][1]), 10)
        self.assertRegex(rocm_smi("--showpids"), rf"(?m)^{client.pid}\s+fault_client\s+1\s+\d+")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
