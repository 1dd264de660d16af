# SPDX-License-Identifier: Apache-2.0
"""Two machines in networks of their own with a router between them, as three network namespaces: a new user's way from
keygen to a running program, by commands alone."""
import os
import signal
import subprocess
import sys
import unittest

from harness import BUILD, CLIENT, SLOWER, FaultTest, Worker, eventually, main
from keys import HIP_REMOTE, Keys

GPUHOST, LAPTOP = "10.213.77.2", "10.213.78.2"
GATEWAYS = {GPUHOST: "10.213.77.1", LAPTOP: "10.213.78.1"}  # the router, as each of them sees it


def command(*words, check=True):
    return subprocess.run(words, check=check, capture_output=True, text=True, timeout=60)


class Wire:
    """The namespaces `near` (the GPU host), `far` (the laptop) and the router, and two veth pairs; raises OSError where
    they cannot be had. The router takes one hop off each packet's time to live, so what comes through did pass it."""

    def __init__(self):
        self.near, self.router, self.far = (f"hip{side}{os.getpid()}" for side in "arb")
        self.made = []
        try:
            for name in (self.near, self.router, self.far):
                command("ip", "netns", "add", name)
                self.made.append(name)
                command("ip", "-n", name, "link", "set", "lo", "up")
            self.connect(self.near, GPUHOST)
            self.connect(self.far, LAPTOP)
            command("ip", "netns", "exec", self.router, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
        except (OSError, subprocess.CalledProcessError) as error:
            self.close()
            raise OSError(getattr(error, "stderr", None) or str(error)) from error

    def connect(self, name, address):
        command("ip", "-n", name, "link", "add", "wire", "type", "veth", "peer", "name", name, "netns", self.router)
        for where, link, end in ((name, "wire", address), (self.router, name, GATEWAYS[address])):
            command("ip", "-n", where, "address", "add", f"{end}/24", "dev", link)
            command("ip", "-n", where, "link", "set", link, "up")
        command("ip", "-n", name, "route", "add", "default", "via", GATEWAYS[address])

    def forwarded(self):
        """Packets that the router has sent on."""
        lines = command("ip", "netns", "exec", self.router, "cat", "/proc/net/snmp").stdout.splitlines()
        names, numbers = (line.split() for line in lines if line.startswith("Ip:"))
        return int(numbers[names.index("ForwDatagrams")])

    def close(self):
        for name in self.made:
            command("ip", "netns", "delete", name, check=False)

    def program_in(self, folder, namespace, program):
        """A script that is `program` in that namespace."""
        path = os.path.join(folder, f"{os.path.basename(program)}-{namespace}")
        with open(path, "w", encoding="ascii") as script:
            script.write(f"#!/bin/sh\nexec ip netns exec {namespace} {program} \"$@\"\n")
        os.chmod(path, 0o755)
        return path


class TwoMachines(FaultTest):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("only root can make network namespaces")
        try:
            cls.wire = Wire()
        except OSError as error:
            raise unittest.SkipTest(f"no network namespaces here: {error}")
        cls.addClassCleanup(cls.wire.close)

    def setUp(self):
        self.keys = Keys()
        self.addCleanup(self.keys.directory.cleanup)
        self.home = self.keys.path("home")
        os.mkdir(self.home)

    def worker(self, *extra):
        program = self.wire.program_in(self.keys.directory.name, self.wire.near,
                                       os.path.join(BUILD, "bin", "hip-worker"))
        worker = Worker("--listen", GPUHOST, *self.keys.options(*extra), program=program)
        self.addCleanup(worker.__exit__)
        return worker

    def laptop(self, *words, **variables):
        """A command of the user, who has set nothing else."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("TF_", "XDG_"))}
        return subprocess.run(["ip", "netns", "exec", self.wire.far, *words], capture_output=True, text=True,
                              timeout=60 * SLOWER, env={**clean, "HOME": self.home, **variables}, check=False)

    def run_program(self, worker, **variables):
        return self.laptop(HIP_REMOTE, "run", "--worker", f"{GPUHOST}:{worker.port}", "--", CLIENT, "hello",
                           **variables)

    def test_from_keygen_to_a_running_program(self):
        worker = self.worker("-v")
        made = self.laptop(HIP_REMOTE, "keygen")
        self.assertEqual(made.returncode, 0, made.stderr)
        refused = self.run_program(worker)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("this worker does not know the key", refused.stderr)
        self.keys.authorize(made.stdout.strip())
        os.kill(worker.pid, signal.SIGHUP)
        self.assertTrue(eventually(lambda: "1 keys may come in" in worker.log().split("read again")[-1], 10))
        before = self.wire.forwarded()
        for attempt in range(2):
            ran = self.run_program(worker)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertIn("hello 42", ran.stdout)
            self.assertEqual("met the worker" in ran.stderr, attempt == 0 and "met the worker" not in refused.stderr)
        self.assertGreater(self.wire.forwarded(), before + 20)
        self.assertIn(f"from {LAPTOP}:", worker.log())
        self.assertIn("over tcp", worker.log())
        self.assertIn("level encrypt", worker.log())

    def test_without_a_key_nothing_leaves(self):
        worker = self.worker()
        told = self.run_program(worker)
        self.assertNotEqual(told.returncode, 0)
        self.assertIn("hip-remote keygen", told.stderr)
        told = self.run_program(worker, TF_SECURITY="none")
        self.assertIn("TF_SECURITY=none is for workers on this host", told.stderr)

    def test_info_says_the_level_and_both_keys(self):
        worker = self.worker()
        made = self.laptop(HIP_REMOTE, "keygen", "--name", "alice")
        self.keys.authorize(made.stdout.strip())
        os.kill(worker.pid, signal.SIGHUP)
        self.assertTrue(eventually(lambda: "read again" in worker.log(), 10))
        info = self.laptop(HIP_REMOTE, "info", "--worker", f"{GPUHOST}:{worker.port}")
        self.assertEqual(info.returncode, 0, info.stderr)
        self.assertIn(f"worker   {GPUHOST}:{worker.port}: level encrypt, known as {self.keys.fingerprint('worker')}",
                      info.stdout)
        self.assertIn("/.config/hip-remote/key", info.stdout)


if __name__ == "__main__":
    if not os.path.exists(HIP_REMOTE):
        sys.exit(f"TF_BUILD_DIR: no {HIP_REMOTE}")
    main()
