# SPDX-License-Identifier: Apache-2.0
"""The walls around sessions: a client whose kernels attack the session's neighbours, the supervisor and the host.

Every attack is also made on a worker without walls, where it succeeds: else its failure would prove nothing.
"""
import ctypes
import errno
import fcntl
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from doors_test import reached_by
from harness import BUILD, CLIENT, FaultTest, SLOWER, Worker, eventually, is_running, main

IS_ROOT = os.geteuid() == 0
FIRST_USER = 61000
LANDLOCK_CREATE_RULESET = 444
SIGNALS_SINCE = 6  # of Landlock's versions
REFUSED = (errno.EPERM, errno.EACCES, errno.ENOENT, errno.EROFS)
USERS = ("--session-uids", f"{FIRST_USER}-{FIRST_USER + 15}", "--sessions-max", "8")


def landlock_version():
    return max(0, ctypes.CDLL(None).syscall(LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), 1))


def may_separate():
    """Whether this user, if it is root, may have namespaces of its own, and no device is there that may need the
    host's."""
    devices = [name for name in os.listdir("/dev") if name.startswith(("kfd", "nvidia", "infiniband"))]
    done = subprocess.run(["unshare", "--ipc", "--net", "--mount", "true"], check=False, stderr=subprocess.DEVNULL)
    return IS_ROOT and not devices and done.returncode == 0


needs_namespaces = unittest.skipUnless(may_separate(), "no namespaces can be had, or a device may need the host's")
LANDLOCK = landlock_version()
needs_landlock = unittest.skipUnless(LANDLOCK, "this kernel has no Landlock, so files cannot be walled off")
HAS_USERS = IS_ROOT and reached_by(FIRST_USER)
needs_root = unittest.skipUnless(HAS_USERS, "only root can start sessions as other users, and these must be able to "
                                 "reach the build's programs")


