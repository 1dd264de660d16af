# SPDX-License-Identifier: Apache-2.0
"""The provider's interface for ctypes, declared a second time, from TensorFusion's header and its hypervisor, so that a
slip in provider/abi.h shows. Sizes and offsets are those that a compiler gave these two."""
import ctypes as c
import functools

SUCCESS, INVALID_PARAM, NOT_FOUND, NOT_SUPPORTED, RESOURCE_EXHAUSTED, OPERATION_FAILED = range(6)
DEVICES_MAX = 64


def struct(name, *fields):
    return type(name, (c.Structure,), {"_fields_": list(fields)})


Capabilities = struct("Capabilities", *((flag, c.c_bool) for flag in (
    "partitioning", "soft", "hard", "snapshot", "metrics", "remoting")),
    ("partitions_max", c.c_uint32), ("workers_max", c.c_uint32))
Basic = struct("Basic", ("uuid", c.c_char * 64), ("vendor", c.c_char * 32), ("model", c.c_char * 128),
               ("driver", c.c_char * 80), ("firmware", c.c_char * 64), ("node", c.c_char * 64), ("index", c.c_int32),
               ("numa", c.c_int32), ("memory", c.c_uint64), ("units", c.c_uint64), ("tflops", c.c_double),
               ("pcie_generation", c.c_uint32), ("pcie_width", c.c_uint32))
Property = struct("Property", ("key", c.c_char * 64), ("value", c.c_char * 256))
Device = struct("Device", ("basic", Basic), ("properties", Property * 64), ("property_count", c.c_size_t),
                ("capabilities", Capabilities))
Snapshot = struct("Snapshot", ("processes", c.POINTER(c.c_int32)), ("count", c.c_size_t), ("uuid", c.c_char_p))
Metric = struct("Metric", ("key", c.c_char * 64), ("value", c.c_double))
Process = struct("Process", ("pid", c.c_char * 32), ("uuid", c.c_char * 64), ("compute_percent", c.c_double),
                 ("units_active", c.c_uint64), ("units", c.c_uint64), ("memory_used", c.c_uint64),
                 ("memory_reserved", c.c_uint64), ("memory_percent", c.c_double))
Values = struct("Values", ("uuid", c.c_char * 64), ("watts", c.c_double), ("celsius", c.c_double),
                ("received", c.c_uint64), ("sent", c.c_uint64), ("busy", c.c_uint32), ("memory_used", c.c_uint64),
                ("metrics", Metric * 64), ("metric_count", c.c_size_t))
Mount = struct("Mount", ("host", c.c_char * 512), ("guest", c.c_char * 512))
Partition = struct("Partition", ("type", c.c_int32), ("uuid", c.c_char * 64), ("variables", (c.c_char * 256) * 16),
                   ("nodes", (c.c_char * 1026) * 16))
SIZES = {Capabilities: 16, Basic: 472, Property: 320, Device: 20976, Snapshot: 24, Metric: 72, Process: 144,
         Values: 4728, Mount: 1024, Partition: 20580}
# By layout: of a peer, of a device with its peers, and of all.
TOPOLOGY_SIZES = {0: (72, 4688, 300040), 1: (80, 5200, 332808)}


@functools.lru_cache
def topology(layout):
    """The header's (0), or the hypervisor's (1)."""
    peer = struct("Peer", ("uuid", c.c_char * 64), ("index", c.c_int32), ("level", c.c_int32),
                  *([("bandwidth", c.c_int64)] if layout else []))
    device = struct("Neighbours", ("uuid", c.c_char * 64), ("index", c.c_int32), ("numa", c.c_int32),
                    ("peers", peer * DEVICES_MAX), ("peer_count", c.c_size_t))
    whole = struct("Topology", ("devices", device * DEVICES_MAX), ("device_count", c.c_size_t))
    return peer, device, whole


LOG = c.CFUNCTYPE(None, c.c_char_p, c.c_char_p)
SIZE = c.POINTER(c.c_size_t)
TEXT = c.c_char_p


def functions(layout):
    """Names and argument types: all that the library exports."""
    pointer = c.POINTER
    return {
        "AccelInit": [], "AccelShutdown": [], "AccelGetDeviceCount": [SIZE],
        "AccelGetAllDevices": [pointer(Device), c.c_size_t, SIZE],
        "AccelGetAllDevicesTopology": [pointer(topology(layout)[2])],
        "AccelAssignPartition": [TEXT, TEXT, pointer(Partition)], "AccelRemovePartition": [TEXT, TEXT],
        "AccelSetMemHardLimit": [TEXT, c.c_uint64], "AccelSetComputeUnitHardLimit": [TEXT, c.c_uint32],
        "AccelSnapshot": [pointer(Snapshot)], "AccelResume": [pointer(Snapshot)],
        "AccelGetProcessInformation": [pointer(Process), c.c_size_t, SIZE],
        "AccelGetDeviceMetrics": [pointer(TEXT), c.c_size_t, pointer(Values)],
        "AccelGetVendorMountLibs": [pointer(Mount), c.c_size_t, SIZE], "AccelRegisterLogCallback": [LOG]}


class Provider:
    """The library, with its functions by names without "Accel"."""

    def __init__(self, path, layout):
        self.topology_type = topology(layout)[2]
        library = c.CDLL(str(path), mode=c.RTLD_GLOBAL)
        for name, arguments in functions(layout).items():
            function = getattr(library, name)
            function.argtypes, function.restype = arguments, c.c_int
            setattr(self, name.removeprefix("Accel"), function)

    def devices(self):
        listed, count = (Device * DEVICES_MAX)(), c.c_size_t()
        assert self.GetAllDevices(listed, DEVICES_MAX, c.byref(count)) == SUCCESS
        return [listed[index].basic for index in range(count.value)]

    def processes(self):
        """Memory of each, by number."""
        listed, count = (Process * 1024)(), c.c_size_t()
        assert self.GetProcessInformation(listed, 1024, c.byref(count)) == SUCCESS
        return {int(one.pid): one.memory_used for one in listed[:count.value]}


def snapshot(pids=(), uuid=None):
    return Snapshot((c.c_int32 * len(pids))(*pids) if pids else None, len(pids), uuid)
