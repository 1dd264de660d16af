# SPDX-License-Identifier: Apache-2.0
# Two machines: a worker in the near one, a program in the far one, each with a key. Each has one device, rxe0. From
# config: BUILD, ROLE. The folder keys holds what keygen has made: worker, laptop, and which keys the worker knows.
source "$VM/config"
source "$VM/guest/lib.sh"
VERBS_PORT=18600
KEYS=/run/keys # files that are root's alone, as hip-remote wants them

take_keys() {
  mkdir -m 700 "$KEYS"
  install -m 600 -o 0 -g 0 "$VM"/keys/* "$KEYS"
}

serve_verbs() { # in the background; before the worker, by which the far machine knows that all is there
  timeout 120 ibv_rc_pingpong -d rxe0 -g 1 -p "$VERBS_PORT" -n 100 >"$OUT/verbs.txt" 2>&1 &
  verbs=$!
  wait_listening "$VERBS_PORT" 20 "$verbs" || broken serve "ibv_rc_pingpong does not listen" "$OUT/verbs.txt"
}

wait_for_far() { # until the host says that the far machine has ended
  local tick
  for ((tick = 0; tick < 2400; tick++)); do
    [ -e "$VM/stop" ] && return
    sleep 0.1
  done
  broken serve "the far machine took too long" "$OUT/serve.worker"
}

reachable() { timeout 2 bash -c ": </dev/tcp/$NEAR/$CONTROL_PORT" 2>/dev/null; }

# as_laptop NAME SECONDS TRANSPORT LEVEL: hello_hip with the laptop's key.
as_laptop() {
  TF_DEBUG=1 TF_KEY_FILE=$KEYS/laptop TF_KNOWN_WORKERS=$KEYS/known TF_SECURITY=$4 remote "$1" "$2" "$3" \
    "$BUILD/bin/hello_hip"
}

take_keys
if [ "$ROLE" = near ]; then
  WORKER_OPTIONS=(--listen "$NEAR" --key-file "$KEYS/worker" --authorized-keys "$KEYS/authorized"
                  --security auth --rdma-in-clear)
  echo 0 >"$OUT/serve.status"
  serve_verbs
  with_worker serve wait_for_far
  end "$verbs"
  exit 0
fi
for ((try = 0; try < 60; try++)); do
  reachable && break
  sleep 0.5
done
progress "ibv_rc_pingpong"
record verbs 60 ibv_rc_pingpong -d rxe0 -g 1 -p "$VERBS_PORT" -n 100 "$NEAR"
CLIENT_DEVICE=rxe0 WORKER_AT=$NEAR:$CONTROL_PORT
progress "hello_hip over tcp, encrypted"
as_laptop hello_tcp 60 tcp encrypt
progress "hello_hip over rdma, both sides proven"
as_laptop hello_rdma 60 rdma auth
progress "hello_hip over auto"
as_laptop auto 60 auto auth
as_laptop auto_encrypt 60 auto encrypt
progress "what is refused"
as_laptop rdma_encrypt 60 rdma encrypt
TF_KEY_FILE='' remote no_key 60 tcp "$BUILD/bin/hello_hip"
exit 0
