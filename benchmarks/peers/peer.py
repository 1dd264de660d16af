# SPDX-License-Identifier: Apache-2.0
"""What every peer can do: say what it needs, get ready, measure one thing."""
import subprocess

from harness.processes import Unavailable

MIB = 1 << 20
ROUND_TRIP, ONE_WAY, BULK = 'round_trip', 'one_way', 'bulk'
TASKS = ((ROUND_TRIP, 64), (ONE_WAY, 64), (BULK, MIB), (BULK, 64 * MIB))
UNITS = {ROUND_TRIP: 'ns', ONE_WAY: '1/s', BULK: 'GB/s'}


def lower_is_better(metric):
    return metric == ROUND_TRIP


class Figure:
    """`value` in the metric's unit; processor seconds of both ends for `operations` messages or payloads, start-up
    included; `how` names the peer's test."""

    def __init__(self, value, operations, cpu_seconds, how):
        self.value, self.operations, self.cpu_seconds, self.how = value, operations, cpu_seconds, how


class Peer:
    name = ''
    packages = ()
    transports = ()  # of ours, that this peer is to be compared with
    note = ''        # what a reader must know about its method

    def prepare(self, directory):
        """Compiles what must be compiled into `directory`; raises Unavailable."""

    def measure(self, transport, metric, size, placement, share=1.0):
        """One Figure; raises Unavailable with the reason. `share` scales the repetitions."""
        raise NotImplementedError

    def version(self):
        return ''


# Repetitions that take roughly half a second on a machine of our class.
def repetitions(transport, metric, size, share):
    fast = transport == 'shm'
    if metric == ROUND_TRIP:
        count = 400_000 if fast else 40_000
    elif metric == ONE_WAY:
        count = 3_000_000 if fast else 200_000
    else:
        count = (3 if fast else 1.5) * 1024 * MIB / size
    return max(4, int(count * share))


def compile_helper(command, source, libraries=()):
    done = subprocess.run([*command, str(source), *libraries], capture_output=True, text=True)
    if done.returncode != 0:
        raise Unavailable('%s does not compile: %s' % (source.name, (done.stderr.strip().splitlines() or ['?'])[0]))


def field(text, key):
    """The number after "KEY " at the start of a line, as our helper programs print it."""
    for line in text.splitlines():
        words = line.split()
        if len(words) == 2 and words[0] == key:
            return float(words[1])
    raise Unavailable('the helper printed no ' + key)
