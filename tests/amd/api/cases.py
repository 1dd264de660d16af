# SPDX-License-Identifier: Apache-2.0
"""Runs cases of a GoogleTest program in as few processes as possible: one that fails, dies or hangs costs a process."""
import os
import queue
import re
import signal
import subprocess
import threading
import time
from dataclasses import dataclass

STARTS = re.compile(r"\[ RUN      \] (\S+)")
ENDS = re.compile(r"\[(?:       OK |  FAILED  |  SKIPPED )\] (\S+?)(?:, where .*)? \((\d+) ms\)")
LACKS = re.compile(r"libamdhip64 has no (\w+)")
LAST_WORDS_S = 1.0  # a worker's log may come later than what its client says
VERDICTS = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}


@dataclass
class Outcome:
    verdict: str  # passed, failed, skipped, lacking (a function is missing), died, hung
    seconds: float = 0.0
    output: str = ""

    def reason(self):
        """The first line of its output that says something."""
        lines = [line.strip() for line in self.output.splitlines()]
        telling = [line for line in lines if line and not line.startswith(("[", "/", "Note:"))]
        return " | ".join(telling[:6])[:400]


def names(program, environment):
    """All cases of the program."""
    listed = subprocess.run([*program, "--gtest_list_tests"], env=environment, text=True, capture_output=True,
                            check=True)
    suite, found = "", []
    for line in listed.stdout.splitlines():
        name = line.split("#")[0].rstrip()
        if name.endswith(".") and not name.startswith(" "):
            suite = name
        elif name.startswith("  "):
            found.append(suite + name.strip())
    return found


class _Process:
    """One process that runs cases; its output comes line by line, with a limit for each."""

    def __init__(self, program, environment, cases):
        self.process = subprocess.Popen([*program, "--gtest_filter=" + ":".join(cases)], env=environment, text=True,
                                        errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        start_new_session=True)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def line(self, deadline):
        """None: it has ended. Raises queue.Empty at the deadline."""
        return self.lines.get(timeout=max(0.0, deadline - time.monotonic()))

    def rest(self, limit_s):
        """What it still says before it is killed."""
        deadline, said = time.monotonic() + limit_s, ""
        try:
            while (line := self.line(deadline)) is not None:
                said += line
        except queue.Empty:
            pass
        self.kill()
        return said

    def end(self):
        """Its exit status; kills it if it still runs."""
        try:
            return self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            pass
        return self.kill()

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        return self.process.wait()


def _run_some(program, environment, cases, limit_s):
    """Outcomes of the cases up to the first one that did not end well."""
    process = _Process(program, environment, cases)
    outcomes, current, output, began = {}, None, "", time.monotonic()
    while True:
        try:
            line = process.line(began + limit_s)
        except queue.Empty:
            process.kill()
            if current is not None or not outcomes:
                outcomes[current or cases[0]] = Outcome("hung", limit_s, output)
            return outcomes
        if line is None:
            status = process.end()
            if current is not None or not outcomes:
                outcomes[current or cases[0]] = Outcome("died", time.monotonic() - began,
                                                        output + f"exit status {status}\n")
            return outcomes
        if start := STARTS.match(line):
            current, output, began = start[1], "", time.monotonic()
        elif current is not None and (end := ENDS.match(line)) and end[1] == current:
            verdict = "lacking" if LACKS.search(output) else VERDICTS[line[1:11].strip()]
            outcomes[current] = Outcome(verdict, int(end[2]) / 1000, output)
            current, output, began = None, "", time.monotonic()
            if verdict == "failed":
                outcomes[end[1]].output += process.rest(LAST_WORDS_S)
                return outcomes
        else:
            output += line


def run(program, environment, cases, limit_s):
    """Outcome of each case; each has `limit_s` seconds. What a case leaves behind fails no other: one that does not end
    well counts only if it was the first of its process."""
    outcomes, left = {}, list(cases)
    while left:
        some = _run_some(program, environment, left, limit_s)
        last = list(some)[-1]
        if len(some) > 1 and some[last].verdict not in ("passed", "skipped", "lacking"):
            del some[last]
        outcomes.update(some)
        left = [case for case in left if case not in outcomes]
    return outcomes
