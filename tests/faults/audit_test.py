# SPDX-License-Identifier: Apache-2.0
"""The worker's log: audit lines of sessions, its forms, and clients that try to write into it."""
import datetime
import json
import os
import re
import signal
import subprocess
import tempfile

from harness import BUILD, CLIENT, FaultTest, Worker, eventually, main
from keys import Keys

HIP_WORKER = os.path.join(BUILD, "bin", "hip-worker")
HIP_REMOTE = os.path.join(BUILD, "bin", "hip-remote")
LEVELS = {"error", "warning", "info"}


def objects(worker):
    """The lines of a JSON log. Each is valid UTF-8, and one object."""
    with open(worker.log_path, "rb") as log:
        return [json.loads(line.decode("utf-8", errors="strict")) for line in log.read().splitlines()]


class LogTest(FaultTest):
    def worker(self, *extra, **how):
        worker = Worker(*extra, **how)
        self.addCleanup(worker.__exit__)
        return worker

    def json_worker(self, *extra):
        return self.worker("--log-format", "json", *extra)

    def events(self, worker, name, count=1):
        """The lines of that event, at least `count`."""
        def found():
            return [one for one in objects(worker) if one.get("event") == name]
        self.assertTrue(eventually(lambda: len(found()) >= count, 10), worker.log())
        return found()

    def served(self, worker, transport, *words, **changes):
        with worker.client(transport, *(words or ["hello"]), **changes) as client:
            self.assertEqual(client.wait(30), 0, client.errors())
            return client.pid


class Audit(LogTest):
    def test_a_session_over_each_transport(self):
        for transport in ("shm", "tcp"):
            worker = self.json_worker()
            pid = self.served(worker, transport)
            (end,) = self.events(worker, "session_end")
            (start,) = self.events(worker, "session_start")
            same = {"session": 1, "transport": transport, "program": "fault_client", "client_pid": pid,
                    "devices": "0", "tenant": f"user {os.geteuid()}"}
            for line in (start, end):
                self.assertEqual({name: line[name] for name in same}, same)
                self.assertEqual(line["process"], worker.pid)
                if transport == "shm":
                    self.assertEqual((line["key"], line["peer"]), (f"unix uid {os.geteuid()}", f"unix pid {pid}"))
                else:
                    self.assertEqual(line["key"], "none")
                    self.assertRegex(line["peer"], r"^127\.0\.0\.1:\d+$")
            self.assertEqual(start["session_process"], end["session_process"])
            for number in ("calls", "bytes_to_worker", "bytes_to_client", "seconds", "processor_seconds"):
                self.assertGreater(end[number], 0, number)
            self.assertRegex(end["reason"], "the client has left|the client's control connection ended")

    def test_in_text(self):
        worker = self.worker()
        self.served(worker, "shm")
        uid = os.geteuid()
        line = rf"hip-worker\[{worker.pid}\]: audit: session 1 begins event=session_start session=1 " \
               rf'tenant="user {uid}" key="unix uid {uid}" peer="unix pid \d+" transport=shm devices=0 '
        self.assertTrue(eventually(lambda: "session 1 ends" in worker.log(), 10))
        self.assertRegex(worker.log(), line)
        self.assertRegex(worker.log(), r"audit: session 1 ends event=session_end .* reason=")

    def test_bytes_and_time_are_those_of_the_session(self):
        worker = self.json_worker()
        with worker.client("tcp", "copy-in", 8 << 20) as client:
            client.expect("copying")
            client.kill()
        (copied,) = self.events(worker, "session_end")
        self.assertGreater(copied["bytes_to_worker"], 8 << 20)
        self.assertLess(copied["bytes_to_client"], 1 << 20)
        self.served(worker, "tcp", "kernel", 1 << 26)
        counted = self.events(worker, "session_end", 2)[1]
        self.assertGreater(counted["device_seconds"], copied["device_seconds"])
        self.assertGreater(counted["processor_seconds"], counted["device_seconds"] / 100)
        self.assertLess(counted["bytes_to_worker"], 1 << 20)

    def test_a_key_and_its_end(self):
        with Keys() as keys:
            alice = keys.make("alice")
            keys.authorize(alice)
            worker = self.json_worker(*keys.options())
            with worker.client("tcp", "hold", 4096, **keys.environment("alice")) as client:
                client.expect("holding")
                (start,) = self.events(worker, "session_start")
                self.assertEqual((start["tenant"], start["key"]), ("alice", keys.fingerprint("alice")))
                keys.authorize()
                os.kill(worker.pid, signal.SIGHUP)
                (end,) = self.events(worker, "session_end")
                self.assertIn("does not know the key", end["reason"])
                self.assertEqual(end["tenant"], "alice")

    def test_a_session_that_is_killed(self):
        worker = self.json_worker()
        with worker.client("tcp", "hold", 4096) as client:
            client.expect("holding")
            (start,) = self.events(worker, "session_start")
            os.kill(start["session_process"], signal.SIGKILL)
            (end,) = self.events(worker, "session_end")
            self.assertIn("killed by signal 9", end["reason"])

    def test_a_worker_that_is_stopped(self):
        worker = self.json_worker()
        with worker.client("tcp", "hold", 4096) as client:
            client.expect("holding")
            os.kill(worker.pid, signal.SIGTERM)
            (end,) = self.events(worker, "session_end")
            self.assertEqual(end["reason"], "the worker was stopped")

    def test_info_is_a_session_and_no_failure(self):
        worker = self.json_worker()
        clean = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
        for _ in range(5):
            subprocess.run([HIP_REMOTE, "info", "--json", "--worker", f"localhost:{worker.port}"], env=clean,
                           check=True, timeout=120, stdout=subprocess.DEVNULL)
        ends = self.events(worker, "session_end", 5)
        self.assertEqual(len(ends), len(self.events(worker, "session_start")))
        self.assertEqual([line for line in objects(worker) if line["level"] != "info"], [])

    def test_quiet_leaves_them_out(self):
        worker = self.json_worker("--quiet")
        self.served(worker, "shm")
        self.assertTrue(eventually(worker.idle, 10))
        self.assertEqual(objects(worker), [])


