#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""AMD's own amd-smi and rocm-smi, unmodified, as a Debian packages them: every subcommand and option that their --help
lists, on workers with the CPU runtime. By hand and nightly: it downloads packages and takes minutes."""
import argparse
import concurrent.futures
import csv
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/faults"), str(ROOT / "tests/amd/packages")]
HELP = """Needs root, mmdebstrap and a build of hip-remote (not with --here). Nothing may end with an exception of
Python's, print a number that stands for what is not known, or say that it has set anything; what is printed as JSON or
CSV has to be that.

examples:
  tests/debian/management.py                  Debian 13's
  tests/debian/management.py --suite sid      sid's
  tests/debian/management.py --here           those of this system, without a download (Debian 12 has only rocm-smi)
exit codes: 0 all is well, 1 something is not, 2 the command line is wrong or nothing ran."""
PROGRAMS = ("amd-smi", "rocm-smi")
LIMIT_S = 120  # of one command
UNKNOWN = re.compile(r"(?<![\w.])(0x[fF]{4,}|65535|429496729\d|18446744\d*(\.\d+)?|-?922337203685\d*)(?![\w.])")
EXCEPTION = re.compile(r"Traceback|^\s*(\w+\.)*[A-Z]\w+(Error|Exception)\b.*", re.MULTILINE)
# An option as --help lists it: its names, and what stands for a value.
NAME = r"-[\w-]+(?: [A-Z%]\S*)?"
OPTION = re.compile(rf"^ {{2,}}({NAME}(?:, {NAME})*)(?: \[.*?\])?(?: {{2,}}|$)", re.MULTILINE)
SUBCOMMAND = re.compile(r"^ {4}([a-z][\w-]*)(?: \([\w, -]+\))? {2,}[A-Z]", re.MULTILINE)
SETTERS = ("set", "reset")
FORMS = ((), ("--json",), ("--csv",))
# Wait for a key, on a terminal; ras reads files of the driver's, and ends with an exception where there are none.
LEFT_OUT = ("event", "--showevents", "-e", "--showtempgraph", "ras")
# What is asked in another way than alone.
GENERAL = ("-h", "--help", "--json", "--csv", "--file", "--overwrite", "--append", "--loglevel", "--gpu", "--cpu",
           "--core", "--watch_time", "--iterations")
VALUES = {"--watch": ("1", "--iterations", "1"), "--name": ("fault_client",), "--fan": ("50%",),
          "--perf-level": ("AUTO",), "--profile": ("0",), "--compute-partition": ("SPX",),
          "--memory-partition": ("NPS1",), "--process-isolation": ("0",)}
AT_ONE_DEVICE = ("--general", "--engine")  # amd-smi of ROCm 6.1 ends where a device has no process
# Of rocm-smi.
SETTINGS = (("--setfan", "50%"), ("--setperflevel", "low"), ("--setsclk", "1"), ("--setmclk", "1"),
            ("--setprofile", "1"), ("--setperfdeterminism", "1000"),
            ("--setpoweroverdrive", "100", "--autorespond", "y"))
OWN_FAULT = ("--shownodesbw",)  # whose JSON and CSV rocm-smi makes of a text in place of a table
NO_SUCH_FORM = "Cannot print JSON/CSV output"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, epilog=HELP,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", choices=("trixie", "sid"), default="trixie")
    parser.add_argument("--here", action="store_true", help="the programs of this system")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/test", metavar="DIR",
                        help="the build of hip-remote (default: build/test)")
    parser.add_argument("--cache", metavar="DIR", help="where tools/debian-chroot keeps its systems")
    parser.add_argument("--verbose", action="store_true", help="print what the programs print")
    options = parser.parse_args()
    options.build = options.build.resolve()
    return options


def in_chroot(options):
    """This program again, in that Debian, with what it lacks beside the build."""
    from packaged_tests import carry
    carry(options.build)
    cache = ["--cache", options.cache] if options.cache else []
    words = [ROOT / "tools/debian-chroot", "--suite", options.suite, *cache, "--bind", options.build, "--packages",
             " ".join((*PROGRAMS, "python3", "procps", "util-linux")), "--", "env",
             f"LD_LIBRARY_PATH={options.build / 'sys'}", "python3", "-B", pathlib.Path(__file__).resolve(), "--here",
             "--build", options.build, *(["--verbose"] if options.verbose else [])]
    return subprocess.run([str(word) for word in words], check=False).returncode


def pretended(machine, folder):
    """A folder with an lscpu that says what machine this is: amd-smi of ROCm 6.1 has fewer subcommands in a guest."""
    real = shutil.which("lscpu")
    line = "grep -vi hypervisor" if machine == "host" else "sed '$a Hypervisor vendor: none'"
    path = pathlib.Path(folder) / machine / "lscpu"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\n{real} "$@" | {line}\n', encoding="utf-8")
    path.chmod(0o755)
    return str(path.parent)


class Program:
    """One of AMD's, on a worker."""
    STATUSES = (0,)

    def __init__(self, options, name, worker, path, holder):
        self.options, self.name, self.worker, self.holder = options, name, worker, holder
        self.environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"}
        self.failures, self.ran = [], 0

    def run(self, words):
        command = [self.options.build / "bin/hip-remote", "run", "--worker", f"unix:{self.worker.socket}", "--",
                   shutil.which(self.name), *words]
        return subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace",
                              timeout=LIMIT_S, check=False, input="n\n", env=self.environment)

    def help(self, *words):
        return self.run([*words, "--help"]).stdout

    def options_of(self, *words):
        """[(its longest name, whether it takes a value)]."""
        found = []
        for names in OPTION.findall(self.help(*words)):
            names = [name.split() for name in names.split(", ")]
            found.append((max((name[0] for name in names), key=len), any(len(name) > 1 for name in names)))
        return found

    def check(self, words):
        try:
            done = self.run(words)
        except subprocess.TimeoutExpired:
            return [f"not ended after {LIMIT_S} s"]
        if self.options.verbose:
            print(f"$ {self.name} {' '.join(words)}  # {done.returncode}\n{done.stdout}{done.stderr}", flush=True)
        text, faults = done.stdout + done.stderr, []
        sets = words[0] in SETTERS or words[0].startswith("--set") or "reset" in words[0]
        if sets and re.search(r"(?i)success(?!ful: 0)", text):
            faults.append(f"has set something: {text!r}")
        found = EXCEPTION.search(text)
        if found and not (sets and re.search("NO_PERM|PermissionDenied|NOT_SUPPORTED|EOFError", text)):
            faults.append(found[0].strip())
        faults += [f"{number[0]} for what is not known" for number in UNKNOWN.finditer(text)][:1]
        if sets or NO_SUCH_FORM in text:
            return faults
        if done.returncode not in self.STATUSES:
            faults.append(f"status {done.returncode}: {text.strip()[-200:]}")
        return faults + self.malformed(words, done.stdout)

    def malformed(self, words, text):
        """What is wrong with what has been printed as JSON or CSV. Nothing at all is an answer of theirs."""
        lines = [line for line in text.splitlines() if line.strip() and not line.startswith("'CTRL'")]
        try:
            if "--json" in words and lines:
                json.loads("\n".join(lines))
            elif "--csv" in words:
                width = 0
                for row in filter(None, csv.reader(io.StringIO("\n".join(lines)))):
                    # amd-smi of ROCm 10 may print several tables, each with its head.
                    width = len(row) if width == 0 or re.fullmatch("[a-z_]+", row[0]) else width
                    if len(row) != width:
                        return [f"rows of different lengths: {lines}"]
        except ValueError as error:
            return [f"no JSON: {error}: {text[:200]!r}"]
        return []

    def commands(self):
        """All of them, each as words."""
        raise NotImplementedError

    def check_all(self):
        commands = list(self.commands())
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for words, faults in zip(commands, pool.map(self.check, commands)):
                self.failures += [f"{self.name} {' '.join(words)}: {fault}" for fault in faults]
        self.ran = len(commands)


