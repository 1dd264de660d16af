# SPDX-License-Identifier: Apache-2.0
"""A machine shared with others: each step of a run holds a lock file, so that nobody else works meanwhile."""
import contextlib
import fcntl
import time

_path = None
waited_s = 0.0  # for others, so far


def use(path):
    global _path
    _path = path


@contextlib.contextmanager
def step():
    """Holds the lock (as flock(1) -x does) where there is one; several short holds let others in between."""
    global waited_s
    if not _path:
        yield
        return
    with open(_path, 'a') as file:
        started = time.monotonic()
        fcntl.flock(file, fcntl.LOCK_EX)
        waited_s += time.monotonic() - started
        yield
