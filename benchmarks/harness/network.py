# SPDX-License-Identifier: Apache-2.0
"""A network of our own: nothing but a loopback, so that servers which listen everywhere listen to nobody else."""
import ctypes
import fcntl
import os
import socket
import struct

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1


def enter_private_network():
    """Moves this process (and all it starts) into a new network namespace. Returns '' or why that failed.
    Packages must be there by then: nothing outside can be reached any more."""
    libc = ctypes.CDLL(None, use_errno=True)
    flags = CLONE_NEWNET if os.geteuid() == 0 else CLONE_NEWNET | CLONE_NEWUSER
    if libc.unshare(flags) != 0:
        return 'no network namespace: %s' % os.strerror(ctypes.get_errno())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack('16sh14x', b'lo', 0)
        current = struct.unpack('16sh14x', fcntl.ioctl(control, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack('16sh14x', b'lo', current | IFF_UP))
    return ''


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]
