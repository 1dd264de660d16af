# SPDX-License-Identifier: Apache-2.0
# Other people's figures and ours on the same two devices, one after the other in each round, so that a host that gets
# slower for a while does so for all of them. Sourced by suite.sh.
TRIP_BYTES=64
BULK_BYTES=1048576
LARGE_BYTES=16777216
port=19000

next_port() { port=$((port + 1)); }

# How many packets each device has sent.
packets() { cat /sys/class/infiniband/rxe{0,1}/ports/1/hw_counters/sent_pkts 2>/dev/null | tr '\n' ' '; }

# on_the_wire NAME COMMAND...: what measures between the two devices. A device hands to itself what it finds to be its
# own, without the wire, and that is quicker: NAME failed where either sent nothing.
on_the_wire() {
  local name=$1 before after
  shift
  read -ra before < <(packets)
  "$@"
  read -ra after < <(packets)
  [ "${after[0]:-0}" -gt "${before[0]:-0}" ] && [ "${after[1]:-0}" -gt "${before[1]:-0}" ] ||
    broken "$name" "not both devices sent something" "$OUT/$name.err"
}

# perftest NAME TOOL BYTES COUNT: GID 1 is the IPv4 address. -F: the frequency of an emulated processor is no news.
perftest() {
  local words=("$2" -F -x 1 -s "$3" -n "$4")
  next_port
  on_the_wire "$1" pair "$1" 60 "$port" "${words[@]}" -d rxe0 -p "$port" -- "${words[@]}" -d rxe1 -p "$port" "$NEAR"
}

# ucx NAME TEST BYTES COUNT: rc_verbs with ud_verbs to find the peer by, which needs GID 0 (the IPv6 one) here.
ucx() {
  local common=(env UCX_TLS=rc_v,self UCX_IB_GID_INDEX=0 UCX_LOG_LEVEL=error)
  next_port
  on_the_wire "$1" pair "$1" 60 "$port" "${common[@]}" UCX_NET_DEVICES=rxe0:1 ucx_perftest -p "$port" -- \
    "${common[@]}" UCX_NET_DEVICES=rxe1:1 ucx_perftest -p "$port" "$NEAR" -t "$2" -s "$3" -n "$4" -w 10 -f -v
}

ours() { # NAME PARTS BULK-SIZES [OPTION]
  TF_RDMA_DEVICE=rxe1 on_the_wire "$1" record "$1" 120 "$BUILD/bin/transport_bench" --json -t rdma \
    --placement "${PLACEMENT:-pinned}" --only "$2" --bulk-sizes "$3" --peer-env TF_RDMA_DEVICE=rxe0 ${4:+"$4"}
}

# Twice, and the second run counts: right behind another program all trips of a run take up to 4 us longer.
warm() {
  "$@"
  "$@"
}

few_figures() { # FOLDER
  perftest "$1/ib_write_lat" ib_write_lat $TRIP_BYTES 1000
  ours "$1/ours" round_trip,bulk $BULK_BYTES --quick
  perftest "$1/ib_write_bw" ib_write_bw $BULK_BYTES 40
  perftest "$1/ib_read_bw" ib_read_bw $BULK_BYTES 40
}

all_figures() { # FOLDER
  warm perftest "$1/ib_write_lat" ib_write_lat $TRIP_BYTES 1000
  warm ours "$1/ours_trip" round_trip $BULK_BYTES --quick
  warm ucx "$1/ucx_tag_lat" tag_lat $TRIP_BYTES 1000
  warm perftest "$1/ib_send_lat" ib_send_lat $TRIP_BYTES 1000
  perftest "$1/ib_write_bw" ib_write_bw $BULK_BYTES 60
  ours "$1/ours_bulk" bulk $BULK_BYTES,$LARGE_BYTES
  perftest "$1/ib_read_bw" ib_read_bw $BULK_BYTES 60
  ucx "$1/ucx_put_bw" ucp_put_bw $BULK_BYTES 60
  ucx "$1/ucx_get" ucp_get $BULK_BYTES 60
  ucx "$1/ucx_am_bw" ucp_am_bw $BULK_BYTES 60
  ucx "$1/ucx_put_bw_large" ucp_put_bw $LARGE_BYTES 6
  ucx "$1/ucx_get_large" ucp_get $LARGE_BYTES 6
  local PLACEMENT=unpinned
  ours "$1/ours_unpinned" bulk $BULK_BYTES
  perftest "$1/ib_read_bw_unpinned" ib_read_bw $BULK_BYTES 60
  perftest "$1/ib_write_bw_unpinned" ib_write_bw $BULK_BYTES 60
  ucx "$1/ucx_get_unpinned" ucp_get $BULK_BYTES 60
  ucx "$1/ucx_put_bw_unpinned" ucp_put_bw $BULK_BYTES 60
}

figures() {
  local round
  for ((round = 1; round <= ROUNDS; round++)); do
    progress "figures, round $round of $ROUNDS"
    if [ "$QUICK" = 1 ]; then few_figures "figures/$round"; else all_figures "figures/$round"; fi
  done
}
