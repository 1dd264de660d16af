#!/usr/bin/env bash
# Installs the build tree, moves the prefix elsewhere, and builds a HIP project of CMake with what is there: by
# hipcc-cpu as the C++ compiler, by other C++ compilers with hip::device, and as CMake's language HIP. Every program
# runs natively and remotely.
# Usage: hip_project.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
source_dir=$1
build_dir=$2
work=$(mktemp -d /tmp/hip-project-XXXXXX)  # not a name that CMake takes for AMD's compiler
trap 'rm -rf "$work"' EXIT
unset LD_LIBRARY_PATH LD_PRELOAD TF_TRANSPORT TF_WORKER_HOST TF_WORKER_PORT TF_WORKER_SOCKET HIPCC_CPU_CLANG CXX HIPCXX
unset CMAKE_PREFIX_PATH CMAKE_CXX_COMPILER_LAUNCHER
cmake --install "$build_dir" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/moved"
prefix=$work/moved
cp -r "$source_dir/tests/package/hip_project" "$work/project"
root=$(dirname "$(dirname "$(find "$prefix" -path '*/rocm/bin/hipcc')")")

# Usage: way NAME LANGUAGE_OF_PLAIN_CC CMAKE_OPTION...   With AGAIN=yes also: what a changed header makes again.
AGAIN=
way() {
  local name=$1 plain=$2
  shift 2
  cmake -S "$work/project" -B "$work/$name" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" "$@" \
    >"$work/$name.log" 2>&1 || { echo "$name: not configured"; cat "$work/$name.log"; exit 1; }
  cmake --build "$work/$name" >>"$work/$name.log" 2>&1 || { echo "$name: not built"; cat "$work/$name.log"; exit 1; }
  local run
  for run in "run --native" "run --local --runtime cpu -t shm"; do
    # shellcheck disable=SC2086
    "$prefix/bin/hip-remote" $run -- "$work/$name/program" >"$work/out" 2>&1 || true
    grep -q "^right: 1000 numbers; plain.cc is $plain\$" "$work/out" || {
      echo "$name, hip-remote $run:"; cat "$work/out"; exit 1; }
  done
  # The libraries it was linked with are ours, in their new place.
  ldd "$work/$name/program" >"$work/out"
  local library
  for library in libamdhip64 libhiprtc; do
    grep -q "=> $prefix/.*$library.so" "$work/out" || {
      echo "$name: linked with another $library"; cat "$work/out"; exit 1; }
  done
  echo "built and run: $name"
  [ -n "$AGAIN" ] || return 0
  # Nothing is made again, and a header makes its sources again.
  cmake --build "$work/$name" >"$work/out"
  grep -q "no work to do" "$work/out" || { echo "$name: built again for nothing"; exit 1; }
  touch "$work/project/kernels.h"
  cmake --build "$work/$name" -v >"$work/out"
  [ "$(grep -c -e " -c .*/\(main\|kernels\)\.cc" "$work/out")" = 2 ] || {
    echo "$name: a changed header does not make its sources again"; cat "$work/out"; exit 1; }
}

AGAIN=yes way hipcc-as-cxx HIP -DWAY=cxx -DCMAKE_CXX_COMPILER="$prefix/bin/hipcc-cpu"
way hipcc-by-its-name HIP -DWAY=cxx -DCMAKE_CXX_COMPILER="$root/bin/hipcc"
way gcc-with-hip-device C++ -DWAY=cxx -DCMAKE_CXX_COMPILER=g++
clang=$(command -v clang++ || command -v clang++-14)
AGAIN=yes way clang-with-hip-device C++ -DWAY=cxx -DCMAKE_CXX_COMPILER="$clang"
AGAIN=yes way language-hip C++ -DWAY=language -DCMAKE_HIP_COMPILER="$root/bin/clang++"
PATH=$root/bin:$PATH way language-hip-found-on-path C++ -DWAY=language

[ "$("$root/bin/hipconfig" --rocmpath)" = "$(readlink -f "$root")" ] || { echo "hipconfig: another root"; exit 1; }
[[ $("$root/bin/hipconfig" --version) =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "hipconfig: no version"; exit 1; }

# Headers that hip-remote was built with, if not the system's, come before those.
mkdir -p "$work/headers/hip"
touch "$work/headers/hip/hip_runtime.h"
echo "$work/headers" >"$(find "$prefix" -type d -path '*/hip-remote/hipcc_cpu')/hip_include"
cmake -S "$work/project" -B "$work/noted" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DWAY=cxx \
  -DCMAKE_CXX_COMPILER=g++ >"$work/noted.log" 2>&1 || { cat "$work/noted.log"; exit 1; }
grep -qx "hip_INCLUDE_DIR:PATH=$work/headers" "$work/noted/CMakeCache.txt" || {
  echo "noted headers are not taken:"; grep hip_INCLUDE_DIR "$work/noted/CMakeCache.txt"; exit 1; }

echo "a moved prefix: six ways to build a HIP project"
