#!/usr/bin/env bash
# Installs the build tree into a private prefix, then builds and runs an outside project against it with
# CMake and with pkg-config. Usage: run.sh SOURCE_DIR BUILD_DIR
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
