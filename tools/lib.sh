# Shared by tools/setup, tools/demo, tools/test and .ci/run. Sourced, not run.
# Prints what is being done and how long it took; output of long steps goes to a log that is shown on failure.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
LOGS="$ROOT/build/logs"
mkdir -p "$LOGS"
STEP_STARTED=$SECONDS
# Debian's Python, whose modules tools/setup installs. The shims of version managers (pyenv, asdf) take half a second of
# processor time for each start of it, and a build has hundreds.
PATH=$(tr ':' '\n' <<<"$PATH" | grep -v '/shims/*$' | paste -sd:)
export PATH

say() { printf '%s\n' "$*"; }
headline() { printf '\n== %s ==\n' "$*"; }

# doing LOG: the last line of a log, as short as it says what is being done: "[57/106] worker/session/session.cc",
# "Unpacking libllvm14:amd64".
doing() {
  tail -c 2000 "$1" 2>/dev/null | tr '\r' '\n' | grep -v '^ *$' | tail -n 1 | sed -E '
    s/Building (C|CXX) object //; s,CMakeFiles/[^/]*\.dir/,,; s/\.o$//; s,Unity/unity_([0-9]+)_cxx\.cxx,part \1,
    s/Linking CXX (static library|shared library|executable) /link /
    s/^(Unpacking|Setting up|Selecting previously unselected package) ([^ ]+).*/\1 \2/' | cut -c1-90
}

# step NAME COMMAND...: runs the command with its output in build/logs/NAME.log, and tells what it does: on a terminal
# in one line that changes, elsewhere every 15 s in a line of its own.
step() {
  local name=$1 log started=$SECONDS pid status=0 ticks=0 clear=
  shift
  log="$LOGS/$name.log"
  [ -t 1 ] && clear=$'\r\e[K'
  printf '  %-28s ' "$name"
  "$@" >"$log" 2>&1 </dev/null &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.2
    ticks=$((ticks + 1))
    if [ -n "$clear" ]; then
      [ $((ticks % 5)) -eq 0 ] && printf '%s  %-28s %d s  %s' "$clear" "$name" $((SECONDS - started)) "$(doing "$log")"
    elif [ $((ticks % 75)) -eq 0 ]; then
      printf '\n    %4d s  %s' $((SECONDS - started)) "$(doing "$log")"
    fi
  done
  wait "$pid" || status=$?
  if [ -n "$clear" ]; then
    printf '%s  %-28s ' "$clear" "$name"
  elif [ "$ticks" -ge 75 ]; then
    printf '\n  %-28s ' "$name"
  fi
  if [ "$status" -eq 0 ]; then
    printf 'done in %d s\n' $((SECONDS - started))
  else
    printf 'FAILED (exit %d) after %d s; ' "$status" $((SECONDS - started))
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
