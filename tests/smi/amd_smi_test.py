#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libamd_smi of each major, called as a program of AMD's calls it, on a worker with the CPU runtime.

amd_smi_test.py BUILD          the tests
amd_smi_test.py --client MAJOR LIBRARY    a client; prints what it saw as JSON
"""
import ctypes
import json
import pathlib
import re
import struct
import subprocess
import sys
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
SOURCES = FOLDER.parents[1] / "smi/api"
MAJORS = (0, 24, 25, 26, 27)
SUCCESS, INVAL, NOT_SUPPORTED, NO_PERM, NOT_FOUND, NOT_INIT = 0, 1, 2, 10, 31, 32
GPUS = 2  # of amdsmi_init
# Bytes of structs that grew after ROCm 6.1, whose library Debian calls 0.
ROOM_OF_ROCM_61 = {"gpu_asic_info": 256, "gpu_board_info": 384, "gpu_driver_info": 192, "gpu_vbios_info": 256,
                   "power_info": 68}
ROOM = 1 << 20  # bytes; more than any struct of the library has


def functions(major):
    """[(name, words, parameters)] of what a major has, from the descriptions."""
    found = []
    for name in ("amd_smi.h", "amd_smi_host.h"):
        text = re.sub(r"(//|#)[^\n]*", "", (SOURCES / name).read_text(encoding="utf-8"))
        for words, function, parameters in re.findall(
                r"((?:[A-Z]+(?:\([^)]*\))?\s+)*)amdsmi_status_t\s+(\w+)\(([^)]*)\);", text):
            since, until = (re.search(word + r"\((\d+)\)", words) for word in ("SINCE", "UNTIL"))
            if (not since or major >= int(since[1])) and (not until or major <= int(until[1])):
                parameters = [part.strip() for part in parameters.split(",") if part.strip() not in ("", "void")]
                found.append((function, words, parameters))
    return found


class Caller:
    """Calls functions by name, with one buffer for whatever is pointed to."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.room = ctypes.create_string_buffer(ROOM)

    def __call__(self, name, *arguments):
        return self.library[name](*arguments)

    def guess(self, name, parameters, device, room=True):
        """With `device` for each handle; the rest is zero."""
        ctypes.memset(self.room, 0, ROOM)
        values = []
        for parameter in parameters:
            if "handle" in parameter.split()[0] and "*" not in parameter:
                values.append(ctypes.c_void_p(device))
            elif "*" in parameter:
                values.append(self.room if room else None)
            else:
                values.append(ctypes.c_uint64(0))
        return self(name, *values)

    def handles(self, name, *front):
        count = ctypes.c_uint32(0)
        assert self(name, *front, ctypes.byref(count), None) == SUCCESS
        handles = (ctypes.c_void_p * count.value)()
        assert self(name, *front, ctypes.byref(count), handles) == SUCCESS
        return list(handles)


def bytes_written(call, name, device):
    """How much of a struct an answer fills."""
    ctypes.memset(call.room, 0xa5, ROOM)
    assert call(name, ctypes.c_void_p(device), call.room) == SUCCESS
    return len(call.room.raw.rstrip(b"\xa5"))


def links_of(call, one, other):
    """[weight, hops, type] of a link, as `amd-smi topology --json` asks for them, which expects no failure."""
    weight, hops, kind = ctypes.c_uint64(99), ctypes.c_uint64(99), ctypes.c_uint32(99)
    pair = ctypes.c_void_p(one), ctypes.c_void_p(other)
    assert call("amdsmi_topo_get_link_weight", *pair, ctypes.byref(weight)) == SUCCESS
    assert call("amdsmi_topo_get_link_type", *pair, ctypes.byref(hops), ctypes.byref(kind)) == SUCCESS
    return [weight.value, hops.value, kind.value]


def asked(call, name, device, *front, layout):
    """[code, the numbers at the head of the struct that is answered]."""
    ctypes.memset(call.room, 0xa5, ROOM)
    code = call(name, ctypes.c_void_p(device), *front, call.room)
    return [code, *struct.unpack_from(layout, call.room)]


