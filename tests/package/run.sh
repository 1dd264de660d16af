#!/usr/bin/env bash
# Installs the build tree into a private prefix; builds and runs an outside project against it with CMake and with
# pkg-config; runs a HIP program of its own with the installed tools, remotely and natively.
# Usage: run.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
source_dir=$1
build_dir=$2
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$build_dir" --prefix "$prefix/usr" >"$prefix/install.log"
cmake -S "$source_dir/tests/package" -B "$prefix/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix/usr" \
  >"$prefix/configure.log"
cmake --build "$prefix/build"
"$prefix/build/uses_transport"
pc_dir=$(dirname "$(find "$prefix/usr" -name hip-remote.pc)")
export PKG_CONFIG_PATH=$pc_dir
# shellcheck disable=SC2046
c++ "$source_dir/tests/package/uses_transport.cc" -o "$prefix/with_pkg_config" \
  $(pkg-config --define-variable=prefix="$prefix/usr" --cflags --libs hip-remote)
"$prefix/with_pkg_config"
echo "installed package: works with CMake and pkg-config"

# What the layout promises (cmake/TfInstall.cmake); libdir is wherever this configuration puts it.
lib_dir=$(dirname "$(find "$prefix/usr" -name libhip_cpu.so)")
for file in "$lib_dir"/libamdhip64.so{,.5} "$lib_dir"/libhip_{cpu,cuda}.so \
            "$lib_dir"/native{,-cuda}/libamdhip64.so{,.5} \
            "$lib_dir"/native/libhiprtc.so{,.5} "$prefix"/usr/bin/{hip-remote,hip-worker,hip_bench,transport_bench} \
            "$prefix"/usr/bin/hipcc-cpu "$prefix"/usr/share/hip-remote/hipcc_cpu/driver.py \
            "$prefix"/usr/bin/hip_load "$prefix"/usr/share/hip-remote/benchmarks/{compare,peers}/run \
            "$prefix"/usr/share/bash-completion/completions/{hip-remote,hip-worker,hipcc-cpu} \
            "$prefix"/usr/share/zsh/site-functions/_hip-remote \
            "$prefix"/usr/share/fish/vendor_completions.d/hip-remote.fish \
            "$prefix"/usr/share/man/man1/{hip-remote,hip-worker,hipcc-cpu}.1 \
            "$prefix"/usr/share/man/man7/hip-remote-environment.7; do
  [ -e "$file" ] || { echo "not installed: ${file#"$prefix"}"; exit 1; }
done

# A copy, whose own search path leads nowhere: what it runs on can only be the installed libraries.
[ -x "$build_dir/bin/hello_hip" ] || { echo "hello_hip is not in this build: not run"; exit 0; }
mkdir "$prefix/program"
cp "$build_dir/bin/hello_hip" "$prefix/program/"
unset LD_LIBRARY_PATH LD_PRELOAD TF_TRANSPORT TF_WORKER_HOST TF_WORKER_PORT TF_WORKER_SOCKET
if "$prefix/program/hello_hip" >"$prefix/alone.log" 2>&1; then
  echo "hello_hip runs without the installed libraries: this test would prove nothing"
  exit 1
fi
passed() {
  grep -q "PASSED: all" "$1" || { echo "hello_hip failed:"; cat "$1"; exit 1; }
}
"$prefix/usr/bin/hip-remote" run --local --runtime cpu -t shm -- "$prefix/program/hello_hip" >"$prefix/shm.log" 2>&1
passed "$prefix/shm.log"
"$prefix/usr/bin/hip-remote" run --native -- "$prefix/program/hello_hip" >"$prefix/native.log" 2>&1
passed "$prefix/native.log"
# Remotely, the installed proxy and no other library carries the name.
"$prefix/usr/bin/hip-remote" run --local --runtime cpu -t shm -- bash -c 'cat /proc/self/maps' >"$prefix/maps.log"
grep -q "$lib_dir/libamdhip64.so.5" "$prefix/maps.log" || { echo "not the installed proxy"; exit 1; }
echo "installed tools: hello_hip runs remotely over shm and natively"
