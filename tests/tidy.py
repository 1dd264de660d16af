#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""House rules as a test: include direction, lengths, banned words, licence lines, links between
documents, what a file is for.

Prints every violation as file:line: rule: what to do, and exits 1 if there is any.
"""
import argparse
import pathlib
import re
import sys

import arrows

LINE_COLUMNS_MAX = 120
FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70

SOURCE_SUFFIXES = {".h", ".cc", ".cpp", ".hip", ".inc"}
SCRIPT_SUFFIXES = {".py", ".cmake", ".sh"}
BANNED = [
    (re.compile(r"\bFIXME\b|\bXXX\b"), "unfinished marker"),
    (re.compile(r"^\s*#\s*include\s+<(iostream)>"), "iostream in a library pulls static initialisers"),
]
BANNED_IN_LIBRARIES = [
    (re.compile(r"(^\s*|(?<![\w])::|std::)(abort|exit|_exit|quick_exit)\s*\("),
     "the client library never ends the application"),
    (re.compile(r"\bstd::cout\b|\bprintf\s*\(|\bputs\s*\("), "the client library never prints to stdout"),
]
# What kernels print is the program's output: one file of the client writes it.
STANDARD_STREAM = re.compile(r"\bstd(?:out|err)\b")
PROGRAM_OUTPUT = "proxy/session/kernel_output.cc"
LIBRARIES = ("transport", *arrows.TRANSPORTS, "hipcore", "proxy")


def strip_code(line: str) -> str:
    line = re.sub(r'"(\\.|[^"\\])*"', '""', line)
    line = re.sub(r"'(\\.|[^'\\])'", "' '", line)
    return line.split("//")[0]


def check_functions(path: str, lines, report):
    """Counts the lines from one that opens a function body to the closing brace in the same column."""
    opener = re.compile(r"^(\s*)(?!namespace|class|struct|enum|union|extern|using|typedef|static_assert)"
                        r"[\w~:<>*&,\s\[\]()=]*\)[\w\s:(){},.&*<>]*\{\s*$")
    start, indent = None, 0
    for number, line in enumerate(lines, 1):
        if start is None:
            match = opener.match(strip_code(line).rstrip())
            if match and not re.match(r"\s*(if|for|while|switch|else|do|catch)\b", line):
                start, indent = number, len(match.group(1))
        elif line.startswith(" " * indent + "}") and len(line) - len(line.lstrip()) == indent:
            if number - start > FUNCTION_LINES_MAX:
                report(path, start, "function length", f"{number - start} lines, at most {FUNCTION_LINES_MAX}")
            start = None


# What the worker asks its runtime may be told an error of the program's: see worker/base/own_calls.h.
RUNTIME_CALL = r"(?:[\w.>-]|\(\))*\b(?:hip\(\)|hip_?|vmm_)\.\w+\("
DROPPED = [re.compile(r"static_cast<void>\(\s*" + RUNTIME_CALL),
           re.compile(r"(?<=[;{}])\s*" + RUNTIME_CALL),
           re.compile(r"(?:if|while|&&|\|\||=|return)\s*\(?\s*" + RUNTIME_CALL + r"[^;{}]*?\)\s*[!=]=\s*hip[A-Z]"),
           re.compile(r"static_cast<void>\(\s*[\w.]*(?:use_device|device_?\.use)\(")]


def check_own_calls(path: str, lines, report):
    # Before there is a client.
    at_start = ("worker/base/runtime_library.cc", "worker/memory/memory_probe.cc", "worker/session/device_facts.cc")
    if not path.startswith("worker/") or path.startswith("worker/runtime/") or path in at_start:
        return
    text = "\n".join(strip_code(line) for line in lines)
    for pattern in DROPPED:
        for match in pattern.finditer(text):
            number = text.count("\n", 0, match.end()) + 1
            report(path, number, "dropped result", "a runtime's answer goes through OwnCalls or into a reply")


CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
SOURCE_FILE = re.compile(r"`(\w+/[\w./-]+\.\w+)`")
DIARY = "docs/performance-log.md"  # names files as they were called then


def check_links(root: pathlib.Path, path: str, text: str, report):
    for match in SOURCE_FILE.finditer(text):
        target = match.group(1)
        ours = path != DIARY and "/gen/" not in target and (root / target.partition("/")[0]).is_dir()
        if ours and not (root / target).exists():
            report(path, text.count("\n", 0, match.start()) + 1, "file", f"{target} does not exist")
    text = CODE.sub(lambda code: "\n" * code.group().count("\n"), text)
    for match in LINK.finditer(text):
        target = match.group(1).partition("#")[0]
        if target and ":" not in target and not ((root / path).parent / target).exists():
            report(path, text.count("\n", 0, match.start()) + 1, "link", f"{target} does not exist")


# What an operation means is said once, by the words of proxy/api: code asks kTraits, traits_of() and Dispatch.
OPCODE_NAMED = [
    (re.compile(r"\bOp::k[A-Z]\w*"), "an opcode by name"),
    (re.compile(r"(?:[=!]=|\bcase\b)[^;,?]*::kOp\b|::kOp\b[^;,)]*[=!]="), "a comparison of opcodes"),
    (re.compile(r"\bswitch\s*\([^{]*\bop(?:code)?\b[^{]*\)\s*\{"), "a switch over opcodes"),
    (re.compile(r"is_same(?:_v)?<[^;]*\bRequest\b\s*,[^;>]*Request\b"), "a list of requests by type"),
]
OTHER_OPS = re.compile(r"\bBulkOp::k\w+|\bswitch\s*\(op\)(?=\s*\{\s*case BulkOp::)")  # rdma's own records


def check_opcodes(path: str, lines, report):
    if path.partition("/")[0] in arrows.FREE:
        return
    text = OTHER_OPS.sub("", "\n".join(strip_code(line) for line in lines))
    for pattern, what in OPCODE_NAMED:
        for match in pattern.finditer(text):
            number = text.count("\n", 0, match.end()) + 1
            report(path, number, "opcode by hand", f"{what}: a word of proxy/api/words.h says what is meant")


# Majors of the client's library come from one list (hipcore/exports): nothing else spells one.
MAJOR_SPELLED = re.compile(r"lib(?:amdhip64|hiprtc)\.so\.\d|\bamdhip64_\d|\b(?:symbols|exports|EXPORTS_MAP)_\d"
                           r"|\babi/\d|\bSOVERSION \d|\b[kK]?[hH]ip_?[mM]ajor = [1-9]")
MAJOR_FREE = re.compile(r"tests/|docs/|hipcore/exports/|proxy/abi/\d+/")


def check_majors(path: str, lines, report):
    if MAJOR_FREE.match(path) and not path.endswith("CMakeLists.txt"):
        return
    for number, line in enumerate(lines, 1):
        code = line.split("//" if pathlib.Path(path).suffix in SOURCE_SUFFIXES else "#")[0]
        if MAJOR_SPELLED.search(code):
            report(path, number, "major", "spelled by hand: hipcore/wire/gen/majors.h or cmake/TfMajors.cmake has it")


def check_purpose(path: str, lines, report):
    """A source file of the product says in its second line what it is for; its header's name alone does not."""
    if not path.endswith(".cc") or path.startswith(("tests/", "examples/")):
        return
    second = lines[1] if len(lines) > 1 else ""
    if not re.match(r"// (?!See [\w./]+\.h\.?$)\S", second):
        report(path, 2, "purpose", "behind the licence line one line says what the file is for")


