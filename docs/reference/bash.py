# SPDX-License-Identifier: Apache-2.0
"""Completions for bash. They need nothing but bash; where bash-completion is loaded, a program's own are used."""

# What is the same for every program. `current` is the value that is being typed.
COMMON = r'''
_hip_remote_words() { # WORDS [list]: those that begin like the current one; of a list with commas the last counts
  local head=
  [ "${2:-}" = list ] && [[ $current == *,* ]] && head=${current%,*},
  mapfile -t COMPREPLY < <(compgen -P "$head" -W "$1" -- "${current#"$head"}")
}
_hip_remote_names() { # -u: users, -g: groups; behind the last comma
  local head=
  [[ $current == *,* ]] && head=${current%,*},
  mapfile -t COMPREPLY < <(compgen -P "$head" "$1" -- "${current#"$head"}")
}
_hip_remote_files() { # [SUFFIX]: files; or folders, and the files that end so
  compopt -o filenames 2>/dev/null
  if [ -z "${1:-}" ]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -d -- "$current"; compgen -f -X "!*.$1" -- "$current")
  fi
}
_hip_remote_folders() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -d -- "$current")
}
_hip_remote_addresses() {
  if [[ $current == unix:* ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -P unix: -f -- "${current#unix:}")
  else
    compopt -o nospace 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -W "unix: localhost" -- "$current"; compgen -A hostname -- "$current")
  fi
}
_hip_remote_devices() { # for 3 s at most
  mapfile -t COMPREPLY < <(
    compgen -W "$(timeout 3 hip-remote info --list devices 2>/dev/null | cut -f 1)" -- "$current")
}
_hip_remote_program() { # of the words from $1 on the first is a command, and the others are its own
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif [ "$COMP_CWORD" -eq "$1" ]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -c -- "$current"; compgen -f -- "$current")
  else
    _hip_remote_files
  fi
}
# bash splits words at "=" and ":"; here they are whole again, in `words`, with the place of each in `places`.
_hip_remote_whole_words() {
  local glue= piece index
  words=() places=()
  for ((index = 0; index <= COMP_CWORD; index++)); do
    piece=${COMP_WORDS[index]}
    if [ "$piece" = = ] || [ "$piece" = : ]; then
      words[-1]+=$piece glue=1
    elif [ -n "$glue" ]; then
      words[-1]+=$piece glue=
    else
      words+=("$piece") places+=("$index")
    fi
  done
}
# What bash puts in takes the place of what stands behind the last ":" only.
_hip_remote_without_colons() {
  local index
  [[ $current == *:* && $COMP_WORDBREAKS == *:* ]] || return 0
  for index in "${!COMPREPLY[@]}"; do COMPREPLY[index]=${COMPREPLY[index]#"${current%:*}:"}; done
}
'''


def function(name):
    return '_' + name.replace('-', '_')


def value(option):
    """The shell command that offers the values of an option."""
    kind, _, suffix = option.complete.partition(':')
    words = '_hip_remote_words "%s"%s' % (' '.join(option.words), ' list' if option.list else '')
    names = {'user': '_hip_remote_names -u', 'group': '_hip_remote_names -g'}
    if option.complete in names:
        return names[option.complete]
    if option.words and option.other:
        return words + '; [ "${#COMPREPLY[@]}" -gt 0 ] || _hip_remote_files'
    if option.words:
        return words
    return {'file': ('_hip_remote_files ' + suffix).rstrip(), 'directory': '_hip_remote_folders',
            'address': '_hip_remote_addresses', 'device': '_hip_remote_devices'}.get(kind, 'COMPREPLY=()')


def own_names(option):
    return [option.name, *option.others]


def cases(program):
    """case "COMMAND OPTION" of every option that takes a value."""
    text = ''
    for command in program.commands or [program]:
        prefix = command.name + ' ' if program.commands else ' '
        for option in command.shown:
            if option.value:
                names = '|'.join('"%s%s"' % (prefix, name) for name in own_names(option))
                text += '    %s) %s ;;\n' % (names, value(option))
    return text


def takes_next(program):
    """Patterns of "COMMAND OPTION" whose value is the next word."""
    names = []
    for command in program.commands or [program]:
        prefix = command.name + ' ' if program.commands else ' '
        names += ['"%s%s"' % (prefix, name) for option in command.shown if option.takes_next
                  for name in own_names(option)]
    return '|'.join(names)


def option_words(command, version):
    return ' '.join([name for option in command.shown for name in own_names(option)]
                    + ['--help'] + ['--version'] * version)


OFFER = '''    "%s")
      case $current in
        -*) _hip_remote_words "%s" ;;
        *) %s ;;
      esac ;;
'''


def offers(program):
    """What stands where no value is wanted."""
    text = ''
    for command in program.commands or [program]:
        rest = 'COMPREPLY=()'
        if command.rest == 'program':
            rest = '_hip_remote_program "${places[-1]}"'
        elif command.rest == 'files':
            rest = '_hip_remote_files'
        elif command.rest == 'command':
            rest = '_hip_remote_words "%s"' % ' '.join(one.name for one in program.commands)
        text += OFFER % (
            command.name if program.commands else '', option_words(command, not program.commands), rest)
    if program.commands:
        names = ' '.join(one.name for one in program.commands)
        text += '    *) _hip_remote_words "%s --help --version" ;;\n' % names
    return text


def on_word(program):
    """What a word that is no option means: the command, or the beginning of somebody else's command line."""
    others = '|'.join(command.name for command in program.commands if command.rest == 'program')
    if not program.commands:
        return ':'
    if not others:
        return '[ -n "$command" ] || command=$word'
    return 'case $command in "") command=$word ;; %s) _hip_remote_program "${places[index]}"; return ;; esac' % others


def on_dashes(program):
    if any(command.rest == 'program' for command in program.commands):
        return 'if [ "$command" = run ]; then _hip_remote_program "${places[index + 1]}"; return; fi'
    return ':'


BODY = r'''
@FUNCTION@_value() { # "COMMAND OPTION": offers its values; fails where it has none
  case $1 in
@CASES@    *) return 1 ;;
  esac
}
@FUNCTION@() {
  local -a words places
  local command= option= word index current
  COMPREPLY=()
  _hip_remote_whole_words
  current=${words[-1]}
  for ((index = 1; index < ${#words[@]} - 1; index++)); do
    word=${words[index]}
    if [ -n "$option" ]; then option=; continue; fi
    case "$command $word" in
      @TAKES_NEXT@) option=$word; continue ;;
    esac
    case $word in
      --) @DASHES@ ;;
      -*) ;;
      *) @WORD@ ;;
    esac
  done
  if [[ -z $option && $current == -*=* ]]; then
    option=${current%%=*} current=${current#*=}
  fi
  if [ -n "$option" ]; then
    @FUNCTION@_value "$command $option"
    _hip_remote_without_colons
    return
  fi
  case $command in
@OFFERS@  esac
}
complete -F @FUNCTION@ @PROGRAM@
'''


def script(program):
    made = '# bash completion for %s. Made by docs/reference/make.py from reference.toml.\n' % program.name
    text = made + COMMON + BODY
    for name, what in (('FUNCTION', function(program.name)), ('PROGRAM', program.name), ('CASES', cases(program)),
                       ('TAKES_NEXT', takes_next(program)), ('OFFERS', offers(program)),
                       ('WORD', on_word(program)), ('DASHES', on_dashes(program))):
        text = text.replace('@%s@' % name, what)
    return text
