# SPDX-License-Identifier: Apache-2.0
"""The Helm chart, rendered by render.go for several sets of values: what the objects refer to has to exist, and the
worker has to take the options. helm itself is not in Debian.
chart_test.py SOURCE-FOLDER BUILD-FOLDER [PROGRAM]
PROGRAM is a HIP program (hello_hip), for the client that a patch puts into a pod. It needs go,
golang-github-masterminds-sprig-dev, golang-yaml.v2-dev and PyYAML."""
import copy
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

try:
    import yaml
except ImportError:
    yaml = None

ROOT, BUILD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
CHART = ROOT / "packaging" / "chart" / "hip-remote"
GOPATH = pathlib.Path("/usr/share/gocode")
LIBRARIES = ("github.com/Masterminds/sprig", "gopkg.in/yaml.v2")
USABLE = yaml is not None and shutil.which("go") and all((GOPATH / "src" / name).is_dir() for name in LIBRARIES)
INJECTING = {"enabled": True, "container": "app", "hipMajor": 5, "secretName": "mine"}
ALL = {"worker": {"limit": "memory=8G streams=256", "requireSandbox": True, "extraArgs": ["--verbose"]},
       "keys": {"secretName": "keys"}, "resources": {"limits": {"amd.com/gpu": 1}}, "supplementalGroups": [44, 104],
       "nodeSelector": {"gpu": "yes"}, "tolerations": [{"key": "gpu", "operator": "Exists"}],
       "imagePullSecrets": [{"name": "pull"}], "priorityClassName": "high", "podAnnotations": {"a": "b"},
       "hostSocket": {"enabled": True, "allowUid": [1000, 1001]},
       "metrics": {"serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}}},
       "networkPolicy": {"enabled": True, "clients": [{"podSelector": {"matchLabels": {"hip": "yes"}}}],
                         "monitoring": [{"namespaceSelector": {}}]},
       "inject": INJECTING}


def merged(under, over):
    result = copy.deepcopy(under)
    for name, value in over.items():
        both = isinstance(value, dict) and isinstance(result.get(name), dict)
        result[name] = merged(result[name], value) if both else value
    return result


@unittest.skipUnless(USABLE, "go, its libraries sprig and yaml.v2, and PyYAML are needed")
class Chart(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="hip-chart-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.program = os.path.join(cls.folder.name, "render")
        cls.values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
        about = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
        cls.about = {name[0].upper() + name[1:]: value for name, value in about.items()}
        subprocess.run(["go", "build", "-o", cls.program, str(ROOT / "tests/chart/render.go")], check=True, timeout=300,
                       env={**os.environ, "GO111MODULE": "off", "GOPATH": str(GOPATH),
                            "GOCACHE": cls.folder.name + "/cache"})

    def run_renderer(self, changes):
        context = {"Values": merged(self.values, changes), "Chart": self.about,
                   "Release": {"Name": "gpu", "Namespace": "default", "Service": "Helm"}}
        return subprocess.run([self.program, str(CHART)], input=json.dumps(context), text=True, capture_output=True,
                              timeout=60, check=False)

    def objects(self, changes):
        """By kind; a list for each."""
        done = self.run_renderer(changes)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = {}
        for part in done.stdout.split("---\n# Source: ")[1:]:
            name, _, text = part.partition("\n")
            for one in yaml.safe_load_all(text) if name.endswith(".yaml") else ():
                if one:
                    found.setdefault(one["kind"], []).append(one)
        return found

    def test_no_key_no_chart(self):
        done = self.run_renderer({})
        self.assertEqual(done.returncode, 1)
        self.assertIn("keys.secretName", done.stderr)

    def test_only_what_was_asked_for(self):
        found = self.objects({"keys": {"secretName": "keys"}})
        self.assertEqual({kind: len(ones) for kind, ones in found.items()}, {"DaemonSet": 1, "Service": 2})
        pod = found["DaemonSet"][0]["spec"]["template"]["spec"]
        self.assertEqual([one["name"] for one in pod["volumes"]], ["keys", "tmp"])
        self.assertFalse([one for one in pod["containers"][0]["args"] if one.startswith("--socket")])

    def test_what_objects_refer_to(self):
        for changes in ({"keys": {"secretName": "keys"}}, ALL):
            found = self.objects(changes)
            (daemons,) = found["DaemonSet"]
            template = daemons["spec"]["template"]
            labels, (container,) = template["metadata"]["labels"], template["spec"]["containers"]
            ports = {port["name"] for port in container["ports"]}
            selectors = [daemons["spec"]["selector"]["matchLabels"],
                         *(one["spec"]["selector"] for one in found["Service"]),
                         *(one["spec"]["podSelector"]["matchLabels"] for one in found.get("NetworkPolicy", []))]
            for selector in selectors:
                self.assertLessEqual(selector.items(), labels.items())
            for service in found["Service"]:
                self.assertLessEqual({port["targetPort"] for port in service["spec"]["ports"]}, ports)
            for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
                self.assertIn(container[probe]["httpGet"]["port"], ports)
            for rule in sum((one["spec"].get("ingress", []) for one in found.get("NetworkPolicy", [])), []):
                self.assertTrue(rule["from"])
                self.assertLessEqual({port["port"] for port in rule["ports"]}, ports)
            self.assertEqual({one["name"] for one in container["volumeMounts"]},
                             {one["name"] for one in template["spec"]["volumes"]})
            for monitor in found.get("ServiceMonitor", []):
                wanted = monitor["spec"]["selector"]["matchLabels"]
                chosen = [one for one in found["Service"] if wanted.items() <= one["metadata"]["labels"].items()]
                self.assertEqual([one["metadata"]["name"] for one in chosen], ["gpu-hip-remote-metrics"])
                self.assertEqual(monitor["metadata"]["labels"]["release"], "prometheus")
            self.assertTrue(template["spec"]["securityContext"]["runAsNonRoot"])
            self.assertEqual(container["securityContext"]["capabilities"], {"drop": ["ALL"]})

    def test_lanes_reach_the_worker_of_their_session(self):
        """With workers on several nodes: the client has so long for all its connections (TF_CONNECT_TIMEOUT)."""
        (service,) = [one for one in self.objects({"keys": {"secretName": "keys"}})["Service"]
                      if one["spec"].get("clusterIP") != "None"]
        self.assertEqual(service["spec"]["sessionAffinity"], "ClientIP")
        variables = (ROOT / "docs/environment.md").read_text(encoding="utf-8")
        longest_s = int(re.search(r"`TF_CONNECT_TIMEOUT` \| `(\d+)`", variables).group(1))
        self.assertGreater(service["spec"]["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"], longest_s)

    def test_a_full_worker_gets_no_clients_and_keeps_its_own(self):
        """Readiness asks /readyz, which says no while all sessions are taken (tests/faults/metrics_test.py). Liveness
        does not depend on it, and the service leaves out what is not ready."""
        found = self.objects({"keys": {"secretName": "keys"}, "worker": {"sessionsMax": 3}})
        (container,) = found["DaemonSet"][0]["spec"]["template"]["spec"]["containers"]
        self.assertIn("--sessions-max=3", container["args"])
        self.assertEqual(container["readinessProbe"]["httpGet"]["path"], "/readyz")
        self.assertEqual(container["livenessProbe"]["httpGet"]["path"], "/healthz")
        for service in found["Service"]:
            is_for_clients = service["spec"].get("clusterIP") != "None"
            self.assertEqual(service["spec"].get("publishNotReadyAddresses", False), not is_for_clients)

    def test_nobody_named_is_nobody_admitted(self):
        (policy,) = self.objects({"keys": {"secretName": "keys"}, "networkPolicy": {"enabled": True}})["NetworkPolicy"]
        self.assertNotIn("ingress", policy["spec"])

    def serve(self, arguments):
        """hip-worker until the test is over; what it says when it is ready: "ready PORT SOCKET"."""
        read_end, write_end = os.pipe()
        worker = subprocess.Popen([str(BUILD / "bin" / "hip-worker"), *arguments, "--ready-fd", str(write_end)],
                                  pass_fds=[write_end], stderr=subprocess.PIPE, text=True)
        os.close(write_end)
        with os.fdopen(read_end) as ready:
            line = ready.readline()

        def stop():
            worker.send_signal(signal.SIGTERM)
            worker.communicate(timeout=30)
        if line.startswith("ready "):
            self.addCleanup(stop)
            return line
        return self.fail(worker.communicate(timeout=30)[1])

    def keygen(self, *words):
        done = subprocess.run([str(BUILD / "bin" / "hip-remote"), "keygen", *words], check=True, capture_output=True,
                              text=True, timeout=60)
        return done.stdout

    def patch(self, changes):
        """The one of the ConfigMap, which puts the client into a pod."""
        (found,) = self.objects({"keys": {"secretName": "keys"}, "inject": {**INJECTING, **changes}})["ConfigMap"]
        self.assertEqual(found["metadata"]["name"], "gpu-hip-remote-inject")
        return yaml.safe_load(found["data"]["patch.yaml"])["spec"]["template"]["spec"]

    def test_what_a_patch_refers_to(self):
        pod = self.patch({})
        (first,), (container,) = pod["initContainers"], pod["containers"]
        self.assertEqual(container["name"], "app")
        self.assertLessEqual({one["name"] for one in first["volumeMounts"] + container["volumeMounts"]},
                             {one["name"] for one in pod["volumes"]})
        told = {one["name"]: one["value"] for one in container["env"]}
        known = (ROOT / "docs/environment.md").read_text(encoding="utf-8")
        for name in told:
            self.assertTrue(name.startswith("LD_") or f"`{name}`" in known, name)
        (service,) = [one for one in self.objects({"keys": {"secretName": "keys"}})["Service"]
                      if one["spec"].get("clusterIP") != "None"]
        self.assertEqual(told["TF_WORKER_HOST"], service["metadata"]["name"] + ".default")
        self.assertEqual(told["TF_WORKER_PORT"], str(service["spec"]["ports"][0]["port"]))
        recipe = (ROOT / "packaging/images/client.Containerfile").read_text(encoding="utf-8")
        self.assertIn(f"USER {first['securityContext']['runAsUser']}:", recipe)

    def test_a_patch_wants_a_container_and_keys(self):
        for missing in ("container", "secretName"):
            done = self.run_renderer({"keys": {"secretName": "keys"}, "inject": {**INJECTING, missing: ""}})
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"inject.{missing}", done.stderr)

    @unittest.skipUnless(sys.argv[3:], "without a HIP program")
    def test_a_patch_does_what_it_is_for(self):
        """Its commands, variables and keys here, with folders in place of the volumes."""
        pod = self.patch({})
        with tempfile.TemporaryDirectory(prefix="hip-chart-") as folder:
            for name in ("hip-remote", "hip-remote-keys"):
                os.mkdir(f"{folder}/{name}")

            def here(text):
                text = text.replace("/usr/lib/x86_64-linux-gnu/hip-remote", str(BUILD / "lib"))
                return re.sub(r"(?<!\S)/hip-remote|(?<=:)/hip-remote", f"{folder}/hip-remote", text)
            subprocess.run([*map(here, pod["initContainers"][0]["command"])], check=True, timeout=60)
            public = self.keygen("--name", "worker", f"{folder}/worker.key")
            pathlib.Path(folder, "authorized_keys").write_text(
                self.keygen("--name", "pod", f"{folder}/hip-remote-keys/key"), encoding="utf-8")
            line = self.serve(["--listen", "127.0.0.1", "--port", "0", "--key-file", f"{folder}/worker.key",
                               "--authorized-keys", f"{folder}/authorized_keys", "--runtime", "cpu"])
            port = line.split()[1]
            pathlib.Path(folder, "hip-remote-keys/known_workers").write_text(
                public.replace("worker", f"127.0.0.1:{port}", 1), encoding="utf-8")
            told = {one["name"]: here(one["value"]) for one in pod["containers"][0]["env"]}
            told.update(TF_WORKER_HOST="127.0.0.1", TF_WORKER_PORT=port)
            clean = {name: value for name, value in os.environ.items() if not name.startswith(("TF_", "LD_"))}
            done = subprocess.run([sys.argv[3]], env={**clean, **told, "TF_DEBUG": "1"}, capture_output=True, text=True,
                                  timeout=60, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("for the first time", done.stderr)
            self.assertIn("tcp", done.stderr)

    def test_the_worker_takes_the_options(self):
        """With everything asked for, but walls that this machine may not have; ports of the kernel's choice."""
        (daemons,) = self.objects(ALL)["DaemonSet"]
        arguments = daemons["spec"]["template"]["spec"]["containers"][0]["args"]
        with tempfile.TemporaryDirectory(prefix="hip-chart-") as folder:
            self.keygen(f"{folder}/worker.key")
            pathlib.Path(folder, "authorized_keys").touch()
            self.serve([one.replace("/keys/", folder + "/").replace("/run/hip-worker", folder).replace("auto", "cpu")
                        .replace("--port=18515", "--port=0").replace("0.0.0.0:9464", "127.0.0.1:0")
                        .replace("=0.0.0.0", "=127.0.0.1") for one in arguments if one != "--require-sandbox"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
