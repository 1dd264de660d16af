#!/usr/bin/env bash
# Installs the build tree, stripped, into a private prefix and moves that elsewhere; builds and runs an outside project
# against it with CMake and with pkg-config, compiles every header by itself; runs a HIP program of its own with the
# installed tools, remotely and natively.
# Usage: run.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
source_dir=$1
build_dir=$2
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$build_dir" --prefix "$prefix/first/usr" --strip >"$prefix/install.log"
mkdir "$prefix/moved"
mv "$prefix/first/usr" "$prefix/moved/"
usr=$prefix/moved/usr
texts=(--include='*.pc' --include='*.cmake' --include='*.py')
if grep -rIl "${texts[@]}" -e "$prefix/first" -e "$source_dir" -e "$build_dir" "$usr"; then
  echo "these name the folder that they were built in or installed to first"
  exit 1
fi
while read -r file; do
  sections=$(readelf --section-headers --wide "$file" 2>/dev/null) || continue
  if grep -qE ' \.debug_info| \.gnu\.lto_' <<<"$sections"; then
    echo "not stripped: ${file#"$usr"/}"
    exit 1
  fi
  if readelf --dynamic --wide "$file" 2>/dev/null | grep -E 'R(UN)?PATH' | grep -vF '[$ORIGIN'; then
    echo "finds libraries by a path that is not its own: ${file#"$usr"/}"
    exit 1
  fi
done < <(find "$usr" -type f \( -path '*/bin/*' -o -name '*.so*' -o -name '*.a' \))
echo "installed package: $(du -sm "$usr" | cut -f1) MB, stripped, in a prefix that was moved"

cmake -S "$source_dir/tests/package" -B "$prefix/build" -G Ninja -DCMAKE_PREFIX_PATH="$usr" >"$prefix/configure.log"
cmake --build "$prefix/build"
"$prefix/build/uses_transport"
PKG_CONFIG_PATH=$(dirname "$(find "$usr" -name hip-remote.pc)")
export PKG_CONFIG_PATH
read -ra flags <<<"$(pkg-config --cflags --libs hip-remote)"
c++ "$source_dir/tests/package/uses_transport.cc" -o "$prefix/with_pkg_config" "${flags[@]}"
"$prefix/with_pkg_config"
# Every installed header, as an outsider includes it.
read -ra flags <<<"$(pkg-config --cflags hip-remote)"
(cd "$usr/include/hip-remote" && find . -name '*.h' | sed 's,^\./\(.*\),#include "\1",') >"$prefix/headers.cc"
folders="transport transport/base transport/net"
for name in $(grep '^[^#]' "$source_dir/transport/factory/transports.txt"); do
  [ ! -e "$build_dir/lib/libtf_$name.a" ] || folders="$folders $name"
done
for folder in $folders; do
  grep -q "\"$folder/" "$prefix/headers.cc" || { echo "no headers of $folder/ are installed"; exit 1; }
done
c++ -fsyntax-only "${flags[@]}" "$prefix/headers.cc"
echo "installed package: works with CMake and pkg-config"

# What the layout promises (cmake/TfInstall.cmake); libdir is wherever this configuration puts it.
lib_dir=$(dirname "$(find "$usr" -name libhip_cpu.so)")
for file in "$lib_dir"/libamdhip64.so{,.5,.6,.7} "$lib_dir"/libhip_{cpu,cuda}.so \
            "$lib_dir"/native{,-cuda}/libamdhip64.so{,.5,.6,.7} \
            "$lib_dir"/librocm_smi64.so{,.1,.5,.6,.7} "$lib_dir"/libhip_remote_{redirect,driver}.so \
            "$lib_dir"/native/libhiprtc.so{,.5,.6,.7} \
            "$usr"/bin/{hip-remote,hip-worker,smi-remote,hip_bench,transport_bench} \
            "$usr"/bin/hipcc-cpu "$usr"/share/hip-remote/hipcc_cpu/driver.py \
            "$usr"/bin/hip_load "$usr"/share/hip-remote/benchmarks/{compare,peers}/run \
            "$usr"/share/bash-completion/completions/{hip-remote,hip-worker,hipcc-cpu,smi-remote} \
            "$usr"/share/zsh/site-functions/_hip-remote \
            "$usr"/share/fish/vendor_completions.d/hip-remote.fish \
            "$usr"/share/man/man1/{hip-remote,hip-worker,hipcc-cpu,smi-remote}.1 \
            "$usr"/share/man/man7/hip-remote-environment.7; do
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
"$usr/bin/hip-remote" run --local --runtime cpu -t shm -- "$prefix/program/hello_hip" >"$prefix/shm.log" 2>&1
passed "$prefix/shm.log"
"$usr/bin/hip-remote" run --native -- "$prefix/program/hello_hip" >"$prefix/native.log" 2>&1
passed "$prefix/native.log"
# Remotely, the installed proxy and no other library carries the name.
for major in 5 6 7; do
  "$usr/bin/hip-remote" run --local --runtime cpu -t shm --preload $major -- bash -c 'cat /proc/self/maps' \
    >"$prefix/maps.log"
  grep -q "$lib_dir/libamdhip64.so.$major" "$prefix/maps.log" || { echo "not the installed proxy"; exit 1; }
done
echo "installed tools: hello_hip runs remotely over shm and natively"