def unknown(call, major, device):
    """What amd-smi computes with or prints: code and numbers of each struct."""
    first, of_asic = ctypes.c_uint32(0), "64xI64xIQI" if major == 0 else f"256xI{256 if major >= 25 else 64}xIQI"
    return {"link": asked(call, "amdsmi_get_pcie_info", device, layout="HxxII"),
            "cap": asked(call, "amdsmi_get_power_cap_info", device, first, layout="5Q"),
            "clock": asked(call, "amdsmi_get_clock_info", device, first, layout="III"),
            "firmware": asked(call, "amdsmi_get_fw_info", device, layout="B"),
            "asic": asked(call, "amdsmi_get_gpu_asic_info", device, layout=of_asic)}


def client(major, path):
    call = Caller(path)
    every = functions(major)
    before = {name: call.guess(name, parameters, 0x1234) for name, _, parameters in every
              if name not in ("amdsmi_init", "amdsmi_shut_down")}
    assert call("amdsmi_init", ctypes.c_uint64(GPUS)) == SUCCESS
    sockets = call.handles("amdsmi_get_socket_handles")
    devices = [handle for socket in sockets
               for handle in call.handles("amdsmi_get_processor_handles", ctypes.c_void_p(socket))]
    names, memory = [], []
    for device in devices:
        assert call("amdsmi_get_gpu_asic_info", ctypes.c_void_p(device), call.room) == SUCCESS
        names.append(call.room.value.decode())
        total = ctypes.c_uint64(0)
        assert call("amdsmi_get_gpu_memory_total", ctypes.c_void_p(device), ctypes.c_uint32(0),
                    ctypes.byref(total)) == SUCCESS
        memory.append(total.value)
    links = [links_of(call, device, other) for device in devices for other in devices]
    written = {name: bytes_written(call, f"amdsmi_get_{name}", devices[0]) for name in ROOM_OF_ROCM_61}
    unseen = unknown(call, major, devices[0])
    answers = {}
    for name, words, parameters in every:
        if name in ("amdsmi_init", "amdsmi_shut_down"):
            continue
        answers[name] = {"words": words.split(),
                         "device": any("amdsmi_processor_handle device" == part for part in parameters),
                         "pointer": any("*" in part for part in parameters),
                         "before": before[name],
                         "good": call.guess(name, parameters, devices[0]),
                         "null": call.guess(name, parameters, None),
                         "stray": call.guess(name, parameters, 0x1234),
                         "no_room": call.guess(name, parameters, devices[0], room=False)}
    assert call("amdsmi_shut_down") == SUCCESS
    again = call("amdsmi_get_gpu_vram_usage", ctypes.c_void_p(devices[0]), call.room)
    for _ in range(3):
        assert call("amdsmi_init", ctypes.c_uint64(GPUS)) == SUCCESS
        assert len(call.handles("amdsmi_get_socket_handles")) == len(sockets)
        assert call("amdsmi_shut_down") == SUCCESS
    print(json.dumps({"devices": len(devices), "names": names, "memory": memory, "links": links, "answers": answers,
                      "again": again, "written": written, "unknown": unseen}))