class AmdSmi(Program):
    def commands(self):
        for subcommand in SUBCOMMAND.findall(self.help()):
            if subcommand in LEFT_OUT:
                continue
            chosen = ("--gpu", "0") if subcommand in SETTERS else ()
            if not chosen:
                yield from ([subcommand, *form] for form in FORMS)
            for option, has_value in self.options_of(subcommand):
                if option in GENERAL or option.startswith(("--cpu-", "--core-", "--soc-")):
                    continue
                value = VALUES.get(option, ("0",)) if has_value else ()
                if option == "--pid":
                    value = (str(self.holder.pid),)
                where = ("--gpu", "0") if option in AT_ONE_DEVICE else chosen
                for form in FORMS if option != "--watch" else FORMS[:1]:
                    yield [subcommand, *where, option, *value, *form]


class RocmSmi(Program):
    STATUSES = (0, 2)  # 2: of something asked for it is not known

    def malformed(self, words, text):
        return [] if "--csv" in words else super().malformed(words, text)  # its CSV has a part for each question

    def commands(self):
        yield from ([*form] for form in FORMS)
        for option, has_value in self.options_of():
            if option in GENERAL or has_value or option in LEFT_OUT:
                continue
            formed = option.startswith("--show") and option not in OWN_FAULT
            yield from ([option, *form] for form in (FORMS if formed else FORMS[:1]))
        yield from map(list, SETTINGS)

    def check(self, words):
        return super().check(words or ["--alldevices"])  # what it does without an option


def check_machine(options, devices, path):
    """[failures], and how many commands ran, of all programs that are there."""
    from harness import MIB, Worker
    failures, ran = [], 0
    with (Worker(environment={"HIP_CPU_DEVICES": str(devices)}) as worker,
          worker.client("shm", "hold", 96 * MIB) as holder):
        assert holder.expect("holding", 30)[0] == 0, holder.errors()
        for name, kind in zip(PROGRAMS, (AmdSmi, RocmSmi)):
            if shutil.which(name):
                program = kind(options, name, worker, path, holder)
                program.check_all()
                failures += program.failures
                ran += program.ran
    return failures, ran


def here(options):
    os.environ.update(TF_BUILD_DIR=str(options.build))
    failures, ran = [], 0
    with tempfile.TemporaryDirectory() as folder:
        paths = {machine: pretended(machine, folder) for machine in ("host", "guest")}
        for machine, devices in (("host", 1), ("host", 3), ("guest", 1)):
            failed, count = check_machine(options, devices, paths[machine])
            print(f"{machine}, {devices} device(s): {count} commands, {len(failed)} faults", flush=True)
            print("".join(f"  {fault}\n" for fault in failed), end="", flush=True)
            failures += failed
            ran += count
    if ran == 0:
        print(f"there is no {' and no '.join(PROGRAMS)}", file=sys.stderr)
        return 2
    return 1 if failures else 0


if __name__ == "__main__":
    chosen = arguments()
    sys.exit(here(chosen) if chosen.here else in_chroot(chosen))
