#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The TensorFusion provider from Python, alone and with a real worker and real clients.

provider_test.py LIBRARY-OF-LAYOUT-0 LIBRARY-OF-LAYOUT-1
"""
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / "faults")]
import abi  # noqa: E402  (where they are, this file says)
from harness import MIB, Worker, eventually, is_running  # noqa: E402

LIBRARIES = [pathlib.Path(path) for path in sys.argv[1:3]]
NAME = "simulated-py"
GIB = 1024 * MIB
OUT_OF_MEMORY = 2
IO_TIMEOUT_S = 1
UNKNOWN = b"nobody-0"
# A namespace of process numbers, where the only workers are the test's own.
ALONE = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
os.environ.update({"TF_PROVIDER_SIMULATED": NAME, "HIP_CPU_DEVICES": "2"})
os.environ.pop("TF_DEVICE_LIMITS", None)
PROVIDERS = [abi.Provider(path, layout) for layout, path in enumerate(LIBRARIES)]


def state_of(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0]


def own_resources():
    """Open files, and resident KiB."""
    pages = int(pathlib.Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return len(os.listdir("/proc/self/fd")), pages * os.sysconf("SC_PAGESIZE") // 1024


class Interface(unittest.TestCase):
    def test_nothing_else_is_exported(self):
        for layout, library in enumerate(LIBRARIES):
            listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
            names = {line.split()[-1].partition("@")[0] for line in listed.stdout.splitlines()}
            self.assertEqual(names, set(abi.functions(layout)))
            self.assertEqual(len(names), 15)

    def test_layouts(self):
        for one, size in abi.SIZES.items():
            self.assertEqual(ctypes.sizeof(one), size, one.__name__)
        for layout, sizes in abi.TOPOLOGY_SIZES.items():
            self.assertEqual(tuple(map(ctypes.sizeof, abi.topology(layout))), sizes)

    def test_a_topology_fits_what_its_caller_has(self):
        for layout, provider in enumerate(PROVIDERS):
            size = abi.TOPOLOGY_SIZES[layout][2]
            memory = (ctypes.c_uint8 * (size + 64))(*([0x5a] * (size + 64)))
            topology = provider.topology_type.from_buffer(memory)
            self.assertEqual(provider.GetAllDevicesTopology(topology), abi.SUCCESS)
            self.assertEqual(bytes(memory[size:]), b"\x5a" * 64)
            self.assertEqual(topology.device_count, 2)
            for index, device in enumerate(topology.devices[:2]):
                self.assertEqual((device.uuid, device.index), (f"{NAME}-{index}".encode(), index))
                self.assertEqual(device.peer_count, 1)
                peer = device.peers[0]
                self.assertEqual((peer.uuid, peer.index), (f"{NAME}-{1 - index}".encode(), 1 - index))

    def test_devices(self):
        for provider in PROVIDERS:
            devices = provider.devices()
            self.assertEqual([device.uuid for device in devices], [f"{NAME}-{index}".encode() for index in (0, 1)])
            for device in devices:
                self.assertIn(b"Simulated", device.model)
                self.assertNotEqual(device.vendor, b"AMD")
                self.assertGreater(device.memory, 0)

    def test_null_and_zero(self):
        """Each argument of each function in turn, beside good ones."""
        one, count, text = PROVIDERS[0], ctypes.c_size_t(), f"{NAME}-0".encode()
        size, texts = ctypes.byref(count), (ctypes.c_char_p * 1)(text)
        device, process, mount = abi.Device(), abi.Process(), abi.Mount()
        good = {"GetDeviceCount": [size], "GetAllDevices": [device, 1, size], "GetAllDevicesTopology": [None],
                "AssignPartition": [b"1g.1gb", text, abi.Partition()], "RemovePartition": [b"1g.1gb", text],
                "SetMemHardLimit": [text, MIB], "SetComputeUnitHardLimit": [text, 50],
                "Snapshot": [None], "Resume": [None], "GetProcessInformation": [process, 1, size],
                "GetDeviceMetrics": [texts, 1, abi.Values()], "GetVendorMountLibs": [mount, 1, size]}
        for name, arguments in good.items():
            for index, argument in enumerate(arguments):
                bad = list(arguments)
                bad[index] = 0 if isinstance(argument, int) else None
                self.assertEqual(getattr(one, name)(*bad), abi.INVALID_PARAM, f"{name}, argument {index}")
                if isinstance(argument, bytes):
                    bad[index] = b""
                    self.assertEqual(getattr(one, name)(*bad), abi.INVALID_PARAM, f"{name}, argument {index}")
        self.assertEqual(set(good) | {"Init", "Shutdown", "RegisterLogCallback"},
                         {name.removeprefix("Accel") for name in abi.functions(0)})

    def test_out_of_range(self):
        one, text = PROVIDERS[0], f"{NAME}-0".encode()
        memory = one.devices()[0].memory
        self.assertEqual(one.SetMemHardLimit(text, memory + 1), abi.INVALID_PARAM)
        self.assertEqual(one.SetComputeUnitHardLimit(text, 101), abi.INVALID_PARAM)
        self.assertEqual(one.GetDeviceMetrics((ctypes.c_char_p * 65)(*[text] * 65), 65, (abi.Values * 65)()[0]),
                         abi.INVALID_PARAM)
        for template in (b"0g.1gb", b"9g.1gb", b"1g", b"1g.1gb.x", b"x" * 5000):
            self.assertEqual(one.AssignPartition(template, text, abi.Partition()), abi.INVALID_PARAM, template)
        for pids in ((0,), (-1,), (os.getpid(), 0)):
            self.assertEqual(one.Snapshot(abi.snapshot(pids)), abi.INVALID_PARAM, pids)

    def test_unknown(self):
        one = PROVIDERS[0]
        for name, arguments in {"AssignPartition": [b"1g.1gb", UNKNOWN, abi.Partition()],
                                "RemovePartition": [b"1g.1gb", UNKNOWN], "SetMemHardLimit": [UNKNOWN, MIB],
                                "SetComputeUnitHardLimit": [UNKNOWN, 50], "Snapshot": [abi.snapshot(uuid=UNKNOWN)],
                                "Resume": [abi.snapshot(uuid=UNKNOWN)],
                                "GetDeviceMetrics": [(ctypes.c_char_p * 1)(UNKNOWN), 1, abi.Values()]}.items():
            self.assertEqual(getattr(one, name)(*arguments), abi.NOT_FOUND, name)
        self.assertEqual(one.RemovePartition(b"nothing", f"{NAME}-0".encode()), abi.NOT_FOUND)
        self.assertEqual(one.Snapshot(abi.snapshot((os.getpid(),))), abi.NOT_FOUND, "no session")

    def test_what_has_no_effect_is_not_a_success(self):
        one, text = PROVIDERS[0], f"{NAME}-0".encode()
        heard = []
        callback = abi.LOG(lambda level, message: heard.append((level, message)))
        self.assertEqual(one.RegisterLogCallback(callback), abi.SUCCESS)
        self.assertEqual(one.SetMemHardLimit(text, MIB), abi.NOT_SUPPORTED)  # no TF_DEVICE_LIMITS
        self.assertEqual(one.SetComputeUnitHardLimit(text, 50), abi.NOT_SUPPORTED)
        self.assertEqual(one.RegisterLogCallback(abi.LOG()), abi.SUCCESS)
        self.assertEqual(one.SetComputeUnitHardLimit(text, 50), abi.NOT_SUPPORTED)
        self.assertEqual([level for level, _ in heard], [b"ERROR", b"ERROR"])
        self.assertIn(b"TF_DEVICE_LIMITS", heard[0][1])
        self.assertIn(b"HSA_CU_MASK", heard[1][1])

    def test_after_shutdown(self):
        for provider in PROVIDERS:
            self.assertEqual(provider.Init(), abi.SUCCESS)
            self.assertEqual(provider.Shutdown(), abi.SUCCESS)
            self.assertEqual(provider.Shutdown(), abi.SUCCESS)
            self.assertEqual(len(provider.devices()), 2)

    def test_cycles_leave_nothing(self):
        for provider in PROVIDERS:
            for times in (100, 1000):
                before = own_resources()
                for _ in range(times):
                    self.assertEqual((provider.Init(), len(provider.devices()), provider.Shutdown()), (0, 2, 0))
            descriptors, resident = own_resources()
            self.assertLessEqual(descriptors, before[0])
            self.assertLess(resident, before[1] + 2048)


class WithWorkers(unittest.TestCase):
    def start(self, *options, **environment):
        worker = Worker(*options, environment=environment)
        self.addCleanup(worker.__exit__)
        return worker

    def client(self, worker, *arguments, **changes):
        client = worker.client("shm", *arguments, **changes)
        self.addCleanup(client.__exit__)
        return client

    def allocation(self, worker, amount):
        """What hipMalloc says, and the client, which then has that memory."""
        client = self.client(worker, "memory", "malloc", amount)
        return client.expect("memory", 20)[0], client

    def seen(self, worker):
        """Bus numbers and sizes of the devices that a client sees."""
        client = self.client(worker, "devices")
        error, count = client.expect("devices", 20)
        self.assertEqual(error, 0, client.errors())
        devices = []
        for _ in range(count):
            devices.append((client.expect("device")[1], client.expect("total")[1]))
            client.expect("free")
        client.poke()
        self.assertEqual(client.wait(), 0, client.errors())
        return devices

    def limits_file(self):
        folder = tempfile.TemporaryDirectory(prefix="hip-provider-")
        self.addCleanup(folder.cleanup)
        os.environ["TF_DEVICE_LIMITS"] = str(pathlib.Path(folder.name) / "limits")
        self.addCleanup(os.environ.pop, "TF_DEVICE_LIMITS")
        return pathlib.Path(os.environ["TF_DEVICE_LIMITS"])


class MemoryLimits(WithWorkers):
    def test_a_worker_obeys_them(self):
        file = self.limits_file()
        worker = self.start("--device-limits", str(file))
        whole = self.seen(worker)
        self.assertEqual(PROVIDERS[0].SetMemHardLimit(f"{NAME}-1".encode(), 96 * MIB), abi.SUCCESS)
        self.assertEqual(PROVIDERS[0].SetMemHardLimit(f"{NAME}-0".upper().encode(), 128 * MIB), abi.SUCCESS)
        self.assertEqual(self.seen(worker), [(whole[0][0], 128 * MIB), (whole[1][0], 96 * MIB)])
        error, first = self.allocation(worker, 64 * MIB)
        self.assertEqual(error, 0, first.errors())
        self.assertEqual(self.allocation(worker, 129 * MIB)[0], OUT_OF_MEMORY)
        self.assertEqual(self.allocation(worker, 80 * MIB)[0], OUT_OF_MEMORY, "both sessions together")
        self.assertEqual(PROVIDERS[1].SetMemHardLimit(f"{NAME}-0".encode(), 256 * MIB), abi.SUCCESS)
        self.assertEqual(self.allocation(worker, 160 * MIB)[0], 0, "a session that began later")

    def test_nobody_gets_more_because_the_file_cannot_be_trusted(self):
        file = self.limits_file()
        worker = self.start("--device-limits", str(file))
        self.assertEqual(PROVIDERS[0].SetMemHardLimit(f"{NAME}-0".encode(), 64 * MIB), abi.SUCCESS)
        file.chmod(0o666)
        self.assertNotEqual(self.client(worker, "hello").wait(20), 0)
        self.assertIn("--device-limits", worker.log())
        self.assertEqual(PROVIDERS[0].SetMemHardLimit(f"{NAME}-0".encode(), 32 * MIB), abi.OPERATION_FAILED)
        file.chmod(0o644)
        self.assertEqual(self.allocation(worker, 65 * MIB)[0], OUT_OF_MEMORY)


class Partitions(WithWorkers):
    def test_a_partition_is_what_a_client_sees(self):
        bus_numbers = [bus for bus, _ in self.seen(self.start())]
        self.assertEqual(len(bus_numbers), 2)
        partition = abi.Partition()
        uuid = f"{NAME}-1".encode()
        self.assertEqual(PROVIDERS[0].AssignPartition(b"4g.1gb", uuid, partition), abi.SUCCESS)
        self.assertEqual(PROVIDERS[0].AssignPartition(b"5g.1gb", uuid, abi.Partition()), abi.RESOURCE_EXHAUSTED)
        variables = dict(one.value.decode().split("=", 1) for one in partition.variables if one.value)
        worker = self.start(**variables)
        self.assertEqual(self.seen(worker), [(bus_numbers[1], GIB)])
        self.assertEqual(self.allocation(worker, GIB + 2 * MIB)[0], OUT_OF_MEMORY)
        self.assertEqual(self.allocation(worker, 512 * MIB)[0], 0)
        self.assertEqual(PROVIDERS[0].RemovePartition(partition.uuid, uuid), abi.SUCCESS)


class Freezing(WithWorkers):
    def frozen(self, stop, go_on, seconds=0):
        """A session with memory stands still, says nothing, and then its client goes on."""
        worker = self.start(TF_IO_TIMEOUT=str(IO_TIMEOUT_S))
        session, = worker.children()
        client = self.client(worker, "memory", "malloc", 64 * MIB, TF_IO_TIMEOUT=str(IO_TIMEOUT_S))
        self.assertEqual(client.expect("memory", 20)[0], 0, client.errors())
        self.assertEqual(stop(session), abi.SUCCESS)
        self.assertEqual(stop(session), abi.SUCCESS, "again")
        self.assertEqual(state_of(session), "T")
        client.poke()
        time.sleep(seconds)
        with self.assertRaisesRegex(AssertionError, "no line within"):
            client.lines.next(0.2)
        self.assertTrue(is_running(client.pid))
        self.assertEqual(go_on(session), abi.SUCCESS)
        self.assertNotEqual(state_of(session), "T")
        self.assertEqual(client.expect("free", 20)[0], 0, client.errors())
        self.assertEqual(client.wait(), 0, client.errors())
        self.assertTrue(eventually(worker.idle, 10), worker.children())

    def test_of_processes(self):
        self.frozen(lambda session: PROVIDERS[0].Snapshot(abi.snapshot((session,))),
                    lambda session: PROVIDERS[0].Resume(abi.snapshot((session,))))

    def test_longer_than_a_silent_peer_may_be(self):
        self.frozen(lambda session: PROVIDERS[1].Snapshot(abi.snapshot((session,))),
                    lambda session: PROVIDERS[1].Resume(abi.snapshot((session,))), 3 * IO_TIMEOUT_S + 1)

    def test_none_if_one_cannot_be(self):
        worker = self.start()
        session, = worker.children()
        self.assertEqual(PROVIDERS[0].Snapshot(abi.snapshot((session, os.getpid()))), abi.NOT_FOUND)
        self.assertNotEqual(state_of(session), "T")

    def test_of_a_device(self):
        """All sessions of the host: so in a namespace where there are no others."""
        if os.environ.get("TF_PROVIDER_ALONE"):
            uuid = f"{NAME}-0".encode()
            self.frozen(lambda _: PROVIDERS[0].Snapshot(abi.snapshot(uuid=uuid)),
                        lambda _: PROVIDERS[0].Resume(abi.snapshot(uuid=uuid)))
            return
        if subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("this host lets nobody have a namespace of process numbers")
        done = subprocess.run([*ALONE, sys.executable, *sys.argv[:3], self.id().removeprefix("__main__.")],
                              env={**os.environ, "TF_PROVIDER_ALONE": "1"}, capture_output=True, text=True, timeout=100,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_sessions_are_listed(self):
        worker = self.start()
        session, = worker.children()
        client = self.client(worker, "memory", "malloc", 64 * MIB)
        self.assertEqual(client.expect("memory", 20)[0], 0, client.errors())
        self.assertIn(session, PROVIDERS[0].processes())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
