# SPDX-License-Identifier: Apache-2.0
"""As many tenants at a time as a worker has places, each with a key, a session and memory of its own."""
import json
import os
import signal

from harness import SANITIZED, FaultTest, eventually, main
from keys import Keys

TENANTS = 16 if SANITIZED else 64  # 64: sessions that a worker serves if nothing else was said (--sessions-max)
START_S = 60  # for all of them to start, on two cores


class ManyTenants(FaultTest):
    def setUp(self):
        self.keys = Keys()
        self.addCleanup(self.keys.directory.cleanup)
        self.names = [f"tenant-{number}" for number in range(TENANTS)]
        self.lines = [self.keys.make(name) for name in self.names]
        self.keys.authorize(*self.lines)
        self.worker = self.keys.worker("--sessions-max", str(TENANTS), "--log-format", "json")
        self.addCleanup(self.worker.__exit__)
        self.clients = [self.client(number) for number in range(TENANTS)]
        for client in self.clients:
            self.addCleanup(client.__exit__)

    def client(self, number):
        environment = self.keys.environment(self.names[number], TF_CONNECT_TIMEOUT=str(START_S))
        return self.worker.client("tcp", "own", number, **environment)

    def go_on(self, clients, rounds):
        """Each of them finds in its memory what it wrote there, and writes the next."""
        for client in clients:
            client.poke()
        for client in clients:
            self.assertEqual(client.expect("own", START_S)[0], rounds, client.errors())

    def events(self, name):
        lines = [json.loads(line) for line in self.worker.log().splitlines()]
        return [line for line in lines if line.get("event") == name]

    def test_all_at_once(self):
        for client in self.clients:
            self.assertEqual(client.expect("own", START_S)[0], 0, client.errors())
        self.go_on(self.clients, 1)
        self.one_more_is_told_that_it_is_full()
        revoked, others = self.clients[::4], [client for at, client in enumerate(self.clients) if at % 4]
        self.keys.authorize(*(line for at, line in enumerate(self.lines) if at % 4))
        os.kill(self.worker.pid, signal.SIGHUP)
        self.assertTrue(eventually(lambda: len(self.events("session_end")) == len(revoked), 20))
        self.go_on(others, 2)
        for client in others[::2]:
            client.kill()
        self.go_on(others[1::2], 3)
        for client in others[1::2]:
            client.process.stdin.close()
            self.assertEqual(client.wait(), 0, client.errors())
        self.assertTrue(eventually(self.worker.idle, 20), self.worker.children())
        for event in ("session_start", "session_end"):
            self.assertEqual(sorted(line["tenant"] for line in self.events(event)), sorted(self.names))

    def one_more_is_told_that_it_is_full(self):
        environment = self.keys.environment(self.names[0], TF_CONNECT_TIMEOUT="2")
        with self.worker.client("tcp", "hello", **environment) as client:
            self.assertNotEqual(client.wait(20), 0)
            self.assertIn(f"serves {TENANTS} clients already", "\n".join(client.errors()))


if __name__ == "__main__":
    main()
