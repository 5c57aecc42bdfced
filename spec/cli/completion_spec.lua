-- What the shells offer when the tabulator is pressed.
local command = require "support.command"
local each = require "support.each"
local files = require "support.files"
local must = require "support.shell".must
local output = require "support.shell".output
local socket = require "socket"
local support = require "support"

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

  -- What a server says: on a busy machine it is not always in time.
  local function wait_for(complete, line)
    return support.wait_until(function()
      local said = complete(line)
      return said ~= "" and said ~= "<>" and said
    end, 10, "an offer")
  end

  it("commands are offered, options and their values", function()
    each(shells, function(complete)
      local said = complete "zklock r"
      assert.truthy(said == "<run><revoke>" or said == "<revoke><run>", said)
      assert.matches("<%-%-session%-timeout>", complete "zklock ls --ses")
      assert.equal("<creator>", complete "zklock ls --acl c")
    end, true)
  end)

  it("paths are offered that are there, and contenders", function()
    each(shells, function(complete, name)
      local path, zk = support.path(name), support.zk()
      local parent, top, own = path:match "^((/[^/]*).*/)([^/]*)$"
      support.hold(path .. "/b:c")
      local node = zk:queue(path .. "/b:c")[1]
      assert.matches("b:?c>$", wait_for(complete, "zklock ls " .. path .. "/"))
      assert.equal("<" .. path .. ">",
        wait_for(complete, "zklock ls " .. parent .. own:sub(1, -2)))
      assert.equal("<" .. node .. ">", wait_for(complete, "zklock evict "
        .. path .. "/b:c " .. node:sub(1, 3)))
      assert.equal("<" .. path .. ">",
        wait_for(complete, "zklock run -n -g 5 " .. path))
      local host = support.hosts:match "^[^,]+"
      assert.equal("<" .. top .. ">",
        wait_for(complete, "zklock ls -H " .. host .. " " .. top))
      -- Below a chroot.
      assert.matches("<.*c>$",
        wait_for(complete, "zklock --chroot " .. path .. " ls /b"))
      assert.matches("^<?>?$",
        complete("zklock ls --chroot " .. path .. "/two /"))
      assert.is_false(zk:exists(path .. "/two"))
    end, true)
  end)

  it("nothing is offered, and nothing said, without a server", function()
    each(shells, function(complete)
      local silent = support.closing(assert(socket.bind("127.0.0.1", 0)))
      local _, port = silent:getsockname()
      for _, hosts in ipairs { "127.0.0.1:" .. port, "127.0.0.1:1", "," } do
        assert.matches("^<?>?$", complete("zklock ls --hosts " .. hosts
          .. " /a"))
      end
      assert.matches("^<?>?$", complete "zklock ls --auth-file /nosuch /a")
    end, true)
  end)

  it("no name is offered that has a meaning for the shell", function()
    each(shells, function(complete, name)
      local path = support.path(name)
      for _, one in ipairs { "$(touch x)", "`x`", "a;b", "a'b", "a b", "a\\b",
        "*", "{a,b}", "a\226\128\174b", "plain-_.,@%+" } do
        support.zk():make(path .. "/" .. one)
      end
      assert.equal("<" .. path .. "/plain-_.,@%+>",
        wait_for(complete, "zklock ls " .. path .. "/"))
    end, true)
  end)

  it("the command behind -- is completed as its own", function()
    each(shells, function(complete, name)
      assert.matches("<grep>", complete "zklock run --acl=open /a -- gre")
      local said = complete("zklock run /a -- cat " .. directory .. "/zk")
      if name ~= "bash" then assert.matches("zklock>", said) end -- (readline's)
    end, true)
  end)
end)
