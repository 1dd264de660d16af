# SPDX-License-Identifier: Apache-2.0
"""Test programs by case: how GoogleTest and Catch2 (2 and 3) list their cases, and what their output says of one. Every
other program is one case, its exit status and output."""
import dataclasses
import re

PASS, SKIP, FAIL, OUT_OF_TIME = 'pass', 'skip', 'FAIL', 'time-out'
REASON_LIMIT = 400  # characters
FILTER_LIMIT = 100_000  # characters: one argument of a program may have 128 KiB
LIST = '(list)'     # the case of a program that is of a framework, and lists nothing


@dataclasses.dataclass
class Verdict:
    """What became of a case: PASS, SKIP, FAIL, OUT_OF_TIME, the name of a signal or "exit N"; and why."""
    word: str
    reason: str = ''


def short(text):
    return ' '.join(text.split())[:REASON_LIMIT]


def last_line(run):
    lines = (run.err.strip() or run.out.strip()).splitlines()
    return short(lines[-1]) if lines else ''


def ended(run):
    """The verdict on a process that ended before it had reported its case."""
    if run.status is None:
        return Verdict(OUT_OF_TIME, last_line(run))
    return Verdict(run.signal or f'exit {run.status}', last_line(run))


class GoogleTest:
    """One case: Suite.Case."""
    marks = (b'gtest_list_tests', b'libgtest')
    listing = ['--gtest_list_tests']

    @staticmethod
    def cases(text):
        found, suite = [], ''
        for line in text.splitlines():
            name = line.partition('#')[0].rstrip()
            if not line.startswith(' '):
                suite = name if name.endswith('.') else ''
            elif suite and 'DISABLED_' not in suite + name:
                found.append(suite + name.strip())
        return found

    @staticmethod
    def words(case):
        return ['--gtest_filter=' + case]

    @staticmethod
    def words_together(names):
        """For each process that runs some of these cases, what the program is called with."""
        batches, size = [[]], 0
        for name in names:
            size += len(name) + 1
            if size > FILTER_LIMIT:
                batches, size = [*batches, []], len(name) + 1
            batches[-1].append(name)
        return [['--gtest_filter=' + ':'.join(batch)] for batch in batches if batch]

    @staticmethod
    def seconds(output):
        """{case: how long it says that it took}."""
        ends = r'\[ +(?:OK|FAILED|SKIPPED) +\] ([^\s,]+)(?:, where .*?)? \((\d+) ms\)$'
        return {case: int(ms) / 1000 for case, ms in re.findall('^' + ends, output, re.M)}

    @staticmethod
    def verdicts(output):
        """{case: OK, FAILED or SKIPPED}, and the case that was running when the output ended."""
        found, running = {}, None
        for line in output.splitlines():
            # Of a test with parameters a failure names them behind its name. What is disabled is a part of another
            # test, in a process of its own, whose output is among this one's.
            match = re.match(r'\[\s+(RUN|OK|FAILED|SKIPPED)\s+\] ([^\s,]+)(?:, where .*?)?(?: \(\d+ ms\))?$', line)
            if match is None or 'DISABLED_' in match[2]:
                continue
            word, test = match.groups()
            if word == 'RUN':
                running = test
            else:
                found[test] = word
                running = None if running == test else running
        return found, running

    @staticmethod
    def failure(output, case):
        """What a failed case said."""
        begin = output.find(f'RUN      ] {case}\n')
        end = output.find(f'FAILED  ] {case}', begin)
        return output[begin:end].split('\n', 1)[1] if 0 <= begin < end else ''

    @classmethod
    def verdict(cls, run, case):
        verdict = cls.reported(run.out).get(case)
        return ended(run) if verdict is None or verdict.word != FAIL and run.status != 0 else verdict

    @classmethod
    def reported(cls, output):
        """{case: verdict} of all cases that the output reports the end of."""
        found, _ = cls.verdicts(output)
        words = {'OK': PASS, 'SKIPPED': SKIP, 'FAILED': FAIL}
        return {case: Verdict(words[word], short(cls.failure(output, case)) if word == 'FAILED' else '')
                for case, word in found.items()}


class Catch2:
    """One case: the name of a TEST_CASE."""
    marks = (b'list-test-names-only', b'libCatch2')
    listing = ['--list-test-names-only']
    skipped = 'HIP_SKIP_THIS_TEST'  # how tests for HIP say it: Catch2 has no skip before version 3.3

    @staticmethod
    def cases(text):
        return [line.strip() for line in text.splitlines() if line.strip()]

    @staticmethod
    def words(case):
        """A specification of this name only: what has a meaning in one is escaped."""
        return [re.sub(r'[\\,\[\]"*~]', lambda special: '\\' + special[0], case)]

    @staticmethod
    def failure(output):
        """File, line, expression and message of the first failure."""
        begin = re.search(r'^\S*?([^/\s]+:\d+): FAILED:', output, re.M)
        if begin is None:
            return ''
        rest = re.split(r'^[ \t]*$|^[-=.]{20,}$', output[begin.end():].lstrip(), maxsplit=1, flags=re.M)[0]
        return f'{begin[1]}: {rest}'

    @classmethod
    def verdict(cls, run, case):
        summary = re.search(r'^(All tests passed|test cases:|No tests ran)', run.out, re.M)
        if run.status is None or summary is None:
            return Verdict(SKIP) if run.status == 0 and cls.skipped in run.out else ended(run)
        if run.status != 0 and not re.search(r'^test cases:.*\bskipped\b(?!.*\bfailed\b)', run.out, re.M):
            return Verdict(FAIL, short(cls.failure(run.out)) or last_line(run))
        if cls.skipped in run.out or re.search(r'^test cases:.*\bskipped\b', run.out, re.M):
            return Verdict(SKIP)
        return Verdict(PASS)


class Plain:
    """A program of no framework: one case without a name."""
    listing = None

    @staticmethod
    def words(_):
        return []

    @staticmethod
    def verdict(run, _):
        return Verdict(PASS) if run.status == 0 else ended(run)


def framework(content):
    """The class above for a program file's bytes."""
    for one in (GoogleTest, Catch2):
        if any(mark in content for mark in one.marks):
            return one
    return Plain


def words(one, case):
    """What a program of framework `one` is called with to run a case."""
    return one.listing if case == LIST else one.words(case)


def verdict(one, run, case):
    return ended(run) if case == LIST else one.verdict(run, case)
