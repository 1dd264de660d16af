# SPDX-License-Identifier: Apache-2.0
"""How a part of hipcc-cpu gives up."""


class Failed(Exception):
    """The command cannot be done: a line for the user, or nothing when a tool has said why; and the exit status."""

    def __init__(self, said='', code=1):
        super().__init__(said)
        self.said, self.code = said, code
