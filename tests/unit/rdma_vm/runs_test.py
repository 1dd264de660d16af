#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/rdma-vm without its machine: runs beside each other, what they leave behind, and how they end."""
import argparse
import contextlib
import io
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import tempfile
import unittest
from unittest import mock

TOOLS = pathlib.Path(__file__).resolve().parents[3] / "tools"
sys.path.insert(0, str(TOOLS))

from rdma_vm import cli, image, locks, machine, packages, programs, suite  # noqa: E402
from rdma_vm.errors import Impossible, NoResult  # noqa: E402

BUILD = os.environ.get("RDMA_VM_BUILD", "")  # the folder of a build by ninja
LIMIT_S = 30  # for what another process does


def silent(_):
    pass


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.said = []

    def names(self, folder=None):
        return sorted(path.name for path in (folder or self.folder).iterdir())

    def take(self, path, kind):
        """Whether another run could have such a lock now."""
        with locks.Lock(path) as lock:
            return lock.try_take(kind)


class Locks(InFolder):
    def test_who_waits_says_so_at_once(self):
        with locks.Lock(self.folder) as first, locks.Lock(self.folder) as second:
            first.take(locks.EXCLUSIVE, self.said.append, "never said")
            self.assertEqual(self.said, [])

            def say(text):
                self.said.append(text)
                first.release()
            second.take(locks.EXCLUSIVE, say, "it builds")
            self.assertEqual(len(self.said), 1)
            self.assertRegex(self.said[0], "^waiting for .+: it builds$")
            self.assertFalse(self.take(self.folder, locks.SHARED))

    def test_readers_share(self):
        with locks.Lock(self.folder) as reader:
            reader.take(locks.SHARED, silent, "")
            self.assertTrue(self.take(self.folder, locks.SHARED))
            self.assertFalse(self.take(self.folder, locks.EXCLUSIVE))
        self.assertTrue(self.take(self.folder, locks.EXCLUSIVE))

    def test_who_is_killed_holds_nothing(self):
        code = ("import sys; from rdma_vm import locks; lock = locks.Lock(sys.argv[1]);"
                "lock.try_take(locks.EXCLUSIVE); print('held', flush=True); sys.stdin.read()")
        with subprocess.Popen([sys.executable, "-c", code, str(self.folder)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(TOOLS)}) as holder:
            self.assertEqual(holder.stdout.readline(), b"held\n")
            with locks.Lock(self.folder) as lock:
                self.assertFalse(lock.try_take(locks.EXCLUSIVE))
                self.assertIn(lock.holders()[:12], ("", f"process {holder.pid} ("[:12]))
                holder.kill()
                holder.wait(LIMIT_S)
                self.assertTrue(lock.try_take(locks.EXCLUSIVE))

    def test_no_such_folder_is_told(self):
        with self.assertRaisesRegex(Impossible, "nowhere: No such file"):
            locks.Lock(self.folder / "nowhere")


