# SPDX-License-Identifier: Apache-2.0
"""What ends a run early, and the exit codes that users and CI see."""
FAILED, USAGE, IMPOSSIBLE, NO_RESULT = 1, 2, 3, 99


class Impossible(Exception):
    """The machine cannot be made here (packages, network, disk space); the message says what is missing."""


class NoResult(Exception):
    """The guest ended without a result: it hung, panicked or met the limit."""
