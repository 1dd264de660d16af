# SPDX-License-Identifier: Apache-2.0
"""The compose file of worker and client, without containers: what it refers to is there, and what it starts works
together when the same commands and variables are used here, with folders in place of its volumes.
compose_test.py SOURCE-FOLDER BUILD-FOLDER PROGRAM
It needs PyYAML; docker-compose, where it is installed, reads the file, too."""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import yaml
except ImportError:
    yaml = None

ROOT, BUILD, PROGRAM = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
FILE = ROOT / "packaging/images/compose.yaml"
LIMIT_S = 60
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("TF_", "LD_"))}
ENTRIES = {"localhost/hip-remote-worker": [str(BUILD / "bin/hip-worker")],
           "localhost/hip-remote-client": [str(BUILD / "bin/hip-remote"), "run", "--"]}


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


@unittest.skipUnless(yaml is not None, "PyYAML is needed")
class Compose(unittest.TestCase):
    def setUp(self):
        self.file = yaml.safe_load(FILE.read_text(encoding="utf-8"))
        self.services = self.file["services"]
        folder = tempfile.TemporaryDirectory(prefix="hip-compose-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("run/hip-worker", "tmp", "worker", "client"):
            (self.folder / name).mkdir(parents=True)
        self.port = str(free_port())

    def here(self, text):
        """A word of the file, for this machine: its volumes are folders, and its network is loopback."""
        text = re.sub(r"/run/hip-worker|/tmp|/worker/|/client/", lambda found: f"{self.folder}{found[0]}", text)
        if text == "/app/program":
            return PROGRAM
        return text.replace("worker-tcp", "127.0.0.1").replace("0.0.0.0", "127.0.0.1").replace("18515", self.port)

    def command(self, name):
        service = self.services[name]
        entry = service.get("entrypoint") or ENTRIES[service["image"]]
        return [*entry, *map(self.here, service.get("command", []))]

    def environment(self, name):
        told = {key: self.here(value) for key, value in self.services[name].get("environment", {}).items()}
        return {**CLEAN, "PATH": f"{BUILD}/bin:{CLEAN['PATH']}", **told}

    def serve(self, name, *extra):
        """The service's worker, until the file that its health check looks for is there."""
        worker = subprocess.Popen([*self.command(name), *extra], env=self.environment(name), stderr=subprocess.PIPE,
                                  text=True)

        def stop():
            worker.send_signal(signal.SIGTERM)
            worker.communicate(timeout=LIMIT_S)
        self.addCleanup(stop)
        check = self.here(self.services[name]["healthcheck"]["test"][1])
        until = time.monotonic() + LIMIT_S
        while subprocess.run(["sh", "-c", check], check=False).returncode != 0:
            self.assertIsNone(worker.poll(), worker.stderr.read() if worker.poll() is not None else "")
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)

    def use(self, name):
        done = subprocess.run(self.command(name), env=self.environment(name), capture_output=True, text=True,
                              timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_what_it_refers_to(self):
        profiles = {"shm", "tcp"}
        for name, service in self.services.items():
            self.assertIn(service["image"], ENTRIES, name)
            self.assertLessEqual(set(service["profiles"]), profiles)
            for volume in service["volumes"]:
                source = volume.rsplit(":", 2 if volume.count(":") > 1 and not volume.startswith("$") else 1)[0]
                self.assertTrue(source.startswith("${APP") or source in self.file["volumes"], volume)
            for other, how in service.get("depends_on", {}).items():
                self.assertEqual(service["profiles"], self.services[other]["profiles"])
                is_served = how["condition"] == "service_healthy"
                self.assertEqual(is_served, "healthcheck" in self.services[other], (name, other))
        made = (ROOT / "packaging/images/build").read_text(encoding="utf-8")
        self.assertIn("for name in worker client", made)

    def test_images_have_the_folders_of_volumes(self):
        """A new volume belongs to root unless the image has that folder, of another user."""
        for service in self.services.values():
            kind = service["image"].rsplit("-", 1)[1]
            recipe = (ROOT / f"packaging/images/{kind}.Containerfile").read_text(encoding="utf-8")
            for volume in service["volumes"]:
                name, _, place = volume.partition(":")
                if name in self.file["volumes"]:
                    self.assertRegex(recipe, rf"install -d -o 65532 -g 65532 .*{place.split(':')[0]}\b")

    def test_over_shm(self):
        worker = self.services["worker-shm"]
        self.assertNotIn("command", worker)
        worker["command"] = ["--socket", "/run/hip-worker/socket"]  # the image's own, as its recipe says
        recipe = (ROOT / "packaging/images/worker.Containerfile").read_text(encoding="utf-8")
        self.assertIn('CMD ["--socket", "/run/hip-worker/socket"', recipe)
        self.serve("worker-shm", "--runtime", "cpu")
        self.use("client-shm")

    def test_over_tcp_with_keys(self):
        for _ in range(2):  # those that are there stay
            subprocess.run(self.command("keys"), env=self.environment("keys"), check=True, timeout=LIMIT_S,
                           capture_output=True)
        self.assertEqual(len((self.folder / "worker/authorized_keys").read_text().splitlines()), 1)
        known = (self.folder / "client/known_workers").read_text()
        self.serve("worker-tcp", "--runtime", "cpu", "--port", self.port)
        self.services["client-tcp"]["environment"]["TF_WORKER_PORT"] = self.port
        told = self.use("client-tcp")
        self.assertNotIn("for the first time", told)
        self.assertEqual((self.folder / "client/known_workers").read_text(), known)

    @unittest.skipUnless(shutil.which("docker-compose"), "docker-compose is not installed")
    def test_docker_compose_reads_it(self):
        for profile in ("shm", "tcp"):
            done = subprocess.run(["docker-compose", "-f", str(FILE), "--profile", profile, "config", "--quiet"],
                                  capture_output=True, text=True, timeout=LIMIT_S, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
