# SPDX-License-Identifier: Apache-2.0
"""Which class of machine this is: figures, and their ratios, compare within one only."""
from .processes import CORES

FIELDS = ('vendor_id', 'cpu family', 'model', 'model name')


def class_of(cpuinfo, count):
    """For example "2 x GenuineIntel 6/207 (Intel(R) Xeon(R) Processor)"; of /proc/cpuinfo's first processor."""
    found = {}
    for line in cpuinfo.splitlines():
        name, colon, value = line.partition(':')
        if colon:
            found.setdefault(name.strip(), value.strip())
    return '%d x %s %s/%s (%s)' % (count, *(found.get(field, '?') for field in FIELDS))


def machine():
    """The class of this machine, with the processors that the run may use."""
    try:
        with open('/proc/cpuinfo') as file:
            text = file.read()
    except OSError:
        text = ''
    return class_of(text, len(CORES))
