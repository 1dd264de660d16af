# SPDX-License-Identifier: Apache-2.0
"""Folders and files that a program, and what it starts, sees elsewhere than they are. Needs root."""
import ctypes
import os
import sys

MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000  # mount(2)
CLONE_NEWNS = 0x20000                                  # unshare(2)
SYSTEM = ctypes.CDLL(None, use_errno=True)


def call(function, *words):
    if function(*words) != 0:
        sys.exit(f"{function.__name__}: {os.strerror(ctypes.get_errno())}")


def own_mounts():
    """What is mounted from now on, only this process and its children see."""
    call(SYSTEM.unshare, CLONE_NEWNS)
    call(SYSTEM.mount, b"none", b"/", None, MS_REC | MS_PRIVATE, None)


def bind(there, here):
    """`here` becomes what `there` is."""
    call(SYSTEM.mount, str(there).encode(), str(here).encode(), None, MS_BIND | MS_REC, None)
