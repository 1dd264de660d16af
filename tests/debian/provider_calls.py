# SPDX-License-Identifier: Apache-2.0
"""Calls the installed TensorFusion provider. bare_root.py runs it inside of the root, beside tests/provider/abi.py.

provider_calls.py FOLDER-OF-THE-LIBRARIES

Without AMD GPUs: at first as they come, where nothing may be claimed, then with the CPU runtime's devices.
"""
import ctypes
import os
import sys
import tempfile

import abi

NAME = "simulated-root"
MIB = 1 << 20


def expect(what, got, wanted):
    if got != wanted:
        raise SystemExit(f"FAILED: {what}: {got}, not {wanted}")


def use(provider, layout):
    """All that needs no session."""
    count = ctypes.c_size_t(99)
    expect("AccelInit", provider.Init(), abi.SUCCESS)
    expect("AccelGetDeviceCount", (provider.GetDeviceCount(ctypes.byref(count)), count.value), (abi.SUCCESS, 1))
    expect("AccelGetDeviceCount of nothing", provider.GetDeviceCount(None), abi.INVALID_PARAM)
    device, = provider.devices()
    expect("its UUID", device.uuid, f"{NAME}-0".encode())
    if b"Simulated" not in device.model or device.memory == 0:
        raise SystemExit(f"FAILED: the device is {device.model}, {device.memory} bytes")
    topology = provider.topology_type()
    expect("AccelGetAllDevicesTopology", (provider.GetAllDevicesTopology(topology), topology.device_count),
           (abi.SUCCESS, 1))
    values = abi.Values()
    expect("AccelGetDeviceMetrics", provider.GetDeviceMetrics((abi.TEXT * 1)(device.uuid), 1, values), abi.SUCCESS)
    expect("whose values", values.uuid, device.uuid)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TF_DEVICE_LIMITS"] = folder + "/limits"
        expect("AccelSetMemHardLimit", provider.SetMemHardLimit(device.uuid, 64 * MIB), abi.SUCCESS)
        expect("of an unknown device", provider.SetMemHardLimit(b"nobody-0", 64 * MIB), abi.NOT_FOUND)
        with open(folder + "/limits", encoding="ascii") as file:
            line, = file.read().splitlines()  # workers know the device by another UUID
            expect("the file", line.split()[1], f"memory={64 * MIB}")
        del os.environ["TF_DEVICE_LIMITS"]
    expect("AccelSetComputeUnitHardLimit", provider.SetComputeUnitHardLimit(device.uuid, 50), abi.NOT_SUPPORTED)
    partition = abi.Partition()
    expect("AccelAssignPartition", provider.AssignPartition(b"4g.1gb", device.uuid, partition), abi.SUCCESS)
    expect("AccelRemovePartition", provider.RemovePartition(partition.uuid, device.uuid), abi.SUCCESS)
    expect("AccelSnapshot of a stranger", provider.Snapshot(abi.snapshot((os.getpid(),))), abi.NOT_FOUND)
    expect("AccelShutdown", provider.Shutdown(), abi.SUCCESS)
    print(f"layout {layout}: {device.model.decode()}, {device.memory // MIB} MiB")


def main():
    folder = sys.argv[1]
    for layout, path in enumerate((folder, folder + "/tensor-fusion-hypervisor")):
        provider = abi.Provider(path + "/libaccelerator_amd.so", layout)
        os.environ.pop("TF_PROVIDER_SIMULATED", None)
        count = ctypes.c_size_t(99)
        got = provider.Init(), provider.GetDeviceCount(ctypes.byref(count))
        print(f"layout {layout}, without GPUs: AccelInit {got[0]}, AccelGetDeviceCount {got[1]}")
        if got[1] == abi.SUCCESS and count.value != 0:
            raise SystemExit("FAILED: devices, where there are none")
        provider.Shutdown()
        os.environ.update({"TF_PROVIDER_SIMULATED": NAME, "HIP_CPU_DEVICES": "1"})
        use(provider, layout)
    print("PASSED")


if __name__ == "__main__":
    main()
