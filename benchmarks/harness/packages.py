# SPDX-License-Identifier: Apache-2.0
"""Debian packages that a measurement wants, installed on demand."""
import os
import subprocess

_updated = False


def missing(packages):
    def there(package):
        state = subprocess.run(['dpkg-query', '-W', '-f', '${Status}', package], capture_output=True, text=True)
        return 'install ok installed' in state.stdout
    return [package for package in packages if not there(package)]


def install(packages, say):
    """Installs what is missing. Returns '' or why it is still missing."""
    global _updated
    wanted = missing(packages)
    if not wanted:
        return ''
    if os.geteuid() != 0:
        return 'needs packages; as root: apt-get install --no-install-recommends ' + ' '.join(wanted)
    say('installing ' + ' '.join(wanted))
    quiet = dict(os.environ, DEBIAN_FRONTEND='noninteractive')
    try:
        if not _updated:
            subprocess.run(['apt-get', 'update', '-q'], capture_output=True, timeout=300, env=quiet)
            _updated = True
        done = subprocess.run(['apt-get', 'install', '-q', '-y', '--no-install-recommends', *wanted],
                              capture_output=True, text=True, timeout=600, env=quiet)
    except (OSError, subprocess.TimeoutExpired) as error:
        return 'apt-get: %s' % error
    if done.returncode == 0:
        return ''
    return 'apt-get cannot install %s: %s' % (' '.join(wanted), (done.stderr.strip().splitlines() or ['?'])[-1])
