#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the worker's and the client's Debian packages in a Debian 12 root with systemd, boots it in a container, and
uses the worker as its unit and its socket have it.

tests/debian/boot.py PACKAGES PROGRAM [--base TAR] [--prepared FOLDER]

As root. PACKAGES is the folder that tools/package has filled, PROGRAM a HIP program that prints PASSED (saxpy of the
examples). --base: a root that `mmdebstrap --variant=minbase --include=systemd,systemd-sysv,dbus bookworm TAR` has made;
without it, this script does that. --prepared: a root in which the packages are installed already; it is changed. Not
part of the suite: it takes systemd-nspawn, minutes and a mirror.

What has to hold: both units are active after the boot; a member of the group render is served, others are not; a
program that comes while the service is stopped starts it; connections made while it restarts are served; the unit's
exposure, as systemd-analyze counts it, is under 3.
"""
import argparse
import glob
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time

BOOT_MAX_S = 240
EXPOSURE_MAX = 3.0
UNIT = """[Unit]
After=hip-worker.service hip-worker.socket systemd-user-sessions.service
[Service]
Type=oneshot
StandardOutput=file:/check.log
StandardError=file:/check.log
ExecStart=/bin/sh /check.sh
"""
SCRIPT = r"""
as() { user=$1; shift; setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups "$@"; }
use() { as "$1" hip-remote run --worker unix:/run/hip-worker/socket --transport shm -- /opt/program; }
echo "units: $(systemctl is-active hip-worker.socket hip-worker.service | tr '\n' ' ')"
ls -l /run/hip-worker/socket
use alice && echo 'member: served'
use mallory >/tmp/refused 2>&1 && echo 'stranger: SERVED' || echo 'stranger: refused'
systemctl stop hip-worker.service 2>&1
echo "stopped: $(systemctl is-active hip-worker.socket hip-worker.service | tr '\n' ' ')"
use alice && echo "activated: $(systemctl is-active hip-worker.service)"
systemctl --no-block restart hip-worker.service
use alice && echo 'during a restart: served'
systemctl reload hip-worker.service && echo "reloaded: $(systemctl is-active hip-worker.service)"
systemd-analyze security --no-pager hip-worker.service | tail -n 1
journalctl --no-pager --boot -o cat -u hip-worker.service | head -n 40
echo END
systemctl --no-block poweroff
"""
WANTED = ("units: active active", "member: served", "stranger: refused", "stopped: active inactive",
          "activated: active", "during a restart: served", "reloaded: active")


def run(*command, **how):
    return subprocess.run(command, check=True, text=True, **how)


def make_devices(root):
    """Those that apt and its checks of signatures open; the container gets a /dev of its own."""
    for name, number in (("null", 3), ("zero", 5), ("random", 8), ("urandom", 9)):
        path = os.path.join(root, "dev", name)
        if not os.path.exists(path):
            os.mknod(path, stat.S_IFCHR, os.makedev(1, number))
        os.chmod(path, 0o666)


def install(root, packages):
    make_devices(root)
    run("mount", "-t", "proc", "proc", root + "/proc")
    try:
        for name in packages:
            shutil.copy(name, root + "/tmp")
        inside = ["chroot", root, "env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8"]
        shutil.copy("/etc/resolv.conf", root + "/etc/resolv.conf")
        run(*inside, "apt-get", "update", "-q", stdout=subprocess.DEVNULL)
        run(*inside, "apt-get", "install", "-q", "-y", "--no-install-recommends", "libssl3",
            *("/tmp/" + os.path.basename(name) for name in packages), stdout=subprocess.DEVNULL)
    finally:
        run("umount", root + "/proc")


def prepare(root, program):
    """Users, the program, and a unit that writes what it sees to /check.log."""
    run("chroot", root, "systemd-sysusers")
    for user, groups in (("alice", ["-G", "render"]), ("mallory", [])):
        subprocess.run(["chroot", root, "useradd", "-M", *groups, user], check=False, stderr=subprocess.DEVNULL)
    shutil.copy(program, root + "/opt/program")
    for name, text in (("check.sh", SCRIPT), ("etc/systemd/system/check.service", UNIT)):
        with open(os.path.join(root, name), "w", encoding="ascii") as file:
            file.write(text)
    wants = root + "/etc/systemd/system/multi-user.target.wants"
    os.makedirs(wants, exist_ok=True)
    if not os.path.lexists(wants + "/check.service"):
        os.symlink("../check.service", wants + "/check.service")


def boot(root):
    """What the unit has written."""
    log = root + "/check.log"
    if os.path.exists(log):
        os.unlink(log)
    started = time.monotonic()
    with tempfile.TemporaryFile("w+") as console, \
            subprocess.Popen(["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--console=pipe", "-D", root,
                              "--boot"], stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT,
                             start_new_session=True) as container:
        text = ""
        while time.monotonic() < started + BOOT_MAX_S and not text.endswith("END\n") and container.poll() is None:
            time.sleep(0.2)
            if os.path.exists(log):
                with open(log, encoding="utf-8") as file:
                    text = file.read()
        try:
            container.wait(30)
        except subprocess.TimeoutExpired:
            container.terminate()  # of systemd-nspawn: it ends the container
            container.wait(30)
        console.seek(0)
        told = console.read()
    if not text.endswith("END\n"):
        raise SystemExit(f"FAILED: the container did not come to its end\n{told[-4000:]}\n{text}")
    print(f"  booted, and all was tried: {time.monotonic() - started:.1f} s")
    return text


def judge(text):
    for wanted in WANTED:
        if not re.search(rf"(?m)^{wanted} *$", text):
            raise SystemExit(f"FAILED: not found: {wanted}\n{text}")
    exposure = re.search(r"Overall exposure level for hip-worker.service: ([\d.]+)", text)
    if exposure is None or float(exposure.group(1)) >= EXPOSURE_MAX:
        raise SystemExit(f"FAILED: exposure\n{text}")
    print(f"  {'; '.join(WANTED)}; exposure {exposure.group(1)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("packages", help="folder with hip-remote-*.deb")
    parser.add_argument("program", help="a HIP program that prints PASSED")
    parser.add_argument("--base", help="tar of a root with systemd")
    parser.add_argument("--prepared", help="a root with the packages")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hip-boot-") as folder:
        root = options.prepared
        if root is None:
            base, root = options.base, os.path.join(folder, "root")
            if base is None:
                base = os.path.join(folder, "base.tar")
                sources = glob.glob("/etc/apt/sources.list.d/debian.sources") + glob.glob("/etc/apt/sources.list")
                run("mmdebstrap", "--quiet", "--variant=minbase", "--include=systemd,systemd-sysv,dbus", "bookworm",
                    base, *sources[:1])
            os.mkdir(root)
            run("tar", "-xf", base, "-C", root, "--exclude=./dev/*")
            install(root, [name for kind in ("client", "worker")
                           for name in glob.glob(os.path.join(options.packages, f"hip-remote-{kind}_*.deb"))])
        prepare(root, options.program)
        judge(boot(root))
    print("PASSED")


if __name__ == "__main__":
    sys.exit(main())