class Walls(FaultTest):
    def worker(self, *extra, **how):
        worker = Worker(*extra, **how)
        self.addCleanup(worker.__exit__)
        return worker

    def attack(self, worker, *words):
        """{attempt: (result, errno)}"""
        with worker.client("tcp", *words) as client:
            self.assertEqual(client.wait(20), 0, client.errors())
            lines = client.process.stdout.read().decode().split("\n")
        return self.attempts(lines)

    def attempts(self, lines):
        found = {line.split()[0]: tuple(map(int, line.split()[1:])) for line in lines if line}
        self.assertTrue(found)
        self.assertNotIn("lost", found)
        return found

    def expect_refused(self, found, *attempts):
        for name in attempts:
            result, error = found[name]
            self.assertLess(result, 0, f"{name} succeeded")
            self.assertIn(error, REFUSED, f"{name}: {os.strerror(error)}")

    def expect_done(self, found, *attempts):
        for name in attempts:
            self.assertGreaterEqual(found[name][0], 0, f"{name}: {os.strerror(found[name][1])}")

    def against_processes(self, *extra):
        """What a session did to its neighbour and to the supervisor."""
        worker = self.worker(*extra)
        (neighbour,) = worker.children()
        with worker.client("tcp", "hold", 4096) as client:
            client.expect("holding")
            for pid in (neighbour, worker.pid):
                before = os.sched_getaffinity(pid)
                found = self.attack(worker, "attack-process", pid)
                if os.sched_getaffinity(pid) != before:
                    found["pinned"] = (0, 0)
                yield found
            client.poke()
            client.expect("alive")

    @needs_landlock
    def test_other_processes(self):
        for found in self.against_processes():
            self.expect_refused(found, "mem", "read", "write", "trace", "getfd", "limit")
            self.assertNotIn("pinned", found)
            if LANDLOCK >= SIGNALS_SINCE:
                self.expect_refused(found, "signal")

    @needs_root
    def test_other_processes_of_another_user(self):
        for found in self.against_processes(*USERS):
            self.expect_refused(found, "mem", "read", "write", "trace", "signal", "getfd", "limit")
            self.assertNotIn("pinned", found)

    def test_without_walls_there_are_none(self):
        for found in self.against_processes("--no-sandbox"):
            self.expect_done(found, "mem", "signal", "getfd", "pin")
            if os.cpu_count() > 1:
                self.assertIn("pinned", found)
            for name in ("read", "write"):  # allowed; something may lie at that address, or not
                self.assertIn(found[name], ((8, 0), (-1, errno.EFAULT)))

    def test_files(self):
        for extra in ((), USERS) if HAS_USERS else ((),):
            worker = self.worker(*extra)
            secret = pathlib.Path(worker.directory.name, "secret")
            secret.write_text("secret")
            secret.chmod(0o600)
            found = self.attack(worker, "attack-file", secret)
            self.expect_refused(found, "mode")
            if LANDLOCK or extra:
                self.expect_refused(found, "open", "change", "make")
            if (LANDLOCK or extra) and IS_ROOT:
                self.expect_refused(self.attack(worker, "attack-file", "/etc/shadow"), "open", "change", "mode", "make")

    def test_files_without_walls(self):
        worker = self.worker("--no-sandbox")
        secret = pathlib.Path(worker.directory.name, "secret")
        secret.write_text("secret")
        self.expect_done(self.attack(worker, "attack-file", secret), "open", "change", "mode", "make")

    @needs_landlock
    def test_files_that_the_operator_lets_them_read(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "weights")
            file.write_text("weights")
            found = self.attack(self.worker("--readable", folder), "attack-file", file)
            self.expect_done(found, "open")
            self.expect_refused(found, "change", "mode", "make")

    @needs_landlock
    def test_files_that_a_private_worker_lets_them_read(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "kernels.h")
            file.write_text("kernels")
            for option in (), ("--readable", folder), ("--no-sandbox",):
                done = subprocess.run([os.path.join(BUILD, "bin", "hip-remote"), "run", "--local", "--runtime", "cpu",
                                       "--no-preload", "-t", "tcp", *option, "--", CLIENT, "attack-file", file],
                                      capture_output=True, text=True, timeout=60 * SLOWER, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                (self.expect_done if option else self.expect_refused)(self.attempts(done.stdout.splitlines()), "open")

    @needs_landlock
    def test_files_for_others_to_find(self):
        for folder in ("/tmp", "/dev/shm"):
            path = pathlib.Path(folder, f"hip-walls-{os.getpid()}")
            self.expect_refused(self.attack(self.worker(), "attack-file", path), "make")
            self.assertFalse(pathlib.Path(f"{path}.made").exists())

    def test_system_calls(self):
        found = self.attack(self.worker(), "attack-system")
        self.expect_refused(found, "unix", "tcp", "datagrams", "ring", "namespace", "segment")
        self.assertEqual(found["clone3"], (-1, errno.ENOSYS))
        self.expect_done(found, "own", "pair")
        self.expect_done(self.attack(self.worker("--no-sandbox"), "attack-system"), "unix", "tcp", "datagrams")

    def namespaces_of(self, pid):
        return {name: os.readlink(f"/proc/{pid}/ns/{name}") for name in ("ipc", "mnt", "net")}

    def expect_apart(self, worker):
        """Two spares and the supervisor share none of these namespaces."""
        self.assertTrue(eventually(lambda: len(worker.children()) == 2, 10))

        def seen(name):
            return {self.namespaces_of(pid)[name] for pid in (worker.pid, *worker.children())}

        # A process leaves one after the other.
        for name in ("ipc", "mnt", "net"):
            self.assertTrue(eventually(lambda name=name: len(seen(name)) == 3, 10), (name, seen(name), worker.log()))
        for transport in ("shm", "tcp"):
            self.expect_served(worker, transport)

    @needs_namespaces
    def test_namespaces(self):
        for extra in ((), USERS) if HAS_USERS else ((),):
            worker = self.worker("--spares", "2", *extra)
            self.assertRegex(worker.log(), "walls around sessions: ipc, network, mounts, ")
            self.expect_apart(worker)

    @needs_root
    @needs_namespaces
    def test_namespaces_without_root(self):
        worker = self.worker("--spares", "2", "--allow-uid", "0", user=FIRST_USER)
        if "user namespace" in worker.log():
            self.skipTest("this kernel gives no user namespaces to users")
        self.assertRegex(worker.log(), "walls around sessions: ipc, network, mounts, ")
        self.expect_apart(worker)

    @needs_namespaces
    def test_what_lies_elsewhere_is_not_seen(self):
        for extra in ((), USERS) if HAS_USERS else ((),):
            worker = self.worker(*extra)
            with worker.client("tcp", "hold", 4096) as client:
                client.expect("holding")
                for path in (f"/proc/{worker.pid}", f"/proc/{os.getpid()}", "/var/lib", "/etc/passwd"):
                    self.assertEqual(self.attack(worker, "attack-see", path)["see"], (-1, errno.ENOENT), path)
                for path in ("/proc/self", "/etc/ld.so.cache"):
                    self.expect_done(self.attack(worker, "attack-see", path), "see")
        worker = self.worker("--no-sandbox")
        for path in (f"/proc/{worker.pid}", "/var/lib", "/etc/passwd"):
            self.expect_done(self.attack(worker, "attack-see", path), "see")

    def test_descriptors_of_whoever_started_the_worker(self):
        with tempfile.TemporaryFile() as file:
            high = fcntl.fcntl(file, fcntl.F_DUPFD, 200)  # above all that a session opens
            try:
                found = self.attack(self.worker(inherits=(high,)), "attack-descriptor", high)
                self.assertEqual(found["descriptor"], (-1, errno.EBADF))
                found = self.attack(self.worker("--no-sandbox", inherits=(high,)), "attack-descriptor", high)
                self.expect_done(found, "descriptor")
            finally:
                os.close(high)

    def test_info_says_which_walls_stand(self):
        worker = self.worker()
        clean = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
        told = json.loads(subprocess.run([os.path.join(BUILD, "bin", "hip-remote"), "info", "--json", "--worker",
                                          f"localhost:{worker.port}"], env=clean, check=True, timeout=120,
                                         stdout=subprocess.PIPE).stdout)["workers"]
        self.assertIn(f"walls around sessions: {told[0]['walls']}\n", worker.log())
        self.assertIn(f"limits of sessions: {told[0]['limits']}\n", worker.log())

    def test_no_process_stays(self):
        for extra in ((), ("--no-sandbox",)):
            worker = self.worker(*extra)
            with worker.client("tcp", "attack-stay") as client:
                left, _ = client.expect("stays")
                self.assertTrue(is_running(left))
                client.poke()
                self.assertEqual(client.wait(), 0)
            self.assertTrue(eventually(lambda left=left: not is_running(left), 5), "it has survived its session")
            self.expect_served(worker)

    @needs_root
    def test_every_session_has_a_user_of_its_own(self):
        worker = self.worker("--spares", "3", *USERS)
        self.assertTrue(eventually(lambda: len(self.users(worker)) == 3, 10))
        users = self.users(worker)
        self.assertEqual(len(set(users)), 3)
        self.assertTrue(all(FIRST_USER <= user <= FIRST_USER + 15 for user in users), users)
        self.expect_served(worker)
        self.expect_served(worker, "shm")

    @needs_root
    def test_all_sessions_as_one_user(self):
        worker = self.worker("--user", "nobody")
        self.assertEqual(self.users(worker), [65534])
        self.expect_served(worker)

    def users(self, worker):
        """Of the session processes that have become somebody."""
        found = []
        for pid in worker.children():
            status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
            user = int(re.search(r"Uid:\t(\d+)", status).group(1))
            found += [user] if user != 0 else []
        return found

    def test_the_log_says_which_walls_stand(self):
        self.assertRegex(self.worker().log(), r"walls around sessions: .*system calls")
        self.assertIn("walls around sessions: none (--no-sandbox)", self.worker("--no-sandbox").log())

    @needs_landlock
    def test_compilers_have_walls_of_their_own(self):
        self.assertRegex(self.worker().log(), r"walls around sessions: .*files, compilers, ")

    @needs_landlock
    def test_a_worker_that_must_have_them(self):
        if LANDLOCK >= SIGNALS_SINCE:
            self.expect_served(self.worker("--require-sandbox"))


if __name__ == "__main__":
    main()
