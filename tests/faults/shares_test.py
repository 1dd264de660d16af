# SPDX-License-Identifier: Apache-2.0
"""What one tenant may have: each limit says so at the call, holds for all its sessions together, and is free again
when a session ends, however it ends."""
import contextlib
import json
import os
import signal
import subprocess

from harness import FaultTest, MIB, TRANSPORTS, Worker, eventually, main
from keys import HIP_REMOTE, Keys

SUCCESS = 0
OUT_OF_MEMORY = 2
SHARE = 256 * MIB
FORMS = ("malloc", "pitch", "async", "managed", "host", "array", "graph", "physical")


class SharesTest(FaultTest):
    def worker(self, *extra):
        return self.enter_context(Worker(*extra))

    def enter_context(self, context):
        stack = contextlib.ExitStack()
        entered = stack.enter_context(context)
        self.addCleanup(stack.close)
        return entered

    def client(self, worker, *arguments, transport="tcp", **changes):
        return self.enter_context(worker.client(transport, *arguments, **changes))

    def taken(self, worker, form, amount, **changes):
        """A client that holds so much, or does not; and what its call said."""
        client = self.client(worker, "memory", form, amount, **changes)
        return client, client.expect("memory", 20)[0]

    def is_idle(self, worker):
        self.assertTrue(eventually(worker.idle, 10), worker.children())


