# SPDX-License-Identifier: Apache-2.0
"""What libraries export: hipcore/exports/, version scripts, stubs of what is not implemented, majors.h."""
import re
import sys

from model import BANNER, DescriptionError

# A node of ours stands alone; AMD's each inherit from the one before.
OWN_NODE = "hip_remote"


def _rows(path, label, pattern, what):
    rows = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        match = re.fullmatch(pattern, line)
        if not match or any(match.group(1) == row[0] for row in rows):
            raise DescriptionError(f"{label}:{number}: not {what}, or there twice: '{line}'")
        rows.append(match.groups())
    return rows


def read_majors(folder):
    """[(number, version or None)] of majors.txt."""
    rows = _rows(folder / "majors.txt", "hipcore/exports/majors.txt", r"(\d+) (\d+\.\d+\.\d+|-)", "a major")
    if not rows or rows[0][1] == "-":
        raise DescriptionError("hipcore/exports/majors.txt: the first line is of a major with symbols")
    return [(int(number), None if version == "-" else version) for number, version in rows]


def read_symbols(path, label=None):
    """{symbol: node}, and the symbols of the kind rtc."""
    pattern = r"(\w+) ((?:hip|hip_remote)_\d+\.\d+|hip_[a-z]+_ext)(?: (rtc))?"
    rows = _rows(path, label or f"hipcore/exports/{path.name}", pattern, "a symbol and its node")
    return {name: node for name, node, _ in rows}, {name for name, _, kind in rows if kind}


def read_lists(folder):
    """{major: {symbol: node}} of the majors that we stand in for."""
    return {major: read_symbols(folder / f"{major}.txt")[0] for major, version in read_majors(folder) if version}


def node_key(node):
    """By release; a node that is named for a feature comes last."""
    return [int(part) for part in re.findall(r"\d+", node)] or [sys.maxsize]


def hip_version(release):
    """"5.2.21153" -> 50221153, as HIP_VERSION."""
    major, minor, patch = (int(part) for part in release.split("."))
    return major * 10000000 + minor * 100000 + patch


def version_script(symbols):
    """One node per release; what is not listed stays inside."""
    nodes = {}
    for symbol, node in symbols.items():
        nodes.setdefault(node, []).append(symbol)
    text, previous = "", ""
    for node in sorted(nodes, key=lambda node: (node.startswith(OWN_NODE), node_key(node))):
        names = "".join(f"    {name};\n" for name in sorted(nodes[node]))
        alone = node.startswith(OWN_NODE)
        local = "" if text else "  local:\n    *;\n"
        text += f"{node} {{\n  global:\n{names}{local}}}{'' if alone else previous};\n\n"
        previous = f" {node}"
    return text


def unsupported_source(names, header, function):
    """Symbols of the vendor's library that this one does not have yet. `function`: answers for them, from `header`."""
    one = ('extern "C" TF_API hipError_t tf_unsupported_{i}() __asm__("{n}");\n'
           'extern "C" hipError_t tf_unsupported_{i}() {{ return {f}("{n}"); }}\n')
    body = "".join(one.format(i=i, n=n, f=function) for i, n in enumerate(names))
    return f"""{BANNER}// Arguments are ignored, whatever they are.
#include <hip/hip_runtime_api.h>

{header}
{body}"""


def majors_header(majors):
    rows = "".join(f'    {{{number}, "libamdhip64.so.{number}", "libhiprtc.so.{number}", '
                   f'{hip_version(version) if version else 0}, {str(bool(version)).lower()}}},\n'
                   for number, version in majors)
    return f"""{BANNER}#pragma once

#include <array>

namespace tf::protocol {{

// A major of AMD's libraries (hipcore/exports/majors.txt).
struct HipMajor {{
  unsigned number;
  const char* library;
  const char* rtc_library;
  int version;   // HIP_VERSION of the release that the client stands in for
  bool is_ours;  // the client stands in for it
}};

inline constexpr std::array<HipMajor, {len(majors)}> kHipMajors = {{{{
{rows}}}}};

// The one whose headers this is compiled with.
inline constexpr const HipMajor& kHipMajor = kHipMajors.front();

}}  // namespace tf::protocol
"""
