-- What the shells offer when the tabulator is pressed.
local command = require "support.command"
local each = require "support.each"
local files = require "support.files"
local must = require "support.shell".must
local output = require "support.shell".output

describe("In a shell", function()
  local directory

  -- The command, what it writes for each shell, and what zsh finds out once.
  setup(function()
    directory = must "mktemp -d":match "%S+"
    files.write(directory .. "/zklock",
      "#!/bin/sh\nexec " .. command.line {} .. ' "$@"\n', "755")
    must(("cd '%s'; for s in bash zsh fish; do ./zklock completion $s >$s; "
      .. "done"):format(directory))
  end)
  teardown(function() must("rm -r " .. directory) end)

  -- What such a shell says to a script that is given the line.
  local function shell(interpreter, script, line)
    return output(("PATH='%s':$PATH D='%s' LINE=%s %s '%s' 2>&1"):format(
      directory, directory, command.quote(line), interpreter,
      command.file(script)))
  end

  local shells = {}

  -- (Bash breaks words at `:` and `=`.)
  function shells.bash(line)
    local words = line:gsub("[:=]+", " %0 "):gsub(" $", " ''")
    return shell("bash --norc", [[
      source $D/bash
      COMP_LINE=$LINE COMP_POINT=${#LINE}
      COMP_WORDS=(]] .. words .. [[)
      COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
      $(complete -p zklock | sed 's/.*-F \([a-z_]*\).*/\1/')
      printf '<%s>' "${COMPREPLY[@]}"
    ]], line)
  end

  -- With zsh's own completion system, in a terminal.
  function shells.zsh(line)
    files.write(directory .. "/setup", [=[
      PROMPT=
      autoload -Uz compinit && compinit -u -d $D/dump
      source $D/zsh
      compadd() {
        local -a hits
        if [[ ${@[1,(i)(-|--)]} = *-(O|A|D)\ * ]]; then
          builtin compadd "$@"
          return
        fi
        builtin compadd -O hits "$@"
        offered+=($hits)
        (($#hits))
      }
      finish() { print -r -- "OFFERED<${(j:><:)offered}>"; exit }
      comppostfuncs=(finish)
      print READY
    ]=])
    return shell("zsh -f", [=[
      zmodload zsh/zpty
      zpty z zsh -f -i
      zpty -w z 'source $D/setup'
      zpty -r z said '*READY*'
      zpty -w -n z "$LINE"$'\t'
      while zpty -r z said; do
        [[ $said != *OFFERED* ]] || print -rn -- ${${said##*OFFERED}%%$'\r'*}
      done
    ]=], line)
  end

  function shells.fish(line)
    local said = shell("fish --no-config", [[
      source $D/fish
      complete -C $LINE
    ]], line)
    return "<" .. said:gsub("\t[^\n]*", ""):gsub("\n$", ""):gsub("\n", "><")
      .. ">"
  end

  it("commands are offered, options and their values", function()
    each(shells, function(complete)
      local said = complete "zklock r"
      assert.truthy(said == "<run><revoke>" or said == "<revoke><run>", said)
      assert.matches("<%-%-session%-timeout>", complete "zklock ls --ses")
      assert.equal("<creator>", complete "zklock ls --acl c")
    end, true)
  end)
end)
