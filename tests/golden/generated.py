#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what the generator makes of a few representative functions with the text kept beside this file.

usage: generated.py            exits 1 and prints the difference when a text is not the expected one
       generated.py --update   writes the expected texts anew; read the difference before committing it
"""
import difflib
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools" / "apigen"))

import apigen  # noqa: E402

# Expected file -> (generated file, the functions in it).
CASES = {
    "post_with_handles.txt": [("proxy/gen/client_event.cc", "hipEventRecord"),
                              ("worker/gen/handlers_event.cc", "handle_event_record")],
    "create.txt": [("proxy/gen/client_stream.cc", "hipStreamCreateWithPriority"),
                   ("worker/gen/handlers_stream.cc", "handle_stream_create_with_priority")],
    "create_with_array.txt": [("proxy/gen/client_stream.cc", "hipExtStreamCreateWithCUMask"),
                              ("worker/gen/handlers_stream.cc", "handle_ext_stream_create_with_cumask")],
    "call_with_out.txt": [("proxy/gen/client_event.cc", "hipEventElapsedTime"),
                          ("worker/gen/handlers_event.cc", "handle_event_elapsed_time")],
    "cached.txt": [("proxy/gen/client_stream.cc", "hipStreamGetFlags"),
                   ("proxy/gen/client_pool.cc", "hipDeviceGetDefaultMemPool")],
    "custom.txt": [("proxy/gen/client_stream.cc", "hipStreamSynchronize"),
                   ("worker/gen/handlers_stream.cc", "handle_synchronize_stream")],
    "alias_spt.txt": [("proxy/gen/client_stream.cc", "hipStreamQuery_spt"),
                      ("proxy/gen/client_memory.cc", "hipMemcpy2D_spt")],
    "device_range.txt": [("proxy/gen/client_stream.cc", "hipStreamWaitValue32"),
                         ("worker/gen/handlers_stream.cc", "handle_stream_wait_value32")],
    "sends.txt": [("proxy/gen/client_memory.cc", "hipMemset2DAsync")],
}


def function_text(source, name):
    """The definition of one function. Line numbers of the description are no part of what is compared."""
    start = rf"^(?:extern|void|hipError_t)[^\n;]*\b{name}\([^;]*?\) (?:try )?\{{\n"
    match = re.search(start + r".*?^\}\n", source, re.S | re.M)
    return match.group() if match else f"{name}: not generated\n"


def generated(parts, outputs):
    return "\n".join(f"== {path}\n{function_text(outputs[path], name)}" for path, name in parts)


def main():
    outputs = apigen.generate(ROOT / "proxy/api")
    wrong = 0
    for name, parts in CASES.items():
        path, made = HERE / name, generated(parts, outputs)
        if sys.argv[1:] == ["--update"]:
            path.write_text(made)
            continue
        expected = path.read_text() if path.exists() else ""
        if made != expected or "not generated" in made:
            wrong += 1
            sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), made.splitlines(True),
                                                       f"tests/golden/{name}", f"generated {name}"))
    if wrong:
        print(f"{wrong} of {len(CASES)} texts differ; if they are meant to: tests/golden/generated.py --update")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
