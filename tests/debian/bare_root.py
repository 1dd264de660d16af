#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the Debian packages in a bare Debian 12 root, runs a HIP program there remotely, and removes them again.

tests/debian/bare_root.py PACKAGES PROGRAM [--base TAR]

As root. PACKAGES is the folder that tools/package has filled, PROGRAM a HIP program built elsewhere (saxpy of the
examples). --base: a root that `mmdebstrap --variant=minbase bookworm TAR` has made; without it, this script does that,
with apt's sources of this machine. It is not part of the suite: it takes minutes, and a mirror.

What has to hold: no file is also in a package of AMD's in Debian; the root has no compiler; the program passes in one
command, within 20 seconds after the installation; the worker of another user serves it, too; after `apt-get purge` no
file is left that was not there before.
"""
import argparse
import glob
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

FIRST_RUN_MAX_S = 20
COMPILERS = ("cc", "gcc", "g++", "c++", "clang", "clang++", "clang-14", "ld", "as")
# Packages of Debian with AMD's libraries and programs of the same names.
VENDORS = ("libamdhip64-5", "libamdhip64-dev", "librocm-smi64-1", "librocm-smi-dev", "rocm-smi", "hipcc")
# Kept by apt and dpkg about themselves, whatever is installed.
OWN_STATE = ("./var/lib/dpkg/", "./var/lib/apt/", "./var/cache/apt/", "./var/cache/debconf/", "./var/log/",
             "./var/cache/ldconfig/", "./etc/ld.so.cache", "./run/", "./tmp/", "./proc/", "./dev/", "./sys/")


def run(*command, **how):
    return subprocess.run(command, check=True, text=True, **how)


class Root:
    """A Debian root, mounted for programs. Its mounts end with this process's mount namespace."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("proc", "dev", "sys"):
            os.makedirs(self.path(name), exist_ok=True)
            run("mount", "--rbind", "/" + name, self.path(name))
        run("mount", "-t", "tmpfs", "tmpfs", self.path("tmp"), "-o", "mode=1777")
        # As docker's images do: nothing is started while packages are installed.
        with open(self.path("usr/sbin/policy-rc.d"), "w", encoding="ascii") as file:
            file.write("#!/bin/sh\nexit 101\n")
        os.chmod(self.path("usr/sbin/policy-rc.d"), 0o755)
        for name in ("resolv.conf", "hosts"):
            if os.path.exists("/etc/" + name):
                shutil.copy("/etc/" + name, self.path("etc", name))

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def run(self, *command, check=True, limit_s=600, **how):
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/root",
                       "DEBIAN_FRONTEND": "noninteractive"}
        return subprocess.run(["chroot", self.folder, *command], check=check, text=True, timeout=limit_s,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, **how)

    def files(self):
        """Everything that is there, but what apt and dpkg keep of themselves; a package's scripts and lists count."""
        found = set()
        for top, folders, names in os.walk(self.folder):
            short = "./" + os.path.relpath(top, self.folder)
            if any((short + "/").startswith(prefix) for prefix in OWN_STATE):
                folders.clear()
                continue
            found.update(os.path.join(short, name) for name in folders + names)
        info = self.path("var/lib/dpkg/info")
        found.update("dpkg/" + name for name in os.listdir(info))
        return {name.replace("././", "./") for name in found
                if not any(name.replace("././", "./").startswith(prefix) for prefix in OWN_STATE)}

    def accounts(self):
        texts = []
        for name in ("passwd", "group"):
            with open(self.path("etc", name), encoding="utf-8") as file:
                texts.append(file.read())
        return texts


def files_of(package):
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as unpacking:
        with tarfile.open(fileobj=unpacking.stdout, mode="r|") as archive:
            return {member.name for member in archive if not member.isdir()}


