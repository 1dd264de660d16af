# SPDX-License-Identifier: Apache-2.0
"""hip-worker --metrics: what it says of real sessions, to Prometheus' own tools where they are installed."""
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

from harness import BUILD, FaultTest, MIB, TRANSPORTS, Worker, descriptors_of, eventually, main
from keys import Keys
from limits_test import processor_seconds

HIP_WORKER = os.path.join(BUILD, "bin", "hip-worker")
LIBRARY = os.path.join(BUILD, "lib", "libhip_worker_metrics.so")
SAMPLE = re.compile(r"^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)",?')


def parse(text):
    """{(name, labels): value}. Every sample's family has its HELP and TYPE before it, once."""
    samples, types = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            assert name not in types, line
            types[name] = kind
        elif not line.startswith("#"):
            name, labels, value = SAMPLE.match(line).groups()
            family = re.sub(r"_(bucket|sum|count)$", "", name)
            assert name in types or types.get(family) == "histogram", line
            key = (name, frozenset(LABEL.findall(labels or "")))
            assert key not in samples, line
            samples[key] = float(value)
    return samples


def get(where, path="/metrics"):
    """Status and body."""
    try:
        with urllib.request.urlopen(where + path, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@unittest.skipUnless(os.path.exists(LIBRARY), "prometheus-cpp was not there when this was built")
class Metrics(FaultTest):
    def worker(self, *extra, **how):
        worker = Worker("--metrics", "0", *extra, **how)
        self.addCleanup(worker.__exit__)
        worker.where = re.search(r"metrics at (http://127\.0\.0\.1:\d+)/metrics", worker.log()).group(1)
        return worker

    def look(self, worker):
        return parse(get(worker.where)[1])

    def value(self, worker, name, **labels):
        return self.look(worker)[(name, frozenset(labels.items()))]

    def expect_value(self, wanted, worker, name, **labels):
        self.assertTrue(eventually(lambda: self.value(worker, name, **labels) == wanted, 10),
                        f"{name} {labels} is {self.value(worker, name, **labels)}, not {wanted}")

    def expect_more(self, than, worker, name, **labels):
        self.assertTrue(eventually(lambda: self.value(worker, name, **labels) > than, 10), f"{name} {labels}")

    def test_off_unless_asked_for(self):
        with Worker() as worker:
            self.assertNotIn("metrics", worker.log())

    def test_sessions_calls_and_bytes(self):
        worker = self.worker()
        user = f"user {os.geteuid()}"
        for transport in TRANSPORTS:
            self.expect_value(0, worker, "hip_remote_sessions", transport=transport)
            with worker.client(transport, "hold", 4 * MIB) as client:
                client.expect("holding")
                # The session counts an answer after it has sent it.
                self.expect_more(0, worker, "hip_remote_transferred_bytes_total", transport=transport, form="message",
                                 direction="to_client")
                seen = self.look(worker)

                def value(name, found=seen, **labels):
                    return found[(name, frozenset(labels.items()))]
                self.assertEqual(value("hip_remote_sessions", transport=transport), 1)
                self.assertEqual(value("hip_remote_tenant_sessions", tenant=user), 1)
                self.assertGreater(value("hip_remote_round_trips_total", transport=transport), 0)
                self.assertGreater(value("hip_remote_calls_total", domain="memory", kind="call"), 0)
                self.assertGreater(value("hip_remote_transferred_bytes_total", transport=transport, form="message",
                                         direction="to_worker"), 0)
                leased = value("hip_remote_device_memory_leased_bytes", device="0")
                self.assertGreaterEqual(leased, 4 * MIB)
                self.assertEqual(value("hip_remote_tenant_leased_bytes", tenant=user), leased)
                self.assertEqual(value("hip_remote_device_memory_free_bytes", device="0"),
                                 value("hip_remote_device_memory_bytes", device="0") - leased)
            self.expect_value(0, worker, "hip_remote_sessions", transport=transport)
            self.expect_value(0, worker, "hip_remote_device_memory_leased_bytes", device="0")
        self.assertEqual(self.value(worker, "hip_remote_handshakes_total", result="accepted"), len(TRANSPORTS))
        self.assertEqual(self.value(worker, "hip_remote_session_start_seconds_count"), len(TRANSPORTS))
        self.assertEqual(self.value(worker, "hip_remote_tenant_sessions_started_total", tenant=user), len(TRANSPORTS))

    def test_counters_are_those_of_the_audit_and_never_fall(self):
        worker = self.worker("--log-format", "json")
        before = self.look(worker)
        for _ in range(3):
            with worker.client("tcp", "copy-in", 8 * MIB) as client:
                client.expect("copying")
                self.look(worker)
                client.kill()
            self.assertTrue(eventually(worker.idle, 10))
            after = self.look(worker)
            for key, value in before.items():
                if key[0].endswith(("_total", "_bucket", "_count", "_sum")):
                    self.assertGreaterEqual(after[key], value, key)
            before = after
        with open(worker.log_path, encoding="utf-8") as log:
            lines = [json.loads(line) for line in log]
        ends = [line for line in lines if line.get("event") == "session_end"]
        self.assertEqual(len(ends), 3)
        user = f"user {os.geteuid()}"
        self.assertEqual(self.value(worker, "hip_remote_tenant_calls_total", tenant=user),
                         sum(end["calls"] for end in ends))
        for direction in ("to_worker", "to_client"):
            self.assertEqual(self.value(worker, "hip_remote_tenant_transferred_bytes_total", tenant=user,
                                        direction=direction), sum(end[f"bytes_{direction}"] for end in ends))

    def test_waits_for_the_device(self):
        worker = self.worker()
        with worker.client("tcp", "kernel", 1 << 26) as client:
            self.assertEqual(client.wait(60), 0, client.errors())
        self.assertTrue(eventually(worker.idle, 10))
        self.assertGreater(self.value(worker, "hip_remote_device_wait_seconds_count", transport="tcp"), 0)
        self.assertGreater(self.value(worker, "hip_remote_device_wait_seconds_sum", transport="tcp"), 0)

    def test_refusals(self):
        worker = self.worker("--limit", f"memory={64 * MIB}", "--sessions-per-tenant", "2")
        with worker.client("tcp", "memory", "malloc", 48 * MIB) as client, \
                worker.client("tcp", "memory", "malloc", 48 * MIB) as other:
            self.assertEqual(sorted((client.expect("memory", 20)[0], other.expect("memory", 20)[0])), [0, 2])
            self.expect_more(0, worker, "hip_remote_quota_refusals_total", limit="memory")
            self.assertEqual(self.value(worker, "hip_remote_quota_refusals_total", limit="sessions"), 0)
            with worker.client("tcp", "hello") as third:
                self.assertNotEqual(third.wait(20), 0)
            self.assertEqual(self.value(worker, "hip_remote_handshakes_total", result="refused_limit"), 1)
            self.assertEqual(self.value(worker, "hip_remote_quota_refusals_total", limit="sessions"), 1)
        with worker.connect("tcp") as stranger:
            stranger.sendall(b"GET / HTTP/1.1\r\n" + 64 * b"x")
            self.expect_value(1, worker, "hip_remote_handshakes_total", result="invalid")

    def test_keys(self):
        with Keys() as keys:
            keys.make("alice")
            worker = self.worker(*keys.options())
            with worker.client("tcp", "hello", **keys.environment("alice")) as client:
                self.assertNotEqual(client.wait(20), 0)
            unproven = [self.value(worker, "hip_remote_handshakes_total", result=result)
                        for result in ("unproven", "invalid", "refused_permission")]
            self.assertEqual(sum(unproven), 1, unproven)
            self.assertEqual(self.value(worker, "hip_remote_handshakes_total", result="accepted"), 0)

    def test_faults(self):
        worker = self.worker()
        with worker.client("tcp", "hold", 4096) as client:
            client.expect("holding")
            before = set(worker.children())
            for pid in before:  # the serving one, and the spare
                os.kill(pid, signal.SIGKILL)
            self.expect_value(1, worker, "hip_remote_faults_total", kind="session_signal")
            self.expect_value(1, worker, "hip_remote_faults_total", kind="spare_ended")
        with worker.client("tcp", "crash") as client:
            client.wait(60)
        self.assertTrue(eventually(lambda: self.value(worker, "hip_remote_faults_total", kind="device") == 1, 10),
                        get(worker.where)[1])

    def test_health_and_readiness(self):
        worker = self.worker("--sessions-max", "1")
        self.assertEqual(get(worker.where, "/healthz"), (200, "ok\n"))
        self.assertEqual(get(worker.where, "/readyz"), (200, "ready\n"))
        with worker.client("tcp", "hold", 4096) as client:
            client.expect("holding")
            self.assertEqual(get(worker.where, "/readyz"), (503, "all 1 sessions are taken\n"))
            self.assertEqual(get(worker.where, "/healthz")[0], 200)
        self.assertTrue(eventually(lambda: get(worker.where, "/readyz")[0] == 200, 10))
        self.assertEqual(get(worker.where, "/other")[0], 404)

    def settled_descriptors(self, worker):
        """The SMI process and the spare session come some time after the worker is ready."""
        self.assertTrue(eventually(lambda: len(worker.smi_processes()) == 1, 20))
        counts = []

        def is_settled():
            counts.append(descriptors_of(worker.pid))
            time.sleep(0.5)
            return counts[-3:] == counts[-1:] * 3
        self.assertTrue(eventually(is_settled, 20), counts)
        return counts[-1]

    def test_strangers_take_no_descriptors_and_no_sessions(self):
        worker = self.worker()
        port = int(worker.where.rsplit(":", 1)[1])
        before = self.settled_descriptors(worker)
        strangers = [socket.create_connection(("127.0.0.1", port), 5) for _ in range(64)]
        self.assertEqual(get(worker.where, "/healthz")[0], 200)
        self.assertLessEqual(descriptors_of(worker.pid), before + 17)
        self.expect_served(worker)
        for stranger in strangers:
            stranger.close()
        self.assertTrue(eventually(lambda: descriptors_of(worker.pid) <= before, 15))

    def test_without_descriptors_it_waits_and_costs_no_processor(self):
        worker = self.worker()
        port = int(worker.where.rsplit(":", 1)[1])
        resource.prlimit(worker.pid, resource.RLIMIT_NOFILE, (descriptors_of(worker.pid), 1024))
        with socket.create_connection(("127.0.0.1", port), 5) as stranger:
            before = processor_seconds(worker.pid)
            time.sleep(1)
            self.assertLess(processor_seconds(worker.pid) - before, 0.2)
            resource.prlimit(worker.pid, resource.RLIMIT_NOFILE, (1024, 1024))
            stranger.sendall(b"GET /healthz HTTP/1.1\r\n\r\n")
            stranger.settimeout(20)
            self.assertIn(b"200 OK", stranger.recv(4096))

    def test_session_processes_have_none_of_it(self):
        worker = self.worker()

        def has_none(pid):
            with open(f"/proc/{pid}/maps", encoding="ascii", errors="replace") as maps:
                return "prometheus" not in maps.read()

        # One that has just been started has the supervisor's memory still.
        for pid in worker.children():
            self.assertTrue(eventually(lambda pid=pid: has_none(pid), 10))

    def test_an_address_that_cannot_be(self):
        worker = self.worker()
        taken = worker.where.removeprefix("http://")
        for address, why in ((taken, "Address already in use"), ("nonsense", "is no PORT, HOST:PORT")):
            command = [HIP_WORKER, "--socket", "@hip-metrics-test", "--runtime", "cpu", "--metrics", address]
            ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            self.assertNotEqual(ran.returncode, 0)
            self.assertIn("--metrics", ran.stderr)
            self.assertIn(why, ran.stderr)

    def smi_worker(self, **environment):
        worker = self.worker(environment={"HIP_CPU_DEVICES": "2", "TF_SMI_RUNTIME": "host", **environment})
        self.expect_up(worker, 1 if environment.get("TF_SMI_RUNTIME") is None else 0)
        return worker

    def smi(self, worker):
        """{(name, device, further labels): value} of the SMI values."""
        found = {}
        for (name, labels), value in self.look(worker).items():
            if name.startswith("hip_remote_smi_"):
                words = dict(labels)
                words.pop("pci", None)
                found[(name.removeprefix("hip_remote_smi_"), words.pop("device"), *words.values())] = value
        return found

    def expect_up(self, worker, wanted):
        def both():
            found = self.smi(worker)
            return found.get(("up", "0")) == found.get(("up", "1")) == wanted
        self.assertTrue(eventually(both, 20), f"{self.smi(worker)} {worker.log()}")

    def test_smi_values_of_the_host(self):
        worker = self.smi_worker()
        found = self.smi(worker)
        for device in ("0", "1"):
            self.assertTrue(0 <= found[("busy_ratio", device, "compute")] <= 1, found)
            self.assertTrue(0 < found[("memory_used_bytes", device, "host")] <
                            found[("memory_bytes", device, "host")], found)
            self.assertEqual(found[("memory_bytes", device, "device")],
                             self.value(worker, "hip_remote_device_memory_bytes", device=device))
        addresses = {labels for name, labels in self.look(worker) if name == "hip_remote_smi_up"}
        self.assertEqual(len({dict(labels)["pci"] for labels in addresses}), 2)
        for name, _ in self.look(worker):
            if name.startswith("hip_remote_smi_"):
                self.assertNotIn("fan_ratio", name, "the host runtime has no scale for fans")
        smi, = worker.smi_processes()
        with open(f"/proc/{worker.pid}/task/{worker.pid}/children", encoding="ascii") as children:
            self.assertIn(smi, [int(pid) for pid in children.read().split()])

    def test_without_metrics_there_is_no_smi_process(self):
        with Worker(environment={"TF_SMI_RUNTIME": "host"}) as worker:
            self.assertEqual(worker.smi_processes(), [])

    def test_a_driver_that_hangs_keeps_no_scrape_waiting_and_its_values_vanish(self):
        worker = self.smi_worker()
        smi, = worker.smi_processes()
        os.kill(smi, signal.SIGSTOP)
        try:
            for _ in range(5):
                begin = time.monotonic()
                self.look(worker)
                self.assertLess(time.monotonic() - begin, 5)
            self.expect_up(worker, 0)
            self.assertEqual({name for name, *_ in self.smi(worker)}, {"up"})
            self.expect_served(worker, "tcp")
        finally:
            os.kill(smi, signal.SIGCONT)
        self.expect_up(worker, 1)
        self.assertEqual(worker.smi_processes(), [smi])

    def test_an_smi_process_that_ends_is_replaced(self):
        worker = self.smi_worker()
        smi, = worker.smi_processes()
        os.kill(smi, signal.SIGKILL)
        self.assertTrue(eventually(lambda: worker.smi_processes() not in ([], [smi]), 20))
        self.expect_up(worker, 1)
        self.assertIn(f"SMI process {smi} ended by signal 9", worker.log())
        self.assertEqual(self.value(worker, "hip_remote_faults_total", kind="spare_ended"), 0)

    def test_it_ends_with_the_worker(self):
        worker = self.smi_worker()
        smi, = worker.smi_processes()
        os.kill(worker.pid, signal.SIGKILL)
        self.assertTrue(eventually(lambda: not os.path.exists(f"/proc/{smi}/exe"), 10))

    def test_without_a_library_there_are_no_values_and_one_line(self):
        worker = self.smi_worker(TF_SMI_RUNTIME="amd", LD_LIBRARY_PATH="")
        self.assertEqual({name for name, *_ in self.smi(worker)}, {"up"})
        self.assertTrue(eventually(lambda: not worker.smi_processes(), 10))
        time.sleep(2)
        self.assertEqual(worker.log().count("metrics have no SMI values"), 1, worker.log())
        self.assertEqual(worker.smi_processes(), [])

    def load(self, worker, seconds):
        """Three clients that come and go, and one that stays."""
        until = time.monotonic() + seconds
        with worker.client("tcp", "hold", 4 * MIB) as staying:
            staying.expect("holding")
            while time.monotonic() < until:
                for transport in TRANSPORTS:
                    self.expect_served(worker, transport)
            yield

    @unittest.skipUnless(shutil.which("promtool"), "no promtool (Debian: prometheus), so its check is left out")
    def test_promtool(self):
        worker = self.smi_worker()
        for transport in TRANSPORTS:
            self.expect_served(worker, transport)
        checked = subprocess.run(["promtool", "check", "metrics"], input=get(worker.where)[1], text=True, timeout=60,
                                 capture_output=True, check=False)
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""))

    @unittest.skipUnless(shutil.which("prometheus"), "no prometheus (Debian: prometheus), so none scrapes here")
    def test_prometheus_scrapes_under_load(self):
        worker = self.worker()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        with tempfile.TemporaryDirectory(prefix="hip-prometheus-") as folder:
            with open(f"{folder}/prometheus.yml", "w", encoding="ascii") as config:
                config.write("global: {scrape_interval: 200ms, scrape_timeout: 200ms}\nscrape_configs:\n"
                             f"- job_name: hip\n  static_configs: [{{targets: ['{worker.where[7:]}']}}]\n")
            with open(f"{folder}/log", "wb") as log:
                prometheus = subprocess.Popen(
                    ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                     f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
            try:
                self.scraped(worker, f"http://127.0.0.1:{port}")
            finally:
                prometheus.terminate()
                prometheus.wait(60)

    def scraped(self, worker, prometheus):
        def ask(query):
            try:
                body = get(prometheus, "/api/v1/query?query=" + urllib.parse.quote(query))[1]
                return [float(one["value"][1]) for one in json.loads(body)["data"]["result"]]
            except (OSError, ValueError, KeyError):
                return []
        self.assertTrue(eventually(lambda: ask('up{job="hip"}') == [1], 30), "prometheus does not see the worker")
        for _ in self.load(worker, 3):
            own = self.value(worker, "hip_remote_handshakes_total", result="accepted")
            self.assertTrue(eventually(lambda: ask('hip_remote_handshakes_total{result="accepted"}') == [own], 10))
            self.assertEqual(ask("sum(hip_remote_sessions) >= 1"), ask("sum(hip_remote_sessions)"))
            self.assertGreater(sum(ask("rate(hip_remote_calls_total[1m])")), 0)
            self.assertEqual(sum(ask("resets(hip_remote_tenant_calls_total[5m])")), 0)
            quantile = ask("histogram_quantile(0.5, rate(hip_remote_session_start_seconds_bucket[1m]))")
            self.assertEqual(len(quantile), 1)
            self.assertTrue(0 < quantile[0] < 60, quantile)
            self.assertGreater(ask('min_over_time(up{job="hip"}[5m])')[0], 0, "a scrape was missed")


if __name__ == "__main__":
    main()
