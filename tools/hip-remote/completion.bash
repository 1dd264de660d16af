# bash completion for hip-remote
_hip_remote() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "info run bench --help --version" -- "$current")
    return
  fi
  case "$previous" in
    --transport) mapfile -t COMPREPLY < <(compgen -W "auto shm rdma tcp" -- "$current"); return ;;
    --runtime) mapfile -t COMPREPLY < <(compgen -W "auto cpu cuda amd" -- "$current"); return ;;
    --) mapfile -t COMPREPLY < <(compgen -c -- "$current"); return ;;
  esac
  case "$command" in
    info) mapfile -t COMPREPLY < <(compgen -W "--json --help" -- "$current") ;;
    run) mapfile -t COMPREPLY < <(compgen -W "--worker --transport --local --native --runtime --no-preload --stats --verbose --help --" -- "$current") ;;
    bench) mapfile -t COMPREPLY < <(compgen -W "--transport --json --quick --plot --compare --peers --rtt --rate --lock --help" -- "$current") ;;
  esac
}
complete -F _hip_remote hip-remote
