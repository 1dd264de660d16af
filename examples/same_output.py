# SPDX-License-Identifier: Apache-2.0
"""Runs a program natively and remotely and compares what it prints, apart from times.

usage: same_output.py HIP_REMOTE TRANSPORT PROGRAM
The program has no sanitizer in it (hipcc-cpu and the ordinary compiler make it as a user would), but the proxy may
have: then LD_PRELOAD is left out, and the search path alone finds the proxy.
"""
import re
import subprocess
import sys

TIMEOUT_S = 50
TIME = re.compile(r"\d+(\.\d+)? ?(ns|us|ms|s|GB/s|MB/s)\b")


def output(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_S)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}")
    return TIME.sub("<time>", done.stdout)


def main():
    hip_remote, transport, program = sys.argv[1:4]
    native = output([program])
    remote = output([hip_remote, "run", "--local", "--runtime", "cpu", "--transport", transport, "--no-preload",
                     "--", program])
    if "PASSED" not in native:
        sys.exit(f"the native run did not pass:\n{native}")
    if native != remote:
        sys.exit(f"natively:\n{native}\nover {transport}:\n{remote}")
    print(f"the same natively and over {transport}:\n{native}")


if __name__ == "__main__":
    main()
