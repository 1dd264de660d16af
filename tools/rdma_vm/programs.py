# SPDX-License-Identifier: Apache-2.0
"""hip-remote's own programs, built on the host; they run in the guest at the same path."""
import subprocess
import sys

TARGETS = ('conformance', 'transport_bench', 'hip_bench', 'hello_hip', 'fault_client', 'hip_remote', 'hip_worker',
           'hip_cpu', 'amdhip64_5', 'hip_cpu_native', 'hip_api_test', 'rdma_verbs_test')
NEEDED = ('bin/hip-remote', 'bin/hip-worker', 'bin/hello_hip', 'bin/transport_bench', 'bin/hip_bench',
          'bin/tests/conformance', 'bin/tests/fault_client', 'bin/tests/hip_api_test', 'bin/tests/rdma_verbs_test')


def build(root, options, say):
    """The folder of the build: --build as it is, else the preset, configured and brought up to date."""
    folder = options.build.resolve() if options.build else root / 'build' / options.preset
    if options.build is None:
        # The presets' own flags: plain x86-64, which any emulator runs.
        steps = ('source "$0/tools/lib.sh"; { [ -n "${TF_SKIP_SETUP:-}" ] || step setup "$0/tools/setup"; } && '
                 'step "configure-$1" cmake -S "$ROOT" --preset "$1" && '
                 'step "build-$1" cmake --build "$ROOT/build/$1" -j "$(nproc)" --target "${@:2}"')
        say(f'building with the preset {options.preset}')
        done = subprocess.run(['bash', '-c', steps, str(root), options.preset, *TARGETS], stdout=sys.stderr)
        if done.returncode != 0:
            raise SystemExit('rdma-vm: the build failed, see above')
    missing = [name for name in NEEDED if not (folder / name).exists()]
    if missing:
        raise SystemExit(f'rdma-vm: {folder} lacks {", ".join(missing)}')
    return folder
