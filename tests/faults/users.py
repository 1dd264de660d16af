# SPDX-License-Identifier: Apache-2.0
"""Another user: a child of the test that has become one, which takes root."""
import os
import signal
import unittest

OTHER = 65534  # whose number is that of its primary group, too
needs_root = unittest.skipUnless(os.geteuid() == 0,
                                 "only root can become another user: run the tests as root for this one")


class Another:
    """A child that has become another user, and does `work(answer)`; `answer` takes bytes for `said`."""

    def __init__(self, work, user=OTHER, group=OTHER, groups=()):
        self.read_end, write_end = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                os.setgroups(list(groups))
                os.setgid(group)
                os.setuid(user)
                work(lambda text: os.write(write_end, text))
                code = 0
            except Exception as error:  # pylint: disable=broad-except
                os.write(write_end, repr(error).encode())
            finally:
                os._exit(code)
        os.close(write_end)

    def said(self):
        text = b""
        while got := os.read(self.read_end, 65536):
            text += got
        os.close(self.read_end)
        os.waitpid(self.pid, 0)
        return text

    def says(self):
        """Its next answer."""
        return os.read(self.read_end, 65536)

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        return self.said()