class Forms(LogTest):
    def test_every_line_is_an_object(self):
        worker = self.json_worker("-v")
        self.served(worker, "shm")
        self.events(worker, "session_end")
        with worker.connect("tcp") as connection:
            connection.sendall(b"GET / HTTP/1.1\r\n" + b'"\\\xff\x00' * 20)
            self.assertTrue(eventually(lambda: "refused a connection" in worker.log(), 5))
        for line in objects(worker):
            self.assertIn(line["level"], LEVELS)
            time = datetime.datetime.fromisoformat(line["time"].replace("Z", "+00:00"))
            self.assertLess(abs(time.timestamp() - datetime.datetime.now().timestamp()), 3600)
            self.assertGreater(line["process"], 1)
            self.assertTrue(line["message"])

    def test_hostile_names_break_no_line(self):
        name = b'x" tenant="root\\\n\r\x00"}{\xff\xed\xa0\x80\xe2\x80\xae\xc3\xa9' + b'"\\' * 60
        for form in ("text", "json"):
            worker = self.worker("--log-format", form)
            environment = {**os.environ, **worker.environment("tcp"), "LD_LIBRARY_PATH": os.path.join(BUILD, "lib")}
            subprocess.run([name.replace(b"\0", b""), b"hello"], executable=CLIENT, env=environment, check=True,
                           timeout=60, stdout=subprocess.DEVNULL)
            self.assertTrue(eventually(lambda worker=worker: "session 1 ends" in worker.log(), 10))
            with open(worker.log_path, "rb") as file:
                lines = file.read().decode("utf-8", errors="strict").splitlines()
            named = [line for line in lines if r"\xed\xa0\x80" in line or r"\\xed\\xa0\\x80" in line]
            self.assertEqual(len(named), 2, lines)
            if form == "json":
                for line in objects(worker):
                    self.assertNotIn("root", line.get("tenant", ""))
            else:
                for line in named:
                    fields = re.findall(r' (\w+)=("(?:[^"\\]|\\.)*"|\S+)', line)
                    tenants = [value for field, value in fields if field == "tenant"]
                    self.assertEqual(tenants, [f'"user {os.geteuid()}"'])

    def test_priorities_in_the_journal(self):
        for form in ("text", "json"):
            with tempfile.TemporaryFile() as log:
                status = os.fstat(log.fileno())
                for stream, expected in ((f"{status.st_dev}:{status.st_ino}", b"<3>"), ("1:2", b"")):
                    log.truncate(0)
                    log.seek(0)
                    subprocess.run([HIP_WORKER, "--log-format", form, "--socket", "/nowhere/at/all/socket"], stderr=log,
                                   env={**os.environ, "JOURNAL_STREAM": stream}, check=False, timeout=60)
                    log.seek(0)
                    line = log.read()
                    self.assertTrue(line.startswith(expected + (b"{" if form == "json" else b"hip-worker[")), line)


class Forgery(LogTest):
    """A session process runs its client's code, and may write to its standard error."""

    FORGED = "<6>hip-worker[1]: audit: session 7 begins event=session_start tenant=root"

    def test_a_line_says_who_wrote_it(self):
        worker = self.json_worker()
        self.served(worker, "tcp", "attack-log", self.FORGED)
        self.events(worker, "session_end")
        (line,) = [one for one in objects(worker) if "session 7" in one["message"]]
        (start,) = self.events(worker, "session_start")
        self.assertEqual((line["process"], line["from"]), (start["session_process"], "session"))
        self.assertNotIn("event", line)

    def test_a_flood_is_cut(self):
        worker = self.json_worker()
        self.served(worker, "tcp", "attack-log", "flood", 2000)
        (end,) = self.events(worker, "session_end")
        lines = objects(worker)
        self.assertLess(sum(one["message"] == "flood" for one in lines), 1900)
        self.assertTrue(any(re.search(r"\d+ lines of a session were left out", one["message"]) for one in lines))
        self.assertGreater(end["calls"], 2000)
        self.expect_served(worker)

    def test_a_line_without_end(self):
        worker = self.json_worker()
        self.served(worker, "tcp", "attack-log", "x" * 3000 + "\\", 10)
        self.events(worker, "session_end")
        written = [one["message"] for one in objects(worker) if one["message"].startswith("xxx")]
        self.assertTrue(written)
        self.assertLess(max(map(len, written)), 4096)


if __name__ == "__main__":
    main()
