# SPDX-License-Identifier: Apache-2.0
"""Debian packages: those installed on this host, and the kernel's, which is fetched but never installed."""
import os
import shutil
import subprocess

from .errors import Impossible

MACHINE = ('qemu-system-x86', 'busybox-static', 'iproute2', 'ibverbs-providers')
TOOLS = ('ibverbs-utils', 'perftest', 'ucx-utils')
KERNEL = 'linux-image-amd64'  # not the cloud flavour: that has neither soft-RoCE nor 9p
APT_LIMIT_S = 600


def apt(words, what, **more):
    """Runs apt-get; its last lines are the reason when it fails."""
    environment = dict(os.environ, DEBIAN_FRONTEND='noninteractive')
    try:
        done = subprocess.run(['apt-get', '-q', *words], env=environment, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=APT_LIMIT_S, **more)
    except FileNotFoundError:
        raise Impossible('there is no apt-get here: this tool makes its machine from Debian packages') from None
    except subprocess.TimeoutExpired:
        raise Impossible(f'{what}: no end within {APT_LIMIT_S} s') from None
    if done.returncode != 0:
        raise Impossible(f'{what} failed:\n' + '\n'.join('  ' + line for line in done.stdout.splitlines()[-4:]))


def is_installed(package):
    done = subprocess.run(['dpkg-query', '-W', '-f', '${Status}', package], capture_output=True, text=True)
    return done.returncode == 0 and 'install ok installed' in done.stdout


def require(wanted, say):
    """Installs what is missing of `wanted`, where that is possible and not forbidden."""
    if shutil.which('dpkg-query') is None:
        raise Impossible('there is no dpkg here: this tool makes its machine from Debian packages')
    missing = [package for package in wanted if not is_installed(package)]
    if not missing:
        return
    command = 'apt-get install --no-install-recommends ' + ' '.join(missing)
    if os.geteuid() != 0 or os.environ.get('TF_SKIP_SETUP'):
        why = 'TF_SKIP_SETUP is set' if os.geteuid() == 0 else 'only root can install them'
        raise Impossible(f'missing packages, and {why}; as root: {command}')
    say('installing ' + ' '.join(missing))
    apt(['update'], 'apt-get update')
    apt(['install', '-y', '--no-install-recommends', *missing], command)


def kernel_package():
    """The package that linux-image-amd64 stands for today, or '' where the package lists do not know."""
    try:
        done = subprocess.run(['apt-cache', 'depends', KERNEL], capture_output=True, text=True, timeout=60)
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return ''
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) == 2 and words[0] == 'Depends:' and words[1].startswith('linux-image-'):
            return words[1]
    return ''


def fetch_kernel(folder, say):
    """(name, path) of the kernel package, downloaded into `folder`. Old package lists are brought up to date once."""
    updated = False
    while True:
        name = kernel_package()
        try:
            if not name:
                raise Impossible(f'the package lists have no {KERNEL}: as root, apt-get update')
            say(f'fetching {name} (about 70 MB; unpacked, not installed)')
            apt(['download', name], f'apt-get download {name}', cwd=folder)
            return name, next(folder.glob('*.deb'))
        except Impossible:
            if updated or os.geteuid() != 0:
                raise
        say('apt-get update')
        apt(['update'], 'apt-get update')
        updated = True
