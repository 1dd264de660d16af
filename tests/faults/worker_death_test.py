# SPDX-License-Identifier: Apache-2.0
"""Workers that die, are not there, or never answer: the client says so in time, and never hangs."""
import os
import signal
import socket
import subprocess
import sys
import time

from harness import (BUILD, NOT_INITIALIZED, Client, FaultTest, MIB, SANITIZED, SLOWER, TRANSPORTS, Worker,
                     eventually, main)

COPY_BYTES = 256 * MIB
FOREVER = 10**15


def killed(log):
    return [line for line in log.splitlines() if "killed by signal" in line and "audit:" not in line]


class WorkerDeath(FaultTest):
    def strike(self, transport, arguments, until, whole_worker):
        with Worker() as worker:
            serving = worker.children()[0]
            with worker.client(transport, *arguments) as client:
                client.expect(until, 20)
                os.kill(worker.pid if whole_worker else serving, signal.SIGKILL)
                if until == "holding":
                    time.sleep(0.2)
                    client.poke()
                self.expect_loss(client)
            if whole_worker:
                self.expect_ends(serving)
            else:
                self.expect_served(worker, transport)
                self.assertIn("killed by signal 9", worker.log())

    def test_session_killed_in_the_middle_of_a_copy(self):
        for transport in TRANSPORTS:
            for direction in ("copy-in", "copy-out"):
                with self.subTest(f"{transport} {direction}"):
                    self.strike(transport, (direction, COPY_BYTES), "copying", False)

    def test_session_killed_in_the_middle_of_a_synchronize(self):
        for transport in TRANSPORTS:
            with self.subTest(transport):
                self.strike(transport, ("kernel", FOREVER), "running", False)

    def test_session_killed_while_the_client_is_idle(self):
        self.strike("tcp", ("hold", MIB), "holding", False)

    # In whatever code, and whatever the signal: who was served, and with which device, stands in the log.
    def test_the_log_names_whose_session_a_signal_ended(self):
        for transport in TRANSPORTS:
            for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGKILL):
                if SANITIZED == "thread" and number in (signal.SIGSEGV, signal.SIGBUS):
                    print(f"left out: {number.name}, which the thread sanitizer turns into an exit", file=sys.stderr)
                    continue
                with self.subTest(f"{transport} {number.name}"), Worker() as worker:
                    serving = worker.children()[0]
                    with worker.client(transport, "hold", MIB) as client:
                        client.expect("holding", 20)
                        os.kill(serving, number)
                        # The audit's line comes before it.
                        self.assertTrue(eventually(lambda: killed(worker.log()), 10), worker.log())
                        ended = killed(worker.log())
                        self.assertEqual(len(ended), 1, ended)
                        self.assertIn(f'("fault_client"[{client.pid}], HIP 5, over {transport}, device 0) ended: '
                                      f"killed by signal {number.value} (", ended[0])
                        client.poke()
                        client.wait(20)

    def test_supervisor_killed(self):
        for transport, arguments, until in (("shm", ("copy-in", COPY_BYTES), "copying"),
                                            ("tcp", ("copy-out", COPY_BYTES), "copying"),
                                            ("tcp", ("hold", MIB), "holding")):
            with self.subTest(f"{transport} {arguments[0]}"):
                self.strike(transport, arguments, until, True)

    # A kernel that does not end keeps its session process for the grace time; the client has its answer then.
    def test_supervisor_killed_in_the_middle_of_a_synchronize(self):
        self.strike("tcp", ("kernel", FOREVER), "running", True)


class NoWorker(FaultTest):
    def refused(self, seconds, said, **environment):
        with Client(environment, "hello") as client:
            error, milliseconds = client.expect("failed", seconds + 3)
            self.assertEqual(error, NOT_INITIALIZED)
            self.assertEqual(client.wait(), 3)
            self.assertLess(milliseconds, seconds * 1000 * SLOWER)
            told = [line for line in client.errors() if line.startswith("hip-remote:")]
            self.assertEqual(len(told), 1, told)
            for words in said:
                self.assertIn(words, "\n".join(client.errors()))
            return milliseconds

    def test_nobody_listens(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        self.refused(1.5, ["no worker (worker 127.0.0.1:" + port, "refused"], TF_WORKER_HOST="127.0.0.1",
                     TF_WORKER_PORT=port)
        self.refused(1.5, ["/nonexistent/worker.sock"], TF_WORKER_SOCKET="/nonexistent/worker.sock")

    def test_a_black_hole(self):
        with socket.create_server(("127.0.0.1", 0)) as hole:
            took = self.refused(3, ["no worker"], TF_WORKER_HOST="127.0.0.1",
                                TF_WORKER_PORT=str(hole.getsockname()[1]), TF_CONNECT_TIMEOUT="2")
            self.assertGreater(took, 1500)

    def test_a_server_of_something_else(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            environment = {"TF_WORKER_HOST": "127.0.0.1", "TF_WORKER_PORT": str(other.getsockname()[1])}
            with Client(environment, "hello") as client:
                connection, _ = other.accept()
                connection.sendall(b"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n")
                client.expect("failed")
                connection.close()
                self.assertIn("an SSH server answers there, not hip-worker", client.errors()[0])

    def test_a_connection_that_ends_without_a_word_is_tried_again(self):
        with Worker() as worker, socket.create_server(("127.0.0.1", 0)) as door:
            environment = {"TF_WORKER_HOST": "127.0.0.1", "TF_WORKER_PORT": str(door.getsockname()[1])}
            with Client(environment, "hello") as client:
                for _ in range(3):
                    door.settimeout(10)
                    door.accept()[0].close()
                client.expect("failed")
                self.assertEqual(client.wait(), 3)
            self.expect_served(worker)

    def test_transports_that_cannot_be(self):
        with Worker() as worker:
            address = {"TF_WORKER_HOST": "127.0.0.1", "TF_WORKER_PORT": str(worker.port)}
            self.refused(1.5, ["bogus", "shm", "tcp"], TF_TRANSPORT="bogus", **address)
            self.refused(1.5, ["shm"], TF_TRANSPORT="shm", **address)
            self.refused(1.5, ["rdma"], TF_TRANSPORT="rdma", **address)
            self.refused(1.5, ["TF_CONNECT_TIMEOUT=soon: expected a number"], TF_CONNECT_TIMEOUT="soon", **address)
            self.expect_served(worker)

    def test_the_client_library_is_no_runtime(self):
        library = os.path.join(BUILD, "lib", "libamdhip64.so.5")
        ran = subprocess.run([os.path.join(BUILD, "bin", "hip-worker"), "--port", "0", "--runtime", library],
                             stderr=subprocess.PIPE, timeout=20 * SLOWER, check=False)
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn(b"is hip-remote's own client library, not a runtime", ran.stderr)

    def test_the_next_session_process_serves_when_a_spare_is_killed(self):
        with Worker() as worker:
            os.kill(worker.children()[0], signal.SIGKILL)
            self.assertTrue(eventually(worker.idle, 3))
            self.expect_served(worker)


if __name__ == "__main__":
    main()
