# Shared by tools/setup, tools/demo, tools/test and .ci/run. Sourced, not run.
# Prints what is being done and how long it took; output of long steps goes to a log that is shown on failure.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
LOGS="$ROOT/build/logs"
mkdir -p "$LOGS"
STEP_STARTED=$SECONDS

say() { printf '%s\n' "$*"; }
headline() { printf '\n== %s ==\n' "$*"; }

# step NAME COMMAND...: runs the command with its output in build/logs/NAME.log; a dot every 10 s, and every
# minute how far it is, where the log says so ("[130/414] ...").
step() {
  local name=$1 log started=$SECONDS pid status=0 reached
  shift
  log="$LOGS/$name.log"
  printf '  %-28s ' "$name"
  "$@" >"$log" 2>&1 </dev/null &
  pid=$!
  local ticks=0
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.5
    ticks=$((ticks + 1))
    [ $((ticks % 20)) -eq 0 ] && printf '.'
    [ $((ticks % 120)) -eq 0 ] || continue
    reached=$(tail -n 3 "$log" | grep -oE '^\[[0-9]+/[0-9]+\]' | tail -n 1)
    [ -n "$reached" ] && printf '%s' "$reached"
  done
  wait "$pid" || status=$?
  if [ "$status" -eq 0 ]; then
    printf ' done in %d s\n' $((SECONDS - started))
  else
    printf ' FAILED (exit %d) after %d s; ' "$status" $((SECONDS - started))
    printf 'the end of build/logs/%s.log:\n' "$name"
    tail -n 60 "$log" | sed 's/^/    /'
  fi
  return "$status"
}

# build PRESET [TARGET]: configures one preset and builds everything, or the target.
build() {
  step "configure-$1" cmake -S "$ROOT" --preset "$1" || return 1
  step "build-$1" cmake --build "$ROOT/build/$1" -j "$(nproc)" --target "${2:-all}"
}