class Memory(SharesTest):
    def test_no_form_of_allocation_goes_beyond_the_limit(self):
        worker = self.worker("--limit", f"memory={SHARE}")
        for form in FORMS:
            for transport in TRANSPORTS:
                with self.subTest(f"{form} over {transport}"):
                    whole, error = self.taken(worker, form, SHARE // 2, transport=transport)
                    self.assertEqual(error, SUCCESS)
                    whole.poke()
                    self.assertEqual(whole.wait(), 0, whole.errors())
                    more, error = self.taken(worker, form, SHARE + 2 * MIB, transport=transport)
                    self.assertEqual(error, OUT_OF_MEMORY)
                    more.poke()
                    self.assertEqual(more.wait(), 0, more.errors())
        self.is_idle(worker)

    def test_the_sessions_of_a_tenant_share_it_and_a_killed_one_leaves_its_part(self):
        worker = self.worker("--limit", f"memory={SHARE}")
        first, error = self.taken(worker, "malloc", SHARE - 64 * MIB)
        self.assertEqual(error, SUCCESS)
        _, error = self.taken(worker, "malloc", 128 * MIB)
        self.assertEqual(error, OUT_OF_MEMORY)
        self.assertIn("its tenant's limit memory=256M is reached (", worker.log())
        _, error = self.taken(worker, "physical", 128 * MIB)
        self.assertEqual(error, OUT_OF_MEMORY)
        _, error = self.taken(worker, "array", 32 * MIB)
        self.assertEqual(error, SUCCESS)
        first.kill()
        self.assertTrue(eventually(lambda: self.taken(worker, "malloc", 128 * MIB)[1] == SUCCESS, 10))

    def test_a_session_process_that_is_killed_leaves_its_part(self):
        worker = self.worker("--limit", f"memory={SHARE}")
        spare = set(worker.children())
        _, error = self.taken(worker, "malloc", SHARE)
        self.assertEqual(error, SUCCESS)
        os.kill(spare.pop(), 9)
        self.assertTrue(eventually(lambda: self.taken(worker, "malloc", SHARE)[1] == SUCCESS, 10))

    def test_is_what_a_program_sees(self):
        worker = self.worker("--limit", f"memory={SHARE}")
        for transport in TRANSPORTS:
            with self.subTest(transport):
                client = self.client(worker, "devices", transport=transport)
                self.assertEqual(client.expect("devices"), [SUCCESS, 1])
                client.expect("device")
                self.assertEqual(client.expect("total"), [SHARE, SHARE])
                self.assertEqual(client.expect("free")[0], SHARE)

    def test_what_is_free_counts_the_tenants_other_sessions(self):
        worker = self.worker("--limit", f"memory={SHARE}")
        for transport in TRANSPORTS:
            with self.subTest(transport):
                first, _ = self.taken(worker, "malloc", 64 * MIB, transport=transport)
                second, _ = self.taken(worker, "malloc", 32 * MIB, transport=transport)
                first.poke()
                error, free = first.expect("free")
                self.assertEqual(error, SUCCESS)
                # The other one has what it was leased, which may be more than it has allocated.
                self.assertLessEqual(free, SHARE - 96 * MIB)
                self.assertGreater(free, 0)
                self.assertEqual(first.wait(), 0, first.errors())
                # Of the second one, and a spare.
                self.assertTrue(eventually(lambda: len(worker.children()) == 2, 10), worker.children())
                second.poke()
                self.assertEqual(second.expect("free"), [SUCCESS, SHARE - 32 * MIB])
                self.assertEqual(second.wait(), 0, second.errors())

    def test_of_host_memory_is_another_one_if_the_operator_says_so(self):
        worker = self.worker("--limit", "memory=64M host=256M")
        for form, amount, expected in (("host", 192, SUCCESS), ("managed", 192, OUT_OF_MEMORY),
                                       ("managed", 32, SUCCESS), ("malloc", 65, OUT_OF_MEMORY)):
            with self.subTest(f"{form} {amount}"):
                self.assertEqual(self.taken(worker, form, amount * MIB)[1], expected)

    def test_tenants_have_shares_of_their_own(self):
        keys = self.enter_context(Keys())
        keys.authorize(keys.make("alice") + " memory=64M", keys.make("bob"))
        worker = self.enter_context(keys.worker("--limit", "memory=128M"))
        for name, amount, expected in (("alice", 65, OUT_OF_MEMORY), ("alice", 64, SUCCESS), ("bob", 128, SUCCESS),
                                       ("bob", 1, OUT_OF_MEMORY), ("alice", 1, OUT_OF_MEMORY)):
            with self.subTest(f"{name} {amount}"):
                _, error = self.taken(worker, "malloc", amount * MIB, **keys.environment(name))
                self.assertEqual(error, expected)


class Counts(SharesTest):
    def test_streams(self):
        worker = self.worker("--limit", "streams=8", "-v")
        first = self.client(worker, "streams", 5)
        self.assertEqual(first.expect("streams"), [5, SUCCESS])
        second = self.client(worker, "streams", 100)
        self.assertEqual(second.expect("streams"), [3, OUT_OF_MEMORY])
        self.assertEqual(second.expect("after"), [SUCCESS, OUT_OF_MEMORY])  # hipGetLastError: of the call itself
        reached = "its tenant's limit streams=8 is reached (1 times so far)"
        self.assertTrue(eventually(lambda: reached in worker.log(), 5), worker.log())  # the supervisor writes it
        second.poke()
        self.assertEqual(second.expect("again"), [SUCCESS, SUCCESS])
        second.poke()
        self.assertEqual(second.wait(), 0, second.errors())
        ended = "had at most 3 streams; refused: streams 1 times"
        self.assertTrue(eventually(lambda: ended in worker.log(), 5), worker.log())

    def test_sessions_by_key(self):
        keys = self.enter_context(Keys())
        keys.authorize(keys.make("alice") + " sessions=1", keys.make("bob"))
        worker = self.enter_context(keys.worker("--sessions-per-tenant", "2"))
        for name, held in (("alice", 1), ("bob", 2)):
            with self.subTest(name):
                for _ in range(held):
                    _, error = self.taken(worker, "malloc", MIB, **keys.environment(name))
                    self.assertEqual(error, SUCCESS)
                more = self.client(worker, "hello", **keys.environment(name))
                self.assertNotEqual(more.wait(20), 0)
                self.assertRegex("\n".join(more.errors()), f"tenant {name} has {held} sessions already")

    def test_starts_within_a_minute(self):
        worker = self.worker("--limit", "starts=3")
        for _ in range(3):
            self.expect_served(worker)
        client = self.client(worker, "hello")
        self.assertNotEqual(client.wait(20), 0)
        self.assertRegex("\n".join(client.errors()), "has started 3 sessions within a minute")
        self.assertIn("a client refused: ", worker.log())

    def test_the_file_of_keys_is_read_again(self):
        keys = self.enter_context(Keys())
        alice = keys.make("alice")
        keys.authorize(alice + " memory=64M")
        worker = self.enter_context(keys.worker())
        self.assertEqual(self.taken(worker, "malloc", 65 * MIB, **keys.environment("alice"))[1], OUT_OF_MEMORY)
        for words, said in ((" memory=1X", "line 1: \"memory=1X\": expected memory=BYTES"),
                            (" colour=red", "line 1: unknown option \"colour=red\"; possible: devices, memory, "),
                            (" memory=128M", "the authorized keys were read again: 1 keys")):
            with self.subTest(words):
                keys.authorize(alice + words)
                worker.process.send_signal(1)
                self.assertTrue(eventually(lambda said=said: said in worker.log(), 5), worker.log())
        self.assertEqual(self.taken(worker, "malloc", 65 * MIB, **keys.environment("alice"))[1], SUCCESS)


class Processors(SharesTest):
    def hog(self, worker, others=(), transport="tcp"):
        """A client whose kernels fill the processors, and its session's process; `others`: those of earlier ones."""
        def spare():
            return [pid for pid in worker.children() if pid not in others]

        self.assertTrue(eventually(lambda: len(spare()) == 1, 20), worker.children())
        session, = spare()
        client = self.client(worker, "fill", transport=transport)
        client.expect("filling", 20)
        return client, session

    def test_threads_of_a_session_have_its_weight(self):
        worker = self.worker("--limit", "weight=50")
        _, session = self.hog(worker)
        own = os.getpriority(os.PRIO_PROCESS, 0)
        found = {os.getpriority(os.PRIO_PROCESS, int(name)) for name in os.listdir(f"/proc/{session}/task")}
        self.assertIn(min(own + 3, 19), found)

    def test_sessions_that_fill_them_leave_turns_to_others_also_when_one_is_killed(self):
        worker = self.worker()
        hogs = []
        for transport in ("tcp", "shm", "shm"):
            hogs.append(self.hog(worker, [session for _, session in hogs], transport))
        for filling, session in hogs:
            for transport in TRANSPORTS:
                client = self.client(worker, "latency", 100, transport=transport)
                self.assertEqual(len(client.expect("latency_us", 60)), 2)
                self.assertEqual(client.wait(), 0, client.errors())
            os.kill(session, signal.SIGKILL)
            filling.wait(20)
        self.is_idle(worker)


class Info(SharesTest):
    def test_it_tells_the_share(self):
        keys = self.enter_context(Keys())
        keys.authorize(keys.make("alice") + " memory=64M", keys.make("bob"))
        worker = self.enter_context(keys.worker("--limit", "streams=9 sessions=0"))
        clean = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
        for name, share in (("alice", "memory=64M host=64M streams=9"), ("bob", "streams=9")):
            told = json.loads(subprocess.run([HIP_REMOTE, "info", "--json", "--worker", f"localhost:{worker.port}"],
                                             env={**clean, **keys.environment(name)}, check=True, timeout=120,
                                             stdout=subprocess.PIPE).stdout)["workers"]
            self.assertEqual(told[0]["share"], share)


class Devices(SharesTest):
    def setUp(self):
        os.environ["HIP_CPU_DEVICES"] = "3"  # the worker's
        self.addCleanup(os.environ.pop, "HIP_CPU_DEVICES")

    def buses(self, worker, **changes):
        """What a client sees: the bus of each device, which is the worker's number and one."""
        client = self.client(worker, "devices", **changes)
        _, count = client.expect("devices", 20)
        buses = []
        for device in range(max(count, 0)):
            number, bus = client.expect("device")
            self.assertEqual(number, device)
            buses.append(bus)
            client.expect("total")
            client.expect("free")
        client.poke()
        self.assertEqual(client.wait(), 0, client.errors())
        return buses

    def test_a_key_shows_those_that_it_is_granted(self):
        keys = self.enter_context(Keys())
        keys.authorize(keys.make("alice") + " devices=2,0", keys.make("bob"))
        worker = self.enter_context(keys.worker())
        self.assertEqual(self.buses(worker, **keys.environment("alice")), [3, 1])
        self.assertEqual(self.buses(worker, **keys.environment("bob")), [1, 2, 3])

    def test_the_programs_own_lists_choose_among_these(self):
        worker = self.worker("--limit", "devices=2,1")
        for transport in TRANSPORTS:
            for lists, expected in (({}, [3, 2]), ({"HIP_VISIBLE_DEVICES": "1"}, [2]),
                                    ({"HIP_VISIBLE_DEVICES": "1,0"}, [2, 3]), ({"HIP_VISIBLE_DEVICES": "1,2,0"}, [2]),
                                    ({"CUDA_VISIBLE_DEVICES": "1"}, [2]), ({"HIP_VISIBLE_DEVICES": "2"}, []),
                                    ({"ROCR_VISIBLE_DEVICES": "1,0", "HIP_VISIBLE_DEVICES": "1"}, [3]),
                                    ({"ROCR_VISIBLE_DEVICES": ""}, []), ({"TF_DEVICE_ID": "1"}, [2])):
                with self.subTest(f"{lists} over {transport}"):
                    self.assertEqual(self.buses(worker, transport=transport, **lists), expected)

    def test_memory_is_counted_for_each(self):
        worker = self.worker("--limit", f"memory={SHARE} devices=1,2")
        for device in ("0", "1"):
            _, error = self.taken(worker, "malloc", SHARE, HIP_VISIBLE_DEVICES=device)
            self.assertEqual(error, SUCCESS)
        self.assertEqual(self.taken(worker, "malloc", MIB, HIP_VISIBLE_DEVICES="1")[1], OUT_OF_MEMORY)

    def test_devices_that_are_not_there_keep_nobody_else_out(self):
        keys = self.enter_context(Keys())
        keys.authorize(keys.make("alice") + " devices=7", keys.make("bob"))
        worker = self.enter_context(keys.worker())
        self.assertTrue(eventually(lambda: "devices 7: runtime cpu" in worker.log(), 10), worker.log())
        client = self.client(worker, "hello", **keys.environment("alice"))
        self.assertNotEqual(client.wait(20), 0)
        self.assertRegex("\n".join(client.errors()), r"the devices of tenant alice \(7\) cannot be used")
        self.assertEqual(self.buses(worker, **keys.environment("bob")), [1, 2, 3])


if __name__ == "__main__":
    main()
