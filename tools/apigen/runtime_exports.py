#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes version scripts and stubs of unimplemented functions of a runtime library of ours.

For each major it writes FOLDER/exports_<major>.map and FOLDER/unsupported_<major>.cc, for the library that stands in
for AMD's of that major; and exports_all.map and unsupported_all.cc, with the symbols of all majors, for the library
that the worker loads. The library has a function `hipError_t unsupported(const char* name)` in its namespace, which the
stubs call.
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


def read_libraries(folder):
    """{"5": (symbols, rtc), ..., "all": ...}. In "all" a symbol has the node of the newest major that has it."""
    libraries = {str(major): exports.read_symbols(folder / f"{major}.txt")
                 for major, version in exports.read_majors(folder) if version}
    everything, rtc_of_all = {}, set()
    for symbols, rtc in list(libraries.values()):
        everything.update(symbols)
        rtc_of_all |= rtc
    libraries["all"] = everything, rtc_of_all
    return libraries


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("symbols", type=pathlib.Path, help="the folder of majors and their symbols: hipcore/exports")
    parser.add_argument("implemented", type=pathlib.Path, help="the names that the library defines")
    parser.add_argument("folder", type=pathlib.Path, help="where to write")
    parser.add_argument("--namespace", required=True, help="of the library, such as tf::cpu")
    parser.add_argument("--extensions", type=pathlib.Path, help="as symbols: what it defines beyond AMD's")
    parser.add_argument("--with-rtc", action="store_true", help="the library defines the rtc kind too")
    options = parser.parse_args()

    libraries = read_libraries(options.symbols)
    lines = options.implemented.read_text().splitlines()
    implemented = {line.strip() for line in lines if line.strip() and not line.startswith("#")}
    strangers = implemented - set(libraries["all"][0])
    if strangers:
        sys.exit(f"{options.implemented}: in no list of {options.symbols}: {' '.join(sorted(strangers))}")
    header = STUB_HEADER.format(space=options.namespace)
    for name, (symbols, rtc) in libraries.items():
        missing = sorted(set(symbols) - implemented - (rtc if options.with_rtc else set()))
        if options.extensions:
            symbols = symbols | exports.read_symbols(options.extensions, options.extensions)[0]
        (options.folder / f"exports_{name}.map").write_text(exports.version_script(symbols))
        stubs = exports.unsupported_source(missing, header, f"{options.namespace}::unsupported")
        (options.folder / f"unsupported_{name}.cc").write_text(stubs)


if __name__ == "__main__":
    main()
