# SPDX-License-Identifier: Apache-2.0
"""What amdkfd would tell in /sys of the current HIP devices, for programs that look there themselves. Needs root."""
import ctypes
import os
import pathlib
import re
import sys

import mounts

HERE = pathlib.Path("/sys/class")
VENDOR = 0x1002
PCI_EXPRESS = 2  # type of a link


def places():
    """[(domain, location)] of the devices. In a process of its own: who calls fork() later has no HIP before it."""
    ends = os.pipe()
    child = os.fork()
    if child == 0:
        file, = pathlib.Path("/usr/lib").glob("*/libamdhip64.so.?")
        hip, count, text = ctypes.CDLL(file.name), ctypes.c_int(), ctypes.create_string_buffer(32)
        failed = hip.hipGetDeviceCount(ctypes.byref(count))
        for device in range(count.value):
            failed = failed or hip.hipDeviceGetPCIBusId(text, len(text), device)
            os.write(ends[1], text.value + b"\n")
        os._exit(1 if failed else 0)
    os.close(ends[1])
    with os.fdopen(ends[0]) as told:
        found = re.findall(r"(\w+):(\w+):(\w+)\.(\w+)", told.read())
    if os.waitpid(child, 0)[1] != 0:
        sys.exit("no HIP devices to show")
    numbers = [[int(word, 16) for word in place] for place in found]
    return [(domain, bus << 8 | device << 3 | function) for domain, bus, device, function in numbers]


def write(file, **values):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{name} {value}\n" for name, value in values.items()))


def write_nodes(folder):
    """Node 0 is the host."""
    devices = places()
    write(folder / "0/properties", cpu_cores_count=1)
    (folder / "0/gpu_id").write_text("0\n")
    for node, (domain, location) in enumerate(devices, 1):
        write(folder / f"{node}/properties", cpu_cores_count=0, simd_count=4, vendor_id=VENDOR, unique_id=node,
              location_id=location, domain=domain)
        (folder / f"{node}/gpu_id").write_text(f"{node}\n")
        others = [other for other in range(len(devices) + 1) if other != node]
        for link, other in enumerate(others):
            write(folder / f"{node}/io_links/{link}/properties", type=PCI_EXPRESS, node_from=node, node_to=other,
                  weight=20, min_bandwidth=0, max_bandwidth=0)


def show():
    """For this process and what it starts. The rest of /sys/class stays."""
    mounts.own_mounts()
    before = pathlib.Path("/tmp/class")
    before.mkdir(exist_ok=True)
    mounts.bind(HERE, before)
    mounts.call(mounts.SYSTEM.mount, b"class", str(HERE).encode(), b"tmpfs", 0, None)
    for entry in before.iterdir():
        (HERE / entry.name).mkdir()
        mounts.bind(entry, HERE / entry.name)
    write_nodes(HERE / "kfd/kfd/topology/nodes")