def expect_no_conflict(packages):
    ours = set().union(*map(files_of, packages))
    with tempfile.TemporaryDirectory(prefix="hip-vendors-") as folder:
        for vendor in VENDORS:
            got = subprocess.run(["apt-get", "download", "-q", vendor], cwd=folder, check=False,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
            print(f"  {vendor}: {'compared' if got.returncode == 0 else 'cannot be had here, not compared'}")
        theirs = set().union(*map(files_of, glob.glob(folder + "/*.deb")))
    if ours & theirs:
        raise SystemExit(f"FAILED: files that packages of AMD's have, too: {sorted(ours & theirs)}")


def expect_passed(what, done, started, limit_s=None):
    taken = time.monotonic() - started
    if done.returncode != 0 or "PASSED" not in done.stdout:
        raise SystemExit(f"FAILED: {what}: exit {done.returncode}\n{done.stdout}")
    if limit_s is not None and taken > limit_s:
        raise SystemExit(f"FAILED: {what}: {taken:.1f} s, more than {limit_s}")
    print(f"  {what}: {taken:.2f} s")


def run_programs(root):
    started = time.monotonic()
    expect_passed("one command, hip-remote run --local", root.run("hip-remote", "run", "--local", "--", "/opt/program",
                                                                  check=False), started, FIRST_RUN_MAX_S)
    command = "hip-worker --socket /tmp/socket --allow-uid 65534 & worker=$!; trap 'kill $worker; wait' EXIT; " \
              "while [ ! -S /tmp/socket ]; do sleep 0.05; done; setpriv --reuid 65534 --regid 65534 --clear-groups " \
              "hip-remote run --worker unix:/tmp/socket -- /opt/program"
    started = time.monotonic()
    expect_passed("a worker of another user, over shm", root.run("sh", "-c", command, check=False), started)
    keyed = "cd /tmp && hip-remote keygen w 2>&1 && hip-remote keygen --name c c > authorized && " \
            "hip-worker --port 18599 --key-file w --authorized-keys authorized & worker=$!; cd /tmp; " \
            "trap 'kill $worker; wait' EXIT; sleep 2; TF_KEY_FILE=/tmp/c TF_KNOWN_WORKERS=/tmp/known " \
            "hip-remote run --worker 127.0.0.1:18599 --transport tcp -- /opt/program"
    started = time.monotonic()
    expect_passed("a worker with keys, over tcp", root.run("sh", "-c", keyed, check=False), started)


def check(root, packages, program):
    found = [name for name in COMPILERS if root.run("sh", "-c", f"command -v {name}", check=False).returncode == 0]
    if found:
        raise SystemExit(f"FAILED: the root is not bare: {found}")
    shutil.copy(program, root.path("opt/program"))
    root.run("apt-get", "update", "-q")
    before, accounts = root.files(), root.accounts()
    for package in packages:
        shutil.copy(package, root.path("tmp"))
    started = time.monotonic()
    names = ["/tmp/" + os.path.basename(package) for package in packages]
    root.run("apt-get", "install", "-q", "-y", "--no-install-recommends", *names, "libssl3")
    print(f"  installed in {time.monotonic() - started:.1f} s")
    run_programs(root)
    plain = [os.path.basename(name).split("_")[0] for name in names]
    for name in plain:
        print(f"  {name}: " + root.run("dpkg-query", "-W", "-f", "${Version}, ${Installed-Size} KiB", name).stdout)
    root.run("apt-get", "purge", "-q", "-y", "--auto-remove", *plain, "libssl3")
    root.run("apt-get", "clean")
    left, gone = sorted(root.files() - before), sorted(before - root.files())
    if left or gone or root.accounts() != accounts:
        raise SystemExit(f"FAILED: left after purge: {left[:40]}; gone: {gone[:40]}; "
                         f"accounts changed: {root.accounts() != accounts}")
    print(f"  purged: no trace among {len(before)} files and folders")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("packages", help="folder with hip-remote-*.deb")
    parser.add_argument("program", help="a HIP program that prints PASSED")
    parser.add_argument("--base", help="tar of a bare root")
    options = parser.parse_args()
    if "TF_OWN_MOUNTS" not in os.environ:
        os.execvpe("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv],
                   {**os.environ, "TF_OWN_MOUNTS": "1"})
    packages = sorted(name for name in glob.glob(os.path.join(options.packages, "hip-remote-*.deb"))
                      if "-dbgsym" not in name and "-tools" not in name and "-dev" not in name)
    if not packages:
        raise SystemExit(f"no packages in {options.packages}: tools/package makes them")
    print("packages of AMD's in Debian")
    expect_no_conflict([name for name in glob.glob(os.path.join(options.packages, "hip-remote-*.deb"))
                        if "-dbgsym" not in name])
    with tempfile.TemporaryDirectory(prefix="hip-root-") as folder:
        base = options.base
        if base is None:
            base = os.path.join(folder, "base.tar")
            sources = glob.glob("/etc/apt/sources.list.d/*.sources") + glob.glob("/etc/apt/sources.list")
            run("mmdebstrap", "--quiet", "--variant=minbase", "bookworm", base, *sources[:1])
        place = os.path.join(folder, "root")
        os.mkdir(place)
        run("tar", "-xf", base, "-C", place, "--exclude=./dev/*")
        print("a bare Debian 12 root")
        try:
            check(Root(place), packages, options.program)
        finally:
            for name in ("proc", "dev", "sys", "tmp"):
                subprocess.run(["umount", "--recursive", "--lazy", os.path.join(place, name)], check=False)
    print("PASSED")


if __name__ == "__main__":
    main()
