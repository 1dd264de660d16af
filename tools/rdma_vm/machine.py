# SPDX-License-Identifier: Apache-2.0
"""One virtual machine: started with a script, watched with a deadline, ended by its process id."""
import contextlib
import ctypes
import os
import pathlib
import select
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

from . import image, locks
from .errors import Impossible, NoResult

QEMU = 'qemu-system-x86_64'
# Everything that AVX2 code may ask for, but no fast string moves: the emulator carries those out byte by byte, and the
# kernel's memcpy is twice as fast without. There is no AVX-512, so binaries of -march=native do not run.
EMULATED_CPU = 'max,erms=off'
TRANSLATED_CODE_MIB = 256
TICK_S = 0.5
END_LIMIT_S = 5
# Folders of machines: of one that runs (or was killed), and of one whose user wants to see it afterwards.
SHARE_PREFIX, KEPT_PREFIX = 'run.', 'kept.'
PR_SET_PDEATHSIG = 1


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def clear(folder, say):
    """Removes what machines left in `folder` whose run was killed."""
    with locks.Lock(folder) as making:
        making.take(locks.EXCLUSIVE, say, f'it makes a machine in {folder}')
        for share in folder.glob(SHARE_PREFIX + '*'):
            with contextlib.suppress(Impossible), locks.Lock(share) as lock:  # somebody else's
                if lock.try_take(locks.EXCLUSIVE):
                    shutil.rmtree(share, ignore_errors=True)


def shell_value(value):
    """As a word of bash, or as an array of words."""
    return f'({shlex.join(value)})' if isinstance(value, tuple) else shlex.quote(str(value))


class Machine:
    """`script` runs in the guest as root; what it writes under /run/vm/out is found in `out` afterwards.

    `network` is 'pair' (two devices on one wire in the machine), 'near' or 'far' (one device; `wire` is the Unix
    socket between two machines, which the near one listens on). `settings` are variables of /run/vm/config. Its folder
    is in `folder`, and is there until remove().
    """

    def __init__(self, folder, options, script, network='pair', wire=None, settings=None):
        self.options, self.network, self.wire = options, network, wire
        self.process, self.line, self.started, self.seconds, self.peak_mib = None, b'', 0.0, 0.0, 0
        with image.told('the machine'), locks.Lock(folder) as making:
            making.take(locks.EXCLUSIVE, lambda _: None, '')  # others only look through it for a moment
            prefix = KEPT_PREFIX if options.keep else SHARE_PREFIX
            self.share = pathlib.Path(tempfile.mkdtemp(dir=folder, prefix=prefix))
            self.out = self.share / 'out'
            self.lock = locks.Lock(self.share)
            self.lock.try_take(locks.EXCLUSIVE)
        try:
            with image.told('the machine'):
                self.fill(script, dict(settings or {}, NETWORK=network))
        except BaseException:
            self.remove()
            raise

    def fill(self, script, settings):
        shutil.copytree(image.GUEST, self.share / 'guest')
        shutil.copy(script, self.share / 'script.sh')
        lines = [f'{name}={shell_value(value)}\n' for name, value in settings.items()]
        (self.share / 'config').write_text(''.join(lines))

    def command(self, kernel, initramfs):
        options = self.options
        accelerator = ['-accel', 'kvm', '-cpu', 'host'] if options.accel == 'kvm' else [
            '-accel', f'tcg,thread=multi,tb-size={TRANSLATED_CODE_MIB}', '-cpu', EMULATED_CPU]
        words = [QEMU, '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot', '-machine', 'q35',
                 *accelerator, '-smp', str(options.cpus), '-m', str(options.memory),
                 '-kernel', str(kernel), '-initrd', str(initramfs),
                 '-append', 'console=ttyS0 quiet panic=-1 mitigations=off nokaslr tsc=reliable',
                 '-serial', f'file:{self.share}/kernel.log', '-serial', 'stdio']
        for tag, path, more in (('host', '/', ',readonly=on,multidevs=remap'), ('share', self.share, '')):
            words += ['-fsdev', f'local,id={tag},path={path},security_model=none{more}',
                      '-device', f'virtio-9p-pci,fsdev={tag},mount_tag={tag}']
        if self.wire is None:
            return words + ['-nic', 'none']
        server, number = ('on', 1) if self.network == 'near' else ('off', 2)
        return words + ['-netdev', f'stream,id=wire,addr.type=unix,addr.path={self.wire},server={server}',
                        '-device', f'virtio-net-pci,netdev=wire,mac=52:54:00:09:00:0{number}']

    def start(self, folder):
        """Starts the machine with the image in `folder`."""
        initramfs = self.share / 'initramfs'
        image.initramfs(folder, initramfs)
        try:
            self.process = subprocess.Popen(self.command(folder / 'vmlinux', initramfs), preexec_fn=die_with_parent,
                                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except FileNotFoundError:
            raise Impossible(f'there is no {QEMU}: install qemu-system-x86') from None
        self.started = time.monotonic()

    def lines(self):
        """What the script and qemu have written since, a whole line at a time; None: nothing within a tick."""
        descriptor = self.process.stdout.fileno()
        deadline = self.started + self.options.limit
        while True:
            if time.monotonic() > deadline:
                raise NoResult(f'no end within {self.options.limit:.0f} s (--limit)')
            self.note_memory()
            if not select.select([descriptor], [], [], TICK_S)[0]:
                yield None
                continue
            got = os.read(descriptor, 65536)
            *whole, self.line = (self.line + got).split(b'\n')
            if not got and self.line:
                whole, self.line = whole + [self.line], b''
            for line in whole:
                yield line.decode(errors='replace').rstrip('\r')
            if not got:
                return

    def note_memory(self):
        try:
            status = pathlib.Path(f'/proc/{self.process.pid}/status').read_text(encoding='ascii')
            peak = next(line for line in status.splitlines() if line.startswith('VmHWM'))
            self.peak_mib = max(self.peak_mib, int(peak.split()[1]) >> 10)
        except (OSError, StopIteration, ValueError):
            pass

    def status(self):
        """The script's exit status, once the machine has ended."""
        try:
            return int((self.share / 'status').read_text())
        except (OSError, ValueError):
            raise NoResult('the machine ended before the script did') from None

    def booted_s(self):
        try:
            return float((self.share / 'up').read_text())
        except (OSError, ValueError):
            return None

    def kernel_says(self, count=40):
        """The end of the kernel's own output."""
        try:
            return (self.share / 'kernel.log').read_text(errors='replace').splitlines()[-count:]
        except OSError:
            return []

    def end(self):
        """Makes sure that qemu is gone; the folder stays."""
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(END_LIMIT_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        self.seconds = time.monotonic() - self.started

    def remove(self):
        """Unless it is to be kept."""
        if not self.options.keep:
            shutil.rmtree(self.share, ignore_errors=True)
        self.lock.release()
