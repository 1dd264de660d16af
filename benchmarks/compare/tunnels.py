# SPDX-License-Identifier: Apache-2.0
"""Ways for tcp to a worker on another host: with keys, and through the tunnels that people use: ssh -L, stunnel."""
import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile

from harness import network, ours
from harness.processes import PINNED, Process, Unavailable, run, wait_until_listening

SSH_RUN = pathlib.Path('/run/sshd')  # sshd of root wants it; its service makes it
SSHD = """Port %(port)d
ListenAddress 127.0.0.1
HostKey %(folder)s/host
AuthorizedKeysFile %(folder)s/user.pub
StrictModes no
UsePAM no
PidFile none
"""
# The fastest that each can do on a processor with AES instructions, and no waiting for more to send.
SSH_CIPHER = 'aes128-gcm@openssh.com'
STUNNEL = """foreground = yes
pid =
debug = err
socket = l:TCP_NODELAY=1
socket = r:TCP_NODELAY=1
ciphersuites = TLS_AES_128_GCM_SHA256
[hip]
client = %(client)s
accept = 127.0.0.1:%(accept)d
connect = 127.0.0.1:%(connect)d
%(more)s
"""


def found(program):
    """Its path; servers lie where users do not look."""
    path = shutil.which(program, path=os.environ.get('PATH', '') + ':/usr/sbin:/sbin')
    if path is None:
        raise Unavailable('no ' + program)
    return path


def command(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise Unavailable('%s: %s' % (words[0], (done.stderr.strip().splitlines() or ['?'])[-1]))
    return done.stdout


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory(prefix='hip-remote-tunnel-') as path:
        yield pathlib.Path(path)


@contextlib.contextmanager
def serving(words, port, placement_cores):
    """A program that listens on `port`, ended with the block."""
    process = Process(words, placement_cores)
    try:
        wait_until_listening(port, process)
        yield process
    finally:
        process.end()


@contextlib.contextmanager
def in_clear(programs, _, placement):
    """A worker without keys on loopback, and the environment of its clients."""
    with ours.Worker(programs, placement) as worker:
        yield ours.hip_environment(programs, 'tcp', worker)


@contextlib.contextmanager
def keyed(programs, level, placement):
    """The same with keys, at a level of TF_SECURITY."""
    with folder() as place:
        remote = programs.path('hip-remote')
        for name in ('worker', 'client'):
            command(remote, 'keygen', place / name)
        shutil.copy(place / 'client.pub', place / 'authorized')
        words = ['--key-file', place / 'worker', '--authorized-keys', place / 'authorized', '--security', level]
        with ours.Worker(programs, placement, words) as worker:
            yield {**ours.hip_environment(programs, 'tcp', worker), 'TF_SECURITY': level,
                   'TF_KEY_FILE': place / 'client', 'TF_KNOWN_WORKERS': place / 'known'}


@contextlib.contextmanager
def through_ssh(programs, _, placement):
    """ssh -L with a private sshd on loopback."""
    sshd, ssh = found('sshd'), found('ssh')
    with folder() as place, ours.Worker(programs, placement) as worker, contextlib.ExitStack() as stack:
        for name in ('host', 'user'):
            command('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', place / name)
        if os.geteuid() == 0 and not SSH_RUN.exists():
            SSH_RUN.mkdir()
            stack.callback(SSH_RUN.rmdir)
        port, entry = network.free_port(), network.free_port()
        (place / 'sshd_config').write_text(SSHD % {'port': port, 'folder': place})
        stack.enter_context(serving([sshd, '-D', '-e', '-f', place / 'sshd_config'], port, placement.server))
        forward = [ssh, '-F', 'none', '-N', '-p', port, '-i', place / 'user', '-c', SSH_CIPHER,
                   '-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null',
                   '-o', 'ExitOnForwardFailure=yes', '-L', '127.0.0.1:%d:127.0.0.1:%d' % (entry, worker.port),
                   '127.0.0.1']
        stack.enter_context(serving(forward, entry, placement.client))
        yield {**ours.hip_environment(programs, 'tcp', worker), 'TF_WORKER_PORT': entry}


@contextlib.contextmanager
def through_stunnel(programs, _, placement):
    """A pair of stunnel processes, TLS 1.3 between them."""
    stunnel = found('stunnel')
    with folder() as place, ours.Worker(programs, placement) as worker, contextlib.ExitStack() as stack:
        command('openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', '-days', '2',
                '-keyout', place / 'key.pem', '-out', place / 'cert.pem')
        port, entry = network.free_port(), network.free_port()
        ends = (('server', {'client': 'no', 'accept': port, 'connect': worker.port,
                            'more': 'cert = %s/cert.pem\nkey = %s/key.pem' % (place, place)}, placement.server),
                ('client', {'client': 'yes', 'accept': entry, 'connect': port, 'more': ''}, placement.client))
        for name, words, cores in ends:
            (place / name).write_text(STUNNEL % words)
            stack.enter_context(serving([stunnel, place / name], words['accept'], cores))
        yield {**ours.hip_environment(programs, 'tcp', worker), 'TF_WORKER_PORT': entry}


def aead_gb_per_s():
    """What one core encrypts, by OpenSSL's own measure, in pieces as large as our records."""
    flags = open('/proc/cpuinfo', encoding='utf-8').read().split('flags', 1)[-1].split('\n')[0].split()
    cipher = 'aes-128-gcm' if {'aes', 'pclmulqdq'} <= set(flags) else 'chacha20-poly1305'
    text, _ = run([found('openssl'), 'speed', '-mr', '-elapsed', '-seconds', '1', '-bytes', str(64 << 10), '-evp',
                   cipher], PINNED.client)
    rates = [line.split(':')[-1] for line in text.splitlines() if line.startswith('+F:')]
    if not rates:
        raise Unavailable('openssl speed printed no figure')
    return float(rates[0]) / 1e9