def check_file(root: pathlib.Path, path: str, report):
    text = (root / path).read_text(errors="replace")
    if path.endswith(".md"):
        check_links(root, path, text, report)
        return
    lines = text.splitlines()
    source = pathlib.Path(path).suffix in SOURCE_SUFFIXES
    check_majors(path, lines, report)
    if pathlib.Path(path).suffix not in SOURCE_SUFFIXES | SCRIPT_SUFFIXES:
        return
    if source and "SPDX-License-Identifier: Apache-2.0" not in "\n".join(lines[:3]):
        report(path, 1, "licence", "the first lines carry the SPDX identifier")
    if len(lines) > FILE_LINES_MAX:
        report(path, 1, "file length", f"{len(lines)} lines, at most {FILE_LINES_MAX}")
    for number, line in enumerate(lines, 1):
        if len(line) > LINE_COLUMNS_MAX and "http" not in line:
            report(path, number, "line length", f"{len(line)} columns, at most {LINE_COLUMNS_MAX}")
        if line.rstrip() != line:
            report(path, number, "trailing blanks", "remove them")
    if not source:
        return
    arrows.check_includes(path, lines, report)
    check_purpose(path, lines, report)
    check_functions(path, lines, report)
    check_own_calls(path, lines, report)
    check_opcodes(path, lines, report)
    in_library = path.partition("/")[0] in LIBRARIES
    for number, line in enumerate(lines, 1):
        code = strip_code(line)
        for pattern, why in BANNED + (BANNED_IN_LIBRARIES if in_library else []):
            if pattern.search(code) and not path.startswith("tests/tidy"):
                report(path, number, "banned", why)
        if in_library and path != PROGRAM_OUTPUT and STANDARD_STREAM.search(code):
            report(path, number, "banned", f"only {PROGRAM_OUTPUT} writes to the program's streams")
        if path.endswith(".h") and re.match(r"\s*using\s+namespace\b", code):
            report(path, number, "using namespace", "not in a header")


def tracked_files(root: pathlib.Path):
    skip = {"build", ".git", ".cache"}
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        if path.is_file() and relative.parts[0] not in skip and "__pycache__" not in relative.parts:
            wanted = SOURCE_SUFFIXES | SCRIPT_SUFFIXES | {".md", ".in"}
            if path.suffix in wanted or path.name == "CMakeLists.txt":
                yield relative.as_posix()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--generated", type=pathlib.Path, help="folder of what the build generates: its arrows, too")
    options = parser.parse_args()
    root = options.root
    violations = []

    def report(path, line, rule, what):
        violations.append(f"{path}:{line}: {rule}: {what}")

    paths = list(tracked_files(root))
    for path in paths:
        check_file(root, path, report)
    arrows.check_cmake(root, report)
    arrows.check_mirror(paths, report)
    for path in tracked_files(options.generated) if options.generated else ():
        paths.append(path)
        if pathlib.Path(path).suffix in SOURCE_SUFFIXES:
            arrows.check_includes(path, (options.generated / path).read_text().splitlines(), report)
    print("\n".join(violations))
    print(f"tidy: {len(paths)} files, {len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
