# bash completion for zklock(1): `zklock complete` knows what may come.
# Pressing the tabulator runs the zklock of the PATH, never ./zklock.

_zklock() {
  local kind line quote=''
  COMPREPLY=()
  case ${COMP_WORDS[COMP_CWORD]} in [\"\']*) quote=yes ;; esac
  {
    read -r kind || return 0
    case $kind in
      files)
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done \
          < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
        return 0 ;;
      command*)
        _zklock_command "${kind#command }"
        return 0 ;;
      paths) compopt -o nospace 2>/dev/null ;;
    esac
    # Names of nodes are strangers' text: quoted, or left out within quotes.
    while IFS=$'\t' read -r line _; do
      case $line in
        *[!A-Za-z0-9_./:=@%+,-]*)
          [ -z "$quote" ] || continue
          printf -v line %q "$line" ;;
      esac
      COMPREPLY+=("$line")
    done
  } < <(zklock complete bash "$COMP_CWORD" "${COMP_WORDS[@]}" 2>/dev/null)
  return 0
}

# What is run is completed as if it stood alone.
_zklock_command() {
  local word=${COMP_WORDS[COMP_CWORD]} line function
  for function in _comp_command_offset _command_offset; do
    if declare -F "$function" >/dev/null; then
      "$function" "$1"
      return
    fi
  done
  compopt -o filenames 2>/dev/null
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(
    if [ "$COMP_CWORD" -eq "$1" ]; then
      compgen -c -- "$word"
    else
      compgen -f -- "$word"
    fi
  )
}

complete -F _zklock zklock
