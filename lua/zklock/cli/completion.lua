--- `zklock completion SHELL`: prints the completion script that argparse makes
-- for this shell, with additions. For paths of locks, the script calls `zklock
-- complete`, which asks the servers. For the words after `--`, it uses the
-- shell's completion of the command to run. The script runs the zklock that the
-- shell finds in $PATH, never ./zklock.
local exit = require "zklock.cli.exit"
local new_parser = require "zklock.cli.parser"

local completion = {}

-- Bash also splits words at `:` and `=`, which can be parts of a path. So the
-- script splits the line itself.
local BASH = [=[

_zklock_words() {
    local front i line typed=${COMP_LINE:0:COMP_POINT} words
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} = -- ]] || continue
        compopt -o default 2>/dev/null
        if declare -F _command_offset >/dev/null; then
            _command_offset $((i + 1))
        elif [[ $((i + 1)) -eq $COMP_CWORD ]]; then
            COMPREPLY=($(compgen -c -- "${COMP_WORDS[COMP_CWORD]}"))
        fi
        return 0
    done
    _zklock
    [[ ${#COMPREPLY[@]} -eq 0 && ${COMP_WORDS[COMP_CWORD]} != -* ]] || return 0
    read -ra words <<<"$typed"
    [[ $typed != *[[:space:]] ]] || words+=('')
    compopt -o nospace 2>/dev/null
    typed=${words[${#words[@]} - 1]}
    front=${typed%"${typed##*[:=]}"}
    while IFS= read -r line; do
        COMPREPLY+=("${line#"$front"}")
    done < <(zklock complete "${words[@]:1}" 2>/dev/null)
    return 0
}

complete -F _zklock_words zklock
]=]

local ZSH = [=[
_zklock_paths() {
  local -a found=(${(f)"$(zklock complete "${(@)typed}" 2>/dev/null)"})
  compadd -S '' -a found
}

if [[ $funcstack[1] = _zklock ]]; then _zklock; else compdef _zklock zklock; fi
]=]

local FISH = [[

function __fish_zklock_words
    set -l words (commandline -opc) (commandline -ct)
    if set -l at (contains -i -- -- $words[1..-2])
        set words (string escape -- $words[(math $at + 1)..])
        complete -C (string join -- ' ' $words)
    else
        zklock complete $words[2..] 2>/dev/null
    end
end
complete -c zklock -n 'not __fish_zklock_using_command' \
    -xa '(__fish_zklock_words)'
]]

local scripts = {}

function scripts.bash(parser)
  return parser:get_bash_complete():gsub("\ncomplete %-F[^\n]*\n", "") .. BASH
end

function scripts.zsh(parser)
  return parser:get_zsh_complete()
    :gsub("%) {", ') {\n  local -a typed=("${(@Q)words[2,CURRENT]}")', 1)
    :gsub("_arguments", [[%0 -A "-*"]], 1) -- options can follow the command
    :gsub('(%-%-[%l-]+)(}?"?%[[^\n]*%]: :)', "%1=%2") -- or: --name=value
    :gsub('"%*: :_files"', '"*::: :_normal"')
    :gsub('"(: :_)files"', '"%1zklock_paths"')
    :gsub("_zklock\n$", "") .. ZSH
end

function scripts.fish(parser) return parser:get_fish_complete() .. FISH end

--- Returns the completion script for bash, zsh or fish.
function completion.script(shell) return scripts[shell](new_parser(true)) end

return setmetatable(completion, { __call = function(_, request)
  exit.answer(completion.script(request.shell))
end })