class Images(InFolder):
    """With a package of no weight, out of which a stand-in for dpkg-deb takes a tar file."""

    def setUp(self):
        super().setUp()
        self.cache = self.folder / "cache"
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "dpkg-deb").write_text("#!/bin/sh\nexec cat \"$2\"\n")
        (tools / "dpkg-deb").chmod(0o755)
        for patch in (mock.patch.dict(os.environ, {"PATH": f"{tools}:{os.environ['PATH']}"}),
                      mock.patch.object(packages, "fetch_kernel", self.fetch)):
            patch.start()
            self.addCleanup(patch.stop)
        self.content = self.package()

    @staticmethod
    def package(module=b"\0depends=\0", suffix=""):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            files = {"boot/vmlinuz-1": b"no real kernel"}
            for names in image.STAGES.values():
                files.update({f"lib/modules/1/kernel/net/{name}.ko{suffix}": module for name in names})
            for name, content in files.items():
                member = tarfile.TarInfo("./" + name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        return out.getvalue()

    def fetch(self, folder, _):
        path = folder / "linux-image.deb"
        path.write_bytes(self.content)
        return "linux-image", path

    def images(self):
        return [name for name in self.names(self.cache) if name.startswith("linux-image")]

    def test_anew_leaves_what_another_run_boots(self):
        with image.held(self.cache, silent) as first:
            with image.held(self.cache, silent, anew=True) as second:
                self.assertNotEqual(first, second)
                self.assertTrue(image.usable(first))
                with image.held(self.cache, silent) as third:
                    self.assertEqual(third, second)
                self.assertEqual(len(self.images()), 2)
        with image.held(self.cache, silent, anew=True):
            self.assertEqual(len(self.images()), 1)

    def test_what_a_killed_run_began_goes(self):
        (self.cache / "making.old").mkdir(parents=True)
        with image.held(self.cache, silent):
            self.assertEqual(len(self.names(self.cache)), 2)  # the image, and the link to it

    def test_who_waits_for_an_image_says_so(self):
        self.cache.mkdir()
        with locks.Lock(self.cache) as other:
            other.try_take(locks.EXCLUSIVE)

            def say(text):
                self.said.append(text)
                other.release()
            with image.held(self.cache, say):
                self.assertRegex(self.said[0], f"^waiting for .+: it makes an image in {self.cache}")

    def test_broken_packages_are_told(self):
        for content in (b"", b"no archive" * 100, self.package(suffix=".xz"), self.package()[:1000]):
            self.content = content
            with self.assertRaisesRegex(Impossible, r"making\.\w+/linux-image\.deb: "):
                image.make_current(self.cache, silent, False)
            self.assertEqual(self.names(self.cache), [])

    def test_a_cache_that_cannot_be_is_told(self):
        file = self.folder / "file"
        file.touch()
        with self.assertRaisesRegex(Impossible, f"{file}/cache: Not a directory"):
            image.make_current(file / "cache", silent, False)

    def test_the_user_sees_a_line_and_status_3(self):
        before = [(number, signal.getsignal(number)) for number in (signal.SIGTERM, signal.SIGHUP)]
        self.addCleanup(lambda: [signal.signal(*each) for each in before])
        with mock.patch.object(packages, "require", lambda *_: None), \
                contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(cli.main(["build", "--cache", "/dev/null/cache"]), 3)
        self.assertRegex(said.getvalue(), "rdma-vm: cannot make the machine here: .*/dev/null/cache: Not a directory")


class Machines(InFolder):
    def make(self, keep=False, script=None):
        options = argparse.Namespace(keep=keep)
        return machine.Machine(self.folder, options, script or image.GUEST / "suite.sh")

    def test_folders_of_killed_runs_go_and_no_others(self):
        (self.folder / "run.old" / "out").mkdir(parents=True)
        (self.folder / "kept.old").mkdir()
        running = self.make()
        machine.clear(self.folder, silent)
        self.assertEqual(self.names(), ["kept.old", running.share.name])
        running.remove()
        self.assertEqual(self.names(), ["kept.old"])

    def test_what_is_to_be_kept_stays(self):
        kept = self.make(keep=True)
        kept.remove()
        machine.clear(self.folder, silent)
        self.assertEqual(self.names(), [kept.share.name])

    def test_what_cannot_be_made_leaves_nothing(self):
        with self.assertRaisesRegex(Impossible, "/nonexistent.sh: No such file"):
            self.make(script="/nonexistent.sh")
        self.assertEqual(self.names(), [])
        with self.assertRaisesRegex(Impossible, "nowhere: No such file"):
            machine.Machine(self.folder / "nowhere", argparse.Namespace(keep=False), "x")


class Wire(InFolder):
    class Near:
        """A machine that ended before it listened."""

        def __init__(self):
            self.process = mock.Mock(poll=lambda: 1)

        def lines(self):
            yield "qemu: unknown option"

        def status(self):
            raise NoResult("the machine ended before the script did")

        def kernel_says(self):
            return []

    def test_a_near_machine_that_does_not_listen_is_told(self):
        with self.assertRaisesRegex(NoResult, "does not listen"):
            suite.wait_for_wire(self.Near(), self.folder / "wire", self.said.append)
        self.assertIn("near: qemu: unknown option", self.said)

    def test_one_that_listens(self):
        (self.folder / "wire").touch()
        suite.wait_for_wire(self.Near(), self.folder / "wire", self.said.append)
        self.assertEqual(self.said, [])


class Programs(InFolder):
    def leave_programs(self, folder):
        for name in programs.NEEDED:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()

    def test_nobody_builds_what_runs(self):
        folder = self.folder / "build" / "dev"

        def build(*_):
            self.assertFalse(self.take(folder, locks.SHARED))
            self.leave_programs(folder)
        with mock.patch.object(programs, "build", build), \
                programs.held(self.folder, argparse.Namespace(build=None, preset="dev"), silent) as built:
            self.assertEqual(built, folder)
            self.assertTrue(self.take(folder, locks.SHARED))
            self.assertFalse(self.take(folder, locks.EXCLUSIVE))
        self.assertTrue(self.take(folder, locks.EXCLUSIVE))

    def test_a_folder_as_it_is(self):
        self.leave_programs(self.folder)
        options = argparse.Namespace(build=self.folder)
        with programs.held(self.folder, options, silent), programs.held(self.folder, options, silent):
            self.assertFalse(self.take(self.folder, locks.EXCLUSIVE))

    def test_what_is_missing_is_told(self):
        for folder, word in ((self.folder, "lacks bin/hip-remote"), (self.folder / "nowhere", "no folder")):
            with self.assertRaisesRegex(SystemExit, word):
                with programs.held(self.folder, argparse.Namespace(build=folder), silent):
                    self.fail("there is no build")

    @unittest.skipUnless(BUILD, "no build by ninja with RDMA is named")
    def test_the_build_knows_its_targets(self):
        query = subprocess.run(["ninja", "-C", BUILD, "-t", "query", *programs.TARGETS], capture_output=True,
                               text=True, timeout=LIMIT_S, check=False)
        self.assertEqual(query.returncode, 0, query.stderr)

    def test_what_a_build_started_ends_with_it(self):
        # All have a pipe, whose end of file says that they are gone.
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        code = ("import signal, sys; from rdma_vm import cli, programs; signal.signal(signal.SIGTERM, cli.on_signal);"
                "programs.run_group(['bash', '-c', 'exec 3>$0; sleep 1000 & echo started >&3; wait', sys.argv[1]])")
        with subprocess.Popen([sys.executable, "-c", code, str(pipe)], stderr=subprocess.DEVNULL,
                              env={**os.environ, "PYTHONPATH": str(TOOLS)}) as building, open(pipe) as lines:
            self.assertEqual(lines.readline(), "started\n")
            building.terminate()
            self.assertEqual(building.wait(LIMIT_S), 128 + signal.SIGTERM)
            self.assertEqual(lines.read(), "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
