# SPDX-License-Identifier: Apache-2.0
"""Locks between runs of this tool, on folders that one writes and others read. The kernel lets go of them when a run
ends, however it ends, and nothing is left in the folder."""
import fcntl
import os
import pathlib

from .errors import Impossible

SHARED, EXCLUSIVE = fcntl.LOCK_SH, fcntl.LOCK_EX


class Lock:
    """On the folder (or file) `path`, which is there. Nobody has it yet."""

    def __init__(self, path):
        try:
            self.descriptor = os.open(path, os.O_RDONLY)
        except OSError as error:
            raise Impossible(f'{path}: {error.strerror}') from error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()

    def release(self):
        if self.descriptor is not None:
            os.close(self.descriptor)
        self.descriptor = None

    def try_take(self, kind):
        """False: somebody has it. Also changes the kind, and for a moment it may then be another's."""
        try:
            fcntl.flock(self.descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def take(self, kind, say, what):
        """Says at once whom it waits for: `what` is what they do."""
        if not self.try_take(kind):
            say(f'waiting for {self.holders() or "another run"}: {what}')
            fcntl.flock(self.descriptor, kind)
        return self

    def holders(self):
        """'process 17 (python3 -m rdma_vm), process 18 (...)', as far as this machine tells; '' where it does not."""
        file = os.fstat(self.descriptor)
        place = f'{os.major(file.st_dev):02x}:{os.minor(file.st_dev):02x}:{file.st_ino}'
        try:
            lines = pathlib.Path('/proc/locks').read_text(encoding='ascii').splitlines()
        except OSError:
            return ''
        rows = [line.split() for line in lines]
        pids = {int(row[4]) for row in rows if row[1] == 'FLOCK' and row[5] == place}
        return ', '.join(f'process {pid} ({command_of(pid)})' for pid in sorted(pids - {os.getpid()}) if pid > 0)


def command_of(pid):
    try:
        words = pathlib.Path(f'/proc/{pid}/cmdline').read_bytes().split(b'\0')
    except OSError:
        return 'gone'
    return b' '.join(words).decode(errors='replace').strip()[:80] or 'unknown'
