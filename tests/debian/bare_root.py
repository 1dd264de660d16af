#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the Debian packages in a bare Debian 12 root, runs a HIP program there remotely, and removes them again.

tests/debian/bare_root.py PACKAGES PROGRAM [--base TAR]

As root. PACKAGES is the folder that tools/package has filled, PROGRAM a HIP program built elsewhere (saxpy of the
examples). --base: a root that `mmdebstrap --variant=minbase bookworm TAR` has made; without it, this script does that,
with apt's sources of this machine. It is not part of the suite: it takes minutes, and a mirror.

What has to hold: no file is also in a package of AMD's in Debian; the root has no compiler; the program passes in one
command, within 20 seconds after the installation; the worker of another user serves it, too; programs have manual pages
and say their version; smi-remote shows the worker's device; with -tools and -dev, and the compilers that they
recommend, a HIP program is compiled there, and one on the transports by pkg-config; both of the provider's libraries
answer a program in Python (provider_calls.py); after `apt-get purge` no file is left that was not there before.
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

# Installed for -tools and -dev only.
COMPILING = ("clang-14", "llvm-14", "g++", "libamdhip64-dev", "pkg-config", "liburing-dev")
# Installed to call the provider.
CALLING = ("python3-minimal", "libpython3-stdlib")
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = """#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void twice(int* values) { values[threadIdx.x] *= 2; }
int main() {
  int there[64];
  for (int i = 0; i < 64; ++i) there[i] = i;
  int* values = nullptr;
  if (hipMalloc(reinterpret_cast<void**>(&values), sizeof there) != hipSuccess) return 1;
  if (hipMemcpy(values, there, sizeof there, hipMemcpyHostToDevice) != hipSuccess) return 1;
  twice<<<1, 64>>>(values);
  if (hipMemcpy(there, values, sizeof there, hipMemcpyDeviceToHost) != hipSuccess) return 1;
  for (int i = 0; i < 64; ++i)
    if (there[i] != 2 * i) return 1;
  std::puts("PASSED");
}
"""
TRANSPORT = """#include <cstdio>
#include "transport/net/address.h"
int main() {
  const tf::Result<tf::net::Address> address = tf::net::Address::parse("gpuhost:1");
  if (!address || address.value().port() != 1) return 1;
  std::puts("PASSED");
}
"""


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


def expect_said(root, command, wanted):
    done = root.run("sh", "-c", command, check=False)
    if done.returncode != 0 or wanted not in done.stdout:
        raise SystemExit(f"FAILED: {command}: exit {done.returncode}, without '{wanted}'\n{done.stdout}")


def look_at_programs(root, packages):
    """Version, manual page and completion of each."""
    version = os.path.basename(packages[0]).split("_")[1]
    found = sorted({os.path.basename(name) for package in packages for name in files_of(package)
                    if name.startswith("./usr/bin/")})
    for name in found:
        expect_said(root, f"{name} --version", f"{name} {version}")
        for file in (f"man/man1/{name}.1.gz", f"bash-completion/completions/{name}"):
            if not os.path.exists(root.path("usr/share", file)):
                raise SystemExit(f"FAILED: {name} has no /usr/share/{file}")
    print(f"  version, manual page and completion: {' '.join(found)}")


def look_at_devices(root):
    command = "hip-worker --socket /tmp/smi & worker=$!; trap 'kill $worker; wait' EXIT; " \
              "while [ ! -S /tmp/smi ]; do sleep 0.05; done; smi-remote list --host unix:/tmp/smi"
    expect_said(root, command, "0")
    print("  smi-remote lists the worker's device")


def call_provider(root):
    """After all that a root without Python has to do."""
    root.run("apt-get", "install", "-q", "-y", "--no-install-recommends", *CALLING)
    for name in ("debian/provider_calls.py", "provider/abi.py"):
        shutil.copy(os.path.join(TESTS, name), root.path("tmp"))
    library, = glob.glob(root.path("usr/lib/*/hip-remote/libaccelerator_amd.so"))
    folder = "/" + os.path.relpath(os.path.dirname(library), root.folder)
    started = time.monotonic()
    done = root.run("python3", "-B", "/tmp/provider_calls.py", folder, check=False)
    expect_passed("the provider, called from Python", done, started)
    print("".join(f"    {line}\n" for line in done.stdout.splitlines() if line.startswith("layout")), end="")


def compile_there(root, packages):
    """With what -tools and -dev recommend: a program with a kernel, and what finds their libraries."""
    started = time.monotonic()
    names = ["/tmp/" + os.path.basename(package) for package in packages]
    root.run("apt-get", "install", "-q", "-y", "--no-install-recommends", *names, *COMPILING)
    print(f"  compilers, -tools and -dev: installed in {time.monotonic() - started:.1f} s")
    with open(root.path("tmp/there.hip"), "w", encoding="ascii") as file:
        file.write(PROGRAM)
    started = time.monotonic()
    command = "cd /tmp && hipcc-cpu there.hip -o there && hip-remote run --local -- ./there"
    expect_passed("compiled there with hipcc-cpu, and run", root.run("sh", "-c", command, check=False), started)
    with open(root.path("tmp/transport.cc"), "w", encoding="ascii") as file:
        file.write(TRANSPORT)
    started = time.monotonic()
    expect_passed("a program on the transports, by pkg-config", root.run(
        "sh", "-c", "cd /tmp && g++ -std=c++20 transport.cc $(pkg-config --cflags --libs hip-remote) -o transport && "
        "./transport", check=False), started)
    look_at_programs(root, packages)


def check(root, packages, more, program):
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
    look_at_programs(root, packages)
    look_at_devices(root)
    plain = [os.path.basename(name).split("_")[0] for name in names]
    if "hip-remote-provider" in plain:
        call_provider(root)
    for name in plain:
        print(f"  {name}: " + root.run("dpkg-query", "-W", "-f", "${Version}, ${Installed-Size} KiB", name).stdout)
    if more:
        for package in more:
            shutil.copy(package, root.path("tmp"))
        compile_there(root, more)
        plain += [os.path.basename(name).split("_")[0] for name in more]
    root.run("apt-get", "purge", "-q", "-y", "--auto-remove", *plain, *COMPILING, *CALLING, "libssl3")
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
    found = sorted(name for name in glob.glob(os.path.join(options.packages, "hip-remote-*.deb"))
                   if "-dbgsym" not in name)
    more = [name for name in found if "-tools_" in name or "-dev_" in name]
    packages = [name for name in found if name not in more]
    if not packages:
        raise SystemExit(f"no packages in {options.packages}: tools/package makes them")
    print("packages of AMD's in Debian")
    expect_no_conflict(found)
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
            check(Root(place), packages, more, options.program)
        finally:
            for name in ("proc", "dev", "sys", "tmp"):
                subprocess.run(["umount", "--recursive", "--lazy", os.path.join(place, name)], check=False)
    print("PASSED")


if __name__ == "__main__":
    main()
