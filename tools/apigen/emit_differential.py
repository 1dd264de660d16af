# SPDX-License-Identifier: Apache-2.0
"""The table of the differential test: each function, and what its arguments are called with."""
import re
from dataclasses import dataclass, field

from model import BANNER, DescriptionError

COLUMNS = ("function", "parameter", "type", "direction", "kind")
# How a test shows what a call left behind an OUT parameter: a number of so many bytes.
NUMBERS = {"int": 4, "unsigned int": 4, "uint32_t": 4, "hipDevice_t": 4, "size_t": 8, "unsigned long long": 8,
           "hipArray_Format": 4, "hipTextureAddressMode": 4, "hipTextureFilterMode": 4, "hipFuncCache_t": 4,
           "hipSharedMemConfig": 4, "hipStreamCaptureStatus": 4, "hipGraphNodeType": 4, "hipMemAccessFlags": 4,
           "hipGraphExecUpdateResult": 4, "hipStreamCaptureMode": 4, "hipDriverProcAddressQueryResult": 4,
           "hipDriverEntryPointQueryResult": 4}


@dataclass
class Rule:
    patterns: dict
    value: str
    cases: list
    large: list

    def fits(self, given):
        return all(re.fullmatch(pattern, given[column]) for column, pattern in self.patterns.items())


@dataclass
class Values:
    rules: list = field(default_factory=list)
    sets: dict = field(default_factory=dict)
    patterns: dict = field(default_factory=dict)  # memory, alone, varying, written

    def matches(self, word, text):
        return bool(re.fullmatch(self.patterns.get(word, "$."), text))


def _parse_rule(line, where, sets):
    head, _, rest = line.rpartition(" : ") if " : " in line else ("", "", line.removeprefix(": "))
    patterns = dict(word.split("=", 1) for word in head.split())
    if not set(patterns) <= set(COLUMNS):
        raise DescriptionError(f"{where}: no such column: {' '.join(sorted(set(patterns) - set(COLUMNS)))}")
    small, _, large = rest.partition(" + ")
    words = [w for word in small.split() for w in (sets[word[1:]] if word.startswith("@") else [word])]
    return Rule(patterns, words[0], words[1:], large.split())


def read_values(path):
    values = Values()
    text = re.sub(r"\s*\\\n\s*(\|?)", lambda match: match.group(1) or " ", path.read_text())
    for number, line in enumerate(text.splitlines(), 1):
        line = re.sub(r"\s+", " ", line).strip()
        if not line or line.startswith("#"):
            continue
        if match := re.match(r"set (\w+): (.*)", line):
            values.sets[match.group(1)] = match.group(2).split()
        elif match := re.match(r"(memory|alone|varying|written): (\S+)", line):
            word, pattern = match.groups()
            known = values.patterns.get(word)
            values.patterns[word] = f"{known}|{pattern}" if known else pattern
        else:
            values.rules.append(_parse_rule(line, f"{path.name}:{number}", values.sets))
    return values


def _plain(ctype):
    return re.sub(r"\b(const|struct|enum)\b|\s(?=\*)", "", ctype).strip()


def rule_of(values, function, parameter):
    given = {"function": function.name, "parameter": parameter.name, "type": _plain(parameter.ctype),
             "direction": parameter.direction or "", "kind": parameter.kind}
    for rule in values.rules:
        if rule.fits(given) and not (parameter.is_pointer and rule.value.startswith("#")):
            return rule
    raise DescriptionError(f"{function.where}: {function.name}: no value for '{parameter.name}'")


def shown(values, function, parameter):
    """"" for what is not written; else number of bytes, "handle", "text" or "written"."""
    if parameter.direction not in ("OUT", "INOUT"):
        return ""
    if values.matches("written", f"{function.name}.{parameter.name}"):
        return "written"
    pointee = _plain(parameter.ctype)[:-1].strip()
    if pointee in NUMBERS:
        return str(NUMBERS[pointee])
    if pointee.endswith("*") or pointee == "hipDeviceptr_t" or parameter.handle_type:
        return "handle"
    return "text" if pointee == "char" and "ARRAY" in parameter.words else "written"


def _is_count(function, parameter):
    """Whether a list of the call is as long as it says."""
    return any(parameter.name in re.findall(r"\w+", " ".join(p.words.get("ARRAY") or []))
               for p in function.parameters)


def _arguments(values, function):
    rules = [rule_of(values, function, p) for p in function.parameters]
    has_memory = any(values.matches("memory", rule.value) for rule in rules)
    rows = []
    for p, rule in zip(function.parameters, rules):
        cases = rule.cases + ([] if has_memory or _is_count(function, p) else rule.large)
        rows.append(f'{{"{p.name}", "{rule.value}", "{" ".join(cases)}", "{shown(values, function, p)}"}}')
    return rows


def _row(values, function, libraries):
    symbol = function.mangled or function.name
    majors = "".join(str(major) for major, symbols in libraries.items() if symbol in symbols)
    types = ", ".join([function.result] + [p.ctype for p in function.parameters])
    rows = _arguments(values, function)
    arguments = f"kArguments_{function.name}" if rows else "{}"
    listed = ",\n    ".join(rows)
    table = f"constexpr Argument kArguments_{function.name}[] = {{\n    {listed}}};\n" if rows else ""
    alone = str(values.matches("alone", function.name)).lower()
    varying = str(values.matches("varying", function.name)).lower()
    row = f'    {{"{function.name}", "{symbol}", "{majors}", {alone}, {varying}, &invoke<{types}>, {arguments}}},\n'
    return table, row


def table(functions, libraries, values):
    """`libraries`: {major: symbols}. What is not described is called without arguments."""
    described = {f.mangled or f.name for f in functions} | {f.also for f in functions}
    rows = [_row(values, f, libraries) for f in functions]
    rest = sorted(set().union(*libraries.values()) - described)
    for name in rest:
        majors = "".join(str(major) for major, symbols in libraries.items() if name in symbols)
        rows.append(("", f'    {{"{name}", "{name}", "{majors}", false, false, &invoke<hipError_t>, {{}}}},\n'))
    return f"""{BANNER}// Each function of each major, and what its arguments are called with.
#include "tests/differential/table.h"

#include <hip/hip_ext.h>
#include <hip/hiprtc.h>

#include "hipcore/newer/hip_types.h"
#include "tests/differential/invoke.h"

namespace tf::differential {{
namespace {{

{''.join(arguments for arguments, _ in rows)}
constexpr Function kTable[] = {{
{''.join(row for _, row in rows)}}};

}}  // namespace

std::span<const Function> functions() {{ return kTable; }}

}}  // namespace tf::differential
"""