class AmdSmi(unittest.TestCase):
    def setUp(self):
        self.worker = Worker(environment={"HIP_CPU_DEVICES": "2"})
        self.addCleanup(self.worker.__exit__)
        self.host = f"unix:{self.worker.socket}"

    def run_program(self, *words):
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60, check=False,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def seen(self, major):
        library = BUILD / f"lib/libamd_smi.so.{major}"
        return json.loads(self.run_program(BUILD / "bin/hip-remote", "run", "--worker", self.host, "--",
                                           sys.executable, __file__, "--client", major, library))

    def test_every_function_of_every_major(self):
        rows = json.loads(self.run_program(BUILD / "bin/smi-remote", "list", "--json", "--host", self.host))["devices"]
        for major in MAJORS:
            seen = self.seen(major)
            self.assertEqual(seen["names"], [row["name"] for row in rows], major)
            self.assertEqual(seen["memory"], [row["memory_total_bytes"] for row in rows], major)
            self.assertNotEqual(seen["again"], SUCCESS, "it has been shut down")
            for name, answer in seen["answers"].items():
                self.check(f"{name} of {major}", answer)

    def test_structs_of_rocm_61_have_room(self):
        written = self.seen(0)["written"]
        for name, room in ROOM_OF_ROCM_61.items():
            self.assertLessEqual(written[name], room, name)
        self.assertGreater(self.seen(24)["written"]["gpu_asic_info"], ROOM_OF_ROCM_61["gpu_asic_info"])

    def test_what_is_not_known_is_what_its_amd_smi_expects(self):
        """Of the CPU runtime no link is known; of some hosts no clock's range, and no cap of the power."""
        asked, host = [json.loads(self.run_program(BUILD / "bin/smi-remote", what, "0", "--json", "--host", self.host))
                       ["devices"][0] for what in ("info", "metrics")]
        has_cap = host["power_cap_w"] is not None
        has_range = asked["core_clock_least_mhz"] is not None and asked["core_clock_most_mhz"] is not None
        for major in MAJORS:
            seen, early = self.seen(major)["unknown"], major == 0
            self.assertEqual(seen["link"], [SUCCESS, 0, 0, 0] if early else [SUCCESS, 0xffff, *[0xffffffff] * 2], major)
            code, *cap = seen["cap"]
            self.assertEqual(code, SUCCESS if early or has_cap else NOT_SUPPORTED, major)
            if code == SUCCESS:
                self.assertNotIn(2**64 - 1, cap, major)
                self.assertEqual(cap[0] != 0, has_cap, major)
            code, _, *clocks = seen["clock"]
            if early:
                self.assertEqual(code, SUCCESS if has_range else NOT_SUPPORTED)
            elif code == SUCCESS and not has_range:
                self.assertIn(0xffffffff, clocks, major)
            self.assertEqual(seen["firmware"], [SUCCESS, 0], major)
            _, vendor, subvendor, _, revision = seen["asic"]
            self.assertEqual(vendor, 0, major)
            self.assertEqual([subvendor, revision], [0, 0] if major <= 24 else [0xffffffff] * 2, major)

    def test_links(self):
        """Two devices of the CPU runtime are two parts of one host's memory."""
        listed = json.loads(self.run_program(BUILD / "bin/smi-remote", "topology", "--json", "--host", self.host))
        weights = [link["weight"] for link in listed["links"]]
        self.assertEqual((weights[0], weights[3]), (0, 0))
        self.assertGreaterEqual(weights[1], 10)
        self.assertEqual(weights[1], weights[2])
        for major in MAJORS:
            links = self.seen(major)["links"]
            self.assertEqual([weight for weight, _, _ in links], weights, major)
            self.assertEqual([hops for _, hops, _ in links], [0, 1, 1, 0], major)

    def check(self, name, answer):
        denied, absent = "DENIED" in answer["words"], any(word.startswith("ABSENT") for word in answer["words"])
        if answer["device"]:
            self.assertEqual(answer["before"], NOT_INIT, name)
            self.assertEqual(answer["null"], INVAL, name)
            self.assertEqual(answer["stray"], NOT_FOUND, name)
        if denied:
            self.assertEqual(answer["good"], NO_PERM, name)
        elif absent:
            self.assertEqual(answer["good"], NOT_SUPPORTED, name)
        elif answer["pointer"] and answer["device"]:
            self.assertNotEqual(answer["no_room"], SUCCESS, name)

    def test_what_the_libraries_export_is_what_they_have(self):
        for major in MAJORS:
            listed = self.run_program("nm", "-D", "--defined-only", BUILD / f"lib/libamd_smi.so.{major}")
            exported = {line.split()[-1] for line in listed.splitlines() if line.split()[1] != "A"}
            ours = {"hip_remote_smi_version@@AMDSMI_1"}
            self.assertEqual(exported - ours, {f"{name}@@AMDSMI_1" for name, _, _ in functions(major)}, major)


if __name__ == "__main__":
    if sys.argv[1] == "--client":
        client(int(sys.argv[2]), sys.argv[3])
        sys.exit()
    sys.path.insert(0, str(FOLDER.parent / "faults"))
    from harness import Worker  # (where it is, this file says)
    BUILD = pathlib.Path(sys.argv.pop(1))
    unittest.main()
