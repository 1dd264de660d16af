# SPDX-License-Identifier: Apache-2.0
"""Limits of sessions that the kernel keeps by cgroups (version 2), in a cgroup that is delegated to the worker as a
service manager does it. They are tried where this user can make one that has the controllers; else the reason is said.
tools/rdma-vm --faults has a kernel that can. tests/unit/worker/session_cgroups_test.cc looks at what is written to the
files, on any machine."""
import errno
import os
import pathlib
import re
import time
import unittest

from harness import MIB, FaultTest, Worker, eventually, main

CONTROLLERS = ("memory", "pids", "cpu")
MEMORY_MIB = 128
PROCESSES = 100
BURN_MS = 1000  # for each of BURN_BLOCKS
BURN_BLOCKS = 4
OPTIONS = ("--session-memory", str(MEMORY_MIB), "--session-processes", str(PROCESSES), "--session-processors", "1")


def own_cgroup():
    """The folder of this process's cgroup. Raises SkipTest where there is none of version 2."""
    groups = pathlib.Path("/proc/self/cgroup").read_text(encoding="ascii")
    mounts = pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    own = re.search(r"^0::(.*)$", groups, re.MULTILINE)
    mount = re.search(r"^\S+ \S+ \S+ (\S+) (\S+) .* - cgroup2 ", mounts, re.MULTILINE)
    if own is None or mount is None:
        raise unittest.SkipTest("cgroup v2 is not mounted")
    path = own.group(1)
    if mount.group(1) != "/" and path.startswith(mount.group(1)):
        path = path[len(mount.group(1)):]
    return pathlib.Path(mount.group(2), path.lstrip("/"))


def missing(folder, file):
    """Controllers that are not in the list in that file."""
    listed = (folder / file).read_text(encoding="ascii").split()
    return [name for name in CONTROLLERS if name not in listed]


class Delegated:
    """A cgroup of its own below this process's, with the controllers; empty, for one worker."""

    def __init__(self):
        self.parent = own_cgroup()
        absent = missing(self.parent, "cgroup.controllers")
        if absent:
            raise unittest.SkipTest(f"{self.parent} has no controllers {', '.join(absent)}: cgroups of version 1 may "
                                    "have them")
        self.added = missing(self.parent, "cgroup.subtree_control")
        try:
            self.control("+")
            self.path = self.parent / f"hip-faults-{os.getpid()}"
            self.path.mkdir()
        except OSError as error:
            raise unittest.SkipTest(f"no cgroup can be made below {self.parent}: {error}") from error

    def control(self, sign):
        if self.added:
            words = " ".join(sign + name for name in self.added)
            (self.parent / "cgroup.subtree_control").write_text(words, encoding="ascii")

    def names(self):
        return sorted(entry.name for entry in self.path.iterdir() if entry.is_dir())

    def remove(self):
        self.path.rmdir()
        self.control("-")


class Cgroups(FaultTest):
    def setUp(self):
        self.cgroup = Delegated()
        self.addCleanup(self.cgroup.remove)
        self.worker = Worker(*OPTIONS, within=self.cgroup.path)
        self.addCleanup(self.worker.__exit__)

    def session(self):
        """The folder of the cgroup of the only session process."""
        (pid,) = self.worker.children()
        path = pathlib.Path(f"/proc/{pid}/cgroup").read_text(encoding="ascii")
        return self.cgroup.path / re.search(r"session-\d+", path).group()

    def told(self, client):
        return {line.split()[0]: tuple(map(int, line.split()[1:]))
                for line in client.process.stdout.read().decode().split("\n") if line}

    def test_the_log_says_that_all_hold(self):
        self.assertIn(f"limits of sessions: disk 1024 MiB, processes {PROCESSES}, memory {MEMORY_MIB} MiB, "
                      "processors 1\n", self.worker.log())

    def test_memory_ends_the_session_and_no_other(self):
        with self.worker.client("tcp", "hold", MIB) as neighbour:
            neighbour.expect("holding")
            with self.worker.client("tcp", "hold", 2 * MEMORY_MIB * MIB) as client:
                client.expect("holding", 30)
                client.poke()
                self.expect_loss(client, 30)
            self.assertIn("killed by signal 9", self.worker.log())
            neighbour.poke()
            neighbour.expect("alive", 20)
        self.expect_served(self.worker)

    def test_less_memory_than_the_limit(self):
        with self.worker.client("tcp", "hold", MEMORY_MIB * MIB // 2) as client:
            client.expect("holding", 30)
            client.poke()
            client.expect("alive", 30)

    def test_processes(self):
        with self.worker.client("tcp", "attack-bomb", 100 * PROCESSES) as client:
            self.assertEqual(client.wait(60), 0, client.errors())
            forked, error = self.told(client)["bomb"]
        self.assertEqual(error, errno.EAGAIN)
        self.assertLess(forked, PROCESSES)
        self.assertGreater(forked, 10)
        self.assertTrue(eventually(self.worker.idle, 20), self.worker.children())
        self.expect_served(self.worker)

    def test_processors(self):
        if os.cpu_count() < 2:
            self.skipTest("one processor is all that there is")
        session = self.session()
        start = time.monotonic()
        with self.worker.client("tcp", "attack-burn", BURN_MS, BURN_BLOCKS) as client:
            client.expect("burnt", 60)
            took = time.monotonic() - start
            words = (session / "cpu.stat").read_text(encoding="ascii").split()
            used = dict(zip(words[::2], map(int, words[1::2])))
        self.assertGreater(used["nr_throttled"], 0)
        self.assertGreater(used["usage_usec"], BURN_MS * 1000)
        self.assertLess(used["usage_usec"] / 1e6, 1.2 * took)

    def test_nothing_stays(self):
        self.assertTrue(eventually(lambda: self.cgroup.names() == ["hip-worker", "session-1"], 10),
                        self.cgroup.names())
        self.expect_served(self.worker)
        self.assertTrue(eventually(lambda: self.cgroup.names() == ["hip-worker", "session-2"], 10),
                        self.cgroup.names())
        self.worker.__exit__()
        self.assertEqual(self.cgroup.names(), [])


if __name__ == "__main__":
    main()
