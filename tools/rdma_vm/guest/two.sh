# SPDX-License-Identifier: Apache-2.0
# Two machines: a worker in the near one, a program in the far one. Each has one device, rxe0. From config: BUILD, ROLE.
# The worker has no keys and listens on loopback only, and without a key the program connects to its own host only. So a
# relay.py at either end carries the connections over the wire; what RDMA carries goes from device to device.
source "$VM/config"
source "$VM/guest/lib.sh"
RELAY_PORT=18516

VERBS_PORT=18600

serve() { # until the host says that the far machine has ended
  local relay verbs tick
  python3 "$VM/guest/relay.py" "$NEAR" "$RELAY_PORT" "$CONTROL_PORT" >"$OUT/relay.txt" 2>&1 &
  relay=$!
  timeout 120 ibv_rc_pingpong -d rxe0 -g 1 -p "$VERBS_PORT" -n 100 >"$OUT/verbs.txt" 2>&1 &
  verbs=$!
  echo 0 >"$OUT/serve.status"
  wait_listening "$VERBS_PORT" 20 "$verbs" || broken serve "ibv_rc_pingpong does not listen" "$OUT/verbs.txt"
  wait_listening "$RELAY_PORT" 20 "$relay" || broken serve "the relay does not listen" "$OUT/relay.txt"
  for ((tick = 0; tick < 2400; tick++)); do
    [ -e "$VM/stop" ] && break
    sleep 0.1
  done
  [ -e "$VM/stop" ] || broken serve "the far machine took too long" "$OUT/relay.txt"
  if [ "$(cat "$OUT/serve.status")" = 0 ] && ! kill -0 "$relay" 2>/dev/null; then
    broken serve "the relay ended" "$OUT/relay.txt"
  fi
  end "$relay"
  end "$verbs"
}

reachable() { timeout 2 bash -c ": </dev/tcp/$NEAR/$RELAY_PORT" 2>/dev/null; }

if [ "$ROLE" = near ]; then
  with_worker serve serve
  exit 0
fi
for ((try = 0; try < 60; try++)); do
  reachable && break
  sleep 0.5
done
progress "ibv_rc_pingpong"
record verbs 60 ibv_rc_pingpong -d rxe0 -g 1 -p "$VERBS_PORT" -n 100 "$NEAR"
python3 "$VM/guest/relay.py" 127.0.0.1 "$RELAY_PORT" "$RELAY_PORT" "$NEAR" >"$OUT/far_relay.txt" 2>&1 &
far_relay=$!
wait_listening "$RELAY_PORT" 20 "$far_relay" || broken verbs "the far relay does not listen" "$OUT/far_relay.txt"
CLIENT_DEVICE=rxe0 WORKER_AT=127.0.0.1:$RELAY_PORT
for transport in tcp rdma; do
  progress "hello_hip over $transport"
  remote "hello_$transport" 60 "$transport" "$BUILD/bin/hello_hip"
done
progress "hello_hip over auto"
TF_DEBUG=1 remote auto 60 auto "$BUILD/bin/hello_hip"
end "$far_relay"
exit 0
