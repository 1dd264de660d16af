# SPDX-License-Identifier: Apache-2.0
# What the guest's scripts share. Every wait has a limit; processes are ended by their own id.
OUT=$VM/out
NEAR=10.9.0.1 # the address of rxe0, where workers and servers run
CONTROL_PORT=18515
WORKER_SOCKET=/run/hip-worker.sock

progress() { echo "+ $*"; }

listening() { # PORT: whether somebody listens on it, over either version of IP
  cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -qE "^ *[0-9]+: [0-9A-F]+:$(printf %04X "$1") 0+:0000 0A "
}

wait_listening() { # PORT SECONDS PID: until PORT is listened on, or PID is gone
  local tick
  for ((tick = 0; tick < $2 * 20; tick++)); do
    listening "$1" && return 0
    kill -0 "$3" 2>/dev/null || return 1
    sleep 0.05
  done
  return 1
}

end() { # PID: in order, and after three seconds by force
  local tick
  kill -TERM "$1" 2>/dev/null || return 0
  for ((tick = 0; tick < 60; tick++)); do
    kill -0 "$1" 2>/dev/null || return 0
    sleep 0.05
  done
  kill -KILL "$1" 2>/dev/null
}

# record NAME SECONDS COMMAND...: output in NAME.txt, exit status in NAME.status (124: the limit).
record() {
  local name=$1 limit=$2
  shift 2
  mkdir -p "$(dirname "$OUT/$name")"
  timeout -k 5 "$limit" "$@" >"$OUT/$name.txt" 2>"$OUT/$name.err"
  echo $? >"$OUT/$name.status"
}

# broken NAME WHY LOG: that NAME failed, with the last words of what it is about.
broken() {
  mkdir -p "$(dirname "$OUT/$1")"
  echo "$2: $(tail -n 2 "$3" 2>/dev/null | tr '\n' ' ')" >>"$OUT/$1.err"
  echo 1 >"$OUT/$1.status"
}

# What crosses the wire, each way: nothing of so much of it, as in 100%; all of it again.
wire_loses() {
  local interface
  for interface in v0 v1; do tc qdisc replace dev "$interface" root netem loss "$1"; done
}
wire_heals() {
  local interface
  for interface in v0 v1; do tc qdisc del dev "$interface" root; done
}

# pair NAME SECONDS PORT SERVER-COMMAND... -- CLIENT-COMMAND...: a server on the first processor, recorded client on the
# last, as transport_bench places its ends; with PLACEMENT=unpinned where the kernel puts them. The client starts when
# the server listens on PORT.
pair() {
  local name=$1 limit=$2 port=$3 server=() pid first=(taskset -c 0) last=(taskset -c "$(($(nproc) - 1))")
  [ "${PLACEMENT:-pinned}" = pinned ] || { first=() last=(); }
  shift 3
  while [ "$1" != -- ]; do server+=("$1"); shift; done
  shift
  mkdir -p "$(dirname "$OUT/$name")"
  timeout -k 5 "$limit" "${first[@]}" "${server[@]}" >"$OUT/$name.server" 2>&1 &
  pid=$!
  if wait_listening "$port" 20 "$pid"; then
    record "$name" "$limit" "${last[@]}" "$@"
  else
    broken "$name" "the server did not listen" "$OUT/$name.server"
  fi
  end "$pid"
  wait "$pid" 2>/dev/null
}

# with_worker NAME COMMAND...: runs COMMAND while a worker of the CPU runtime (or RUNTIME), on rxe0 (or WORKER_DEVICE),
# listens on CONTROL_PORT of loopback (or where WORKER_OPTIONS say) and WORKER_SOCKET. What it says is in NAME.worker.
# It failed when it ends before it is told to.
with_worker() {
  local name=$1 pid
  shift
  TF_RDMA_DEVICE=${WORKER_DEVICE:-rxe0} HIP_CPU_MEMORY_BYTES=$((256 << 20)) \
    "$BUILD/bin/hip-worker" --runtime "${RUNTIME:-cpu}" --port "$CONTROL_PORT" --socket "$WORKER_SOCKET" -v \
    "${WORKER_OPTIONS[@]}" >"$OUT/$name.worker" 2>&1 &
  pid=$!
  if wait_listening "$CONTROL_PORT" 30 "$pid"; then
    "$@"
    kill -0 "$pid" 2>/dev/null || broken "$name" "the worker ended" "$OUT/$name.worker"
  else
    broken "$name" "the worker did not start" "$OUT/$name.worker"
  fi
  end "$pid"
  wait "$pid" 2>/dev/null
}

# remote NAME SECONDS TRANSPORT PROGRAM...: a HIP program whose end of the wire is rxe1.
remote() {
  local name=$1 limit=$2 transport=$3
  shift 3
  TF_RDMA_DEVICE=${CLIENT_DEVICE:-rxe1} record "$name" "$limit" \
    "$BUILD/bin/hip-remote" run --worker "${WORKER_AT:-127.0.0.1:$CONTROL_PORT}" --transport "$transport" -- "$@"
}
