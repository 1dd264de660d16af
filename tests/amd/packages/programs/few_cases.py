# SPDX-License-Identifier: Apache-2.0
"""Few of the many cases of a packaged GoogleTest program."""
import subprocess
import sys

FILTER = "--gtest_filter="


def chosen(command):
    """Of each suite's test the case in the middle: sizes that are refused come first, the biggest last."""
    listed = subprocess.run([*command, "--gtest_list_tests"], stdout=subprocess.PIPE, text=True, check=True)
    suite, cases = "", {}
    for line in listed.stdout.splitlines():
        name = line.partition("#")[0].rstrip()
        if not name.startswith(" "):
            suite = name if name.endswith(".") else ""
        elif suite:
            test = name.strip()
            cases.setdefault(suite + test.partition("/")[0], []).append(suite + test)
    return [some[len(some) // 2] for some in cases.values()]


def run(command):
    """Runs, or lists, the chosen cases or those that this program's arguments name. Returns the exit status."""
    words = sys.argv[1:]
    if not any(word.startswith(FILTER) for word in words):
        words = [*words, FILTER + ":".join(chosen(command))]
    return subprocess.call([*command, *words])
