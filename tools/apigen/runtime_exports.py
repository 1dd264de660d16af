#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the version script and the stubs of unimplemented functions of a runtime library of ours.

The library has a function `hipError_t unsupported(const char* name)` in its namespace, which the stubs call.
"""
import argparse
import pathlib
import sys

import exports

STUB_HEADER = """#define TF_API __attribute__((visibility("default")))

namespace {space} {{
hipError_t unsupported(const char* name);
}}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("symbols", type=pathlib.Path, help="every symbol: hipcore/exports/<major>.txt")
    parser.add_argument("implemented", type=pathlib.Path, help="the names that the library defines")
    parser.add_argument("map", type=pathlib.Path, help="the version script to write")
    parser.add_argument("stubs", type=pathlib.Path, help="the C++ file of stubs to write")
    parser.add_argument("--namespace", required=True, help="of the library, such as tf::cpu")
    parser.add_argument("--extensions", type=pathlib.Path, help="as symbols: what it defines beyond AMD's")
    parser.add_argument("--with-rtc", action="store_true", help="the library defines the rtc kind too")
    options = parser.parse_args()

    symbols, rtc = exports.read_symbols(options.symbols)
    lines = options.implemented.read_text().splitlines()
    implemented = {line.strip() for line in lines if line.strip() and not line.startswith("#")}
    strangers = implemented - set(symbols)
    if strangers:
        sys.exit(f"{options.implemented}: not in {options.symbols}: {' '.join(sorted(strangers))}")
    missing = sorted(set(symbols) - implemented - (rtc if options.with_rtc else set()))
    if options.extensions:
        symbols.update(exports.read_symbols(options.extensions, options.extensions)[0])
    options.map.write_text(exports.version_script(symbols))
    header = STUB_HEADER.format(space=options.namespace)
    options.stubs.write_text(exports.unsupported_source(missing, header, f"{options.namespace}::unsupported"))


if __name__ == "__main__":
    main()
