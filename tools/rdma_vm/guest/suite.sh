# SPDX-License-Identifier: Apache-2.0
# The tests in the guest. From config: BUILD (folder of binaries), PARTS, FILTER, API_FILTER, ROUNDS, QUICK (1: few
# figures), CONFORMANCE_LIMIT, API_LIMIT and AMD_LIMIT in seconds, AMD_TESTS (folder of tests/amd), and AMD_CASES
# (patterns).
# Everything is written into files; the host reads, judges and prints them.
source "$VM/config"
source "$VM/guest/lib.sh"
source "$VM/guest/figures.sh"

conformance() {
  local program=$BUILD/bin/tests/conformance
  record conformance_list 60 "$program" "--gtest_filter=$FILTER" --gtest_list_tests
  grep -q '^  ' "$OUT/conformance_list.txt" || { echo "+ there is no such test"; return; }
  TF_RDMA_DEVICE=rxe0 record conformance "$CONFORMANCE_LIMIT" "$program" "--gtest_filter=$FILTER" --gtest_color=no
}

# The library's own verbs: tests that meet no device are skipped, and count for nothing.
verbs() {
  record real_verbs 120 "$BUILD/bin/tests/rdma_verbs_test" '--gtest_filter=RealVerbs.*' --gtest_color=no
}

hello() {
  with_worker hello_rdma remote hello_rdma 60 rdma "$BUILD/bin/hello_hip"
  with_worker hello_tcp remote hello_tcp 60 tcp "$BUILD/bin/hello_hip"
  auto
  record info 60 "$BUILD/bin/hip-remote" info --json
}

# What auto takes, and what it says of what it does not take. The wire that is cut is not the one of tcp here.
auto() {
  progress "hello_hip over auto"
  automatic auto
  CLIENT_DEVICE=none_of_these automatic auto_no_device
  WORKER_DEVICE=none_of_these automatic auto_refused
  WORKER_AT=unix:$WORKER_SOCKET automatic auto_socket
  wire_loses 100%
  automatic auto_cut
  wire_heals
}

automatic() { # NAME
  with_worker "$1" remote_debugged "$1"
}

# Emulated it may be slow, and half of the time is for what fails.
remote_debugged() { TF_DEBUG=1 TF_CONNECT_TIMEOUT=40 remote "$1" 90 auto "$BUILD/bin/hello_hip"; }

api() {
  with_worker api remote api "$API_LIMIT" rdma \
    "$BUILD/bin/tests/hip_api_test" "--gtest_filter=$API_FILTER" --gtest_color=no
}

# AMD's own runtime at the worker, above the stand-in for HSA's: kernels are interpreted, in an emulated machine. In a
# subshell, since the parts behind it must not see its variables.
amd() (
  local cases=() words pattern program=$BUILD/bin/tests/hip_api_gfx90a
  [ -e "$program" ] || { echo "all tests skipped: this build has no kernels for gfx90a" >"$OUT/amd_api.txt"; return; }
  for pattern in "${AMD_CASES[@]}"; do cases+=(--only "$pattern"); done
  export PYTHONDONTWRITEBYTECODE=1 HSA_STANDIN_MEMORY_MIB=256
  record amd_api "$AMD_LIMIT" python3 "$AMD_TESTS/api/api_test.py" "$BUILD/lib/amd-standin" "$BUILD/bin/hip-remote" \
    "$program" rdma --rdma-devices rxe0 rxe1 --limit 180 "${cases[@]}"
  grep -q '^all tests skipped' "$OUT/amd_api.txt" && return
  progress "amd: random numbers"
  words=(python3 "$AMD_TESTS/rocrand/random_words.py" philox 1 131328 0 512 131072 131328)
  LD_LIBRARY_PATH=$BUILD/lib/amd-standin record amd_random_natively 180 "${words[@]}"
  # TF_DEBUG: the client says over which transport it is connected.
  RUNTIME=amd LD_LIBRARY_PATH=$BUILD/lib/amd-standin with_worker amd_random amd_random_remotely "${words[@]}"
)

amd_random_remotely() { TF_DEBUG=1 LD_LIBRARY_PATH='' remote amd_random 180 rdma "$@"; }

# Packets that came before one that had been sent before them, at both devices.
overtaken() {
  awk '{ sum += $1 } END { print sum }' /sys/class/infiniband/rxe{0,1}/ports/1/hw_counters/out_of_seq_request
}

hip_bench_rows() { # NAME TRANSPORT
  local metric
  for metric in sync launch h2d,d2h; do
    remote "$1/$metric" 120 "$2" "$BUILD/bin/hip_bench" --json --quick --metric "$metric" \
      --sizes 4096,1048576,16777216
  done
}

hip_bench() {
  local transport before
  before=$(overtaken)
  for transport in rdma tcp; do
    progress "hip_bench over $transport"
    with_worker "hip_bench_$transport" hip_bench_rows "hip_bench_$transport" "$transport"
  done
  echo $(($(overtaken) - before)) >"$OUT/overtaken.txt"
}

for part in $PARTS; do
  progress "$part"
  "$part"
done
exit 0
