#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts hip-worker as a service manager does that has bound sockets for it (sd_listen_fds(3)): with the descriptors
of HANDED (numbers with commas between them) from 3 on, and LISTEN_PID, unless that is set already."""
import fcntl
import os
import sys

FIRST = 3
OUT_OF_THE_WAY = 100


def main():
    handed = [fcntl.fcntl(int(number), fcntl.F_DUPFD, OUT_OF_THE_WAY) for number in os.environ.pop("HANDED").split(",")]
    for place, descriptor in enumerate(handed, FIRST):
        os.dup2(descriptor, place)
        os.close(descriptor)
    os.environ.setdefault("LISTEN_PID", str(os.getpid()))
    os.environ.setdefault("LISTEN_FDS", str(len(handed)))
    os.execv(os.path.join(os.environ["TF_BUILD_DIR"], "bin", "hip-worker"), sys.argv)


if __name__ == "__main__":
    main()
