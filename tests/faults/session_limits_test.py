# SPDX-License-Identifier: Apache-2.0
"""What one session may have of the host: a client whose kernels fork without end, fill the disk, and want to be spared
when memory runs out. Neighbours and the supervisor go on."""
import errno
import os
import pathlib
import re
import subprocess
import tempfile

from audit_test import HIP_WORKER
from harness import MIB, SLOWER, FaultTest, Worker, eventually, main
from walls_test import HAS_USERS, USERS, needs_root

OOM_SCORE = "900"
CAP_SYS_RESOURCE = 1 << 24
CAPABILITIES = int(re.search(r"CapEff:\s*(\w+)", pathlib.Path("/proc/self/status").read_text("ascii")).group(1), 16)
PROCESSES = 200
DISK_MIB = 16


class Limits(FaultTest):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory(prefix="hip-limits-")
        os.chmod(self.place.name, 0o755)
        self.addCleanup(self.place.cleanup)

    def worker(self, *extra):
        before = os.environ.get("TMPDIR")
        os.environ["TMPDIR"] = self.place.name
        try:
            worker = Worker(*extra)
        finally:
            del os.environ["TMPDIR"]
            if before is not None:
                os.environ["TMPDIR"] = before
        self.addCleanup(worker.__exit__)
        return worker

    def lines(self, client):
        return {line.split()[0]: tuple(map(int, line.split()[1:]))
                for line in client.process.stdout.read().decode().split("\n") if line}

    def attack(self, worker, *words):
        """{attempt: (result, errno)}, while a neighbour works; it and the supervisor are as before."""
        with worker.client("tcp", "hold", 4096) as neighbour:
            neighbour.expect("holding")
            with worker.client("tcp", *words) as client:
                self.assertEqual(client.wait(60), 0, client.errors())
                found = self.lines(client)
            self.expect_served(worker)
            neighbour.poke()
            neighbour.expect("alive", 20)
        return found

    def folder_of_the_spare(self, worker):
        (root,) = pathlib.Path(self.place.name).glob("hip-worker-*")
        self.assertTrue(eventually(lambda: len(worker.children()) == 1, 10))
        return max(root.iterdir(), key=lambda path: int(path.name))

    @needs_root
    def test_forks_without_end(self):
        worker = self.worker("--session-processes", str(PROCESSES), *USERS)
        self.assertIn(f"processes {PROCESSES}", worker.log())
        forked, error = self.attack(worker, "attack-bomb", 100 * PROCESSES)["bomb"]
        self.assertEqual(error, errno.EAGAIN)
        self.assertLess(forked, PROCESSES)
        self.assertGreater(forked, 10)
        self.assertTrue(eventually(worker.idle, 20), worker.children())

    def test_a_full_disk(self):
        for extra in ((), USERS) if HAS_USERS else ((),):
            worker = self.worker("--session-disk", str(DISK_MIB), *extra)
            if "disk (" in worker.log():
                self.skipTest("this user may have no mounts of its own")
            self.assertIn(f"disk {DISK_MIB} MiB", worker.log())
            folder = self.folder_of_the_spare(worker)
            with worker.client("tcp", "attack-fill", folder / "file", 100 * DISK_MIB) as client:
                self.assertEqual(client.wait(60), 0, client.errors())
                written, error = self.lines(client)["fill"]
            self.assertEqual(error, errno.ENOSPC)
            self.assertLessEqual(written, DISK_MIB * MIB)
            self.assertGreater(written, DISK_MIB * MIB // 2)
            self.assertTrue(eventually(lambda folder=folder: not folder.exists(), 10))
            self.expect_served(worker)
            worker.__exit__()

    def test_a_worker_that_was_killed_leaves_no_mount(self):
        worker = self.worker()
        worker.process.kill()
        worker.process.wait()
        self.assertNotIn(self.place.name, pathlib.Path("/proc/mounts").read_text(encoding="utf-8"))
        self.assertTrue(eventually(self.removed, 10))

    def removed(self):
        subprocess.run(["rm", "-rf", *pathlib.Path(self.place.name).iterdir()], check=False)
        return not list(pathlib.Path(self.place.name).iterdir())

    def test_who_ends_first_without_memory(self):
        for extra in ((), USERS) if HAS_USERS else ((),):
            worker = self.worker(*extra)
            own = pathlib.Path("/proc/self/oom_score_adj").read_text(encoding="ascii")
            self.assertEqual(pathlib.Path(f"/proc/{worker.pid}/oom_score_adj").read_text(encoding="ascii"), own)
            for pid in worker.children():
                score = pathlib.Path(f"/proc/{pid}/oom_score_adj")
                self.assertEqual(score.read_text(encoding="ascii").strip(), OOM_SCORE)
            found = self.attack(worker, "attack-write", "/proc/self/oom_score_adj", "0")
            if extra:  # the file is root's
                self.assertEqual(found["open"][1], errno.EACCES)
            elif CAPABILITIES & CAP_SYS_RESOURCE:
                self.assertEqual(found["write"][1], errno.EACCES)

    def test_what_was_asked_for_and_cannot_be_had_is_an_error(self):
        """Or it holds: that depends on the cgroup of this test."""
        for option in ("--session-memory", "--session-processors"):
            ready, end = os.pipe()
            command = [HIP_WORKER, "--socket", f"{self.place.name}/socket", "--runtime", "cpu", option, "64",
                       "--ready-fd", str(end)]
            with subprocess.Popen(command, pass_fds=[end], stderr=subprocess.PIPE, text=True) as worker:
                os.close(end)
                with os.fdopen(ready) as stream:
                    is_ready = stream.readline() != ""
                worker.terminate()
                log = worker.communicate(timeout=20 * SLOWER)[1]
                if is_ready:
                    self.assertIn(f"{option.removeprefix('--session-')} 64", log)
                else:
                    self.assertEqual(worker.returncode, 1, log)
                    self.assertIn(f"{option} needs a cgroup that is delegated to the worker", log)

    def test_the_log_says_what_is_not_limited(self):
        self.assertRegex(self.worker().log(), r"limits of sessions: .*not limited: .*memory \(no --session-memory\)")


if __name__ == "__main__":
    main()
