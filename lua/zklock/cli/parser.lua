--- Parser: describes each command and each option once. From these descriptions
-- argparse parses the arguments. It also makes --help, the text of the manual
-- pages and the completion scripts for shells.
local exit = require "zklock.cli.exit"
local load = require "zklock.cli.load"
local texts = require "zklock.cli.texts"

-- Adds an option with a value to `of`, a parser or a group of options. `kind`:
-- the function of convert.lua that reads the value. If the value is wrong, the
-- message begins with the option's long name. (The module convert is loaded
-- here, because it needs the C core, and the manual pages are made without it.)
local function option(of, names, argument, kind, help)
  local name = names:match "%-%-%S+"
  return of:option(names, help):argname(argument):convert(function(text)
    local value, fault = require "zklock.cli.convert"[kind](text)
    return value, fault and name .. ": " .. fault
  end)
end

-- Adds the options that all commands have. They belong to the main parser, so
-- that users can also write them before the command.
local function add_common(parser)
  option(parser, "-H --hosts", "HOSTS", "hosts", "ZooKeeper servers, "
    .. "HOST[:PORT],...[/CHROOT] (default 127.0.0.1:2181)")
  option(parser, "--chroot", "PATH", "chroot",
    "the node below which all paths are; / is none")
  option(parser, "--session-timeout", "SECONDS", "timeout", "the session "
    .. "timeout to request (default 30): the locks of a machine that dies pass "
    .. "on after it")
  option(parser, "--connect-timeout", "SECONDS", "timeout",
    "how long to wait for a server (default 10)")
  option(parser, "--tick-time", "SECONDS", "timeout", "the longest tickTime "
    .. "of the servers: with it a hold outlasts a server that dies")
  option(parser, "--auth-file", "FILE", "text",
    "file with a SCHEME:CREDENTIAL in each line")
  option(parser, "--tls-ca", "FILE", "text", "use TLS, and trust certificates "
    .. "that these authorities have signed")
  option(parser, "--tls-cert", "FILE", "text",
    "the client's certificate, for servers that require one")
  option(parser, "--tls-key", "FILE", "text",
    "its private key, which other users may not read")
  option(parser, "--tls-name", "NAME", "text", "the name that each server's "
    .. "certificate must have (default: the one in HOSTS)")
  option(parser, "--acl", "ACL", "text", "which clients may use the nodes that "
    .. "zklock creates: all (open), those with the same credentials "
    .. "(creator), or others only to read (read)")
    :choices { "open", "creator", "read" }
  parser:flag("-v --verbose",
    "print each step and its duration on standard error")
end

local add = {} -- by command: a function that adds its options

function add.run(run)
  run:usage(texts.run.usage)
  run:mutex(
    run:flag("-x --exclusive",
      "the write side of the path's readers-writer lock"),
    run:flag("-s --shared", "the read side of the path's readers-writer lock"),
    option(run, "-p --permits", "N", "count",
      "one of N permits of the path's semaphore"))
  run:flag("--share-path",
    "run although a lock of another kind is in use at the path")
  run:mutex(
    option(run, "-t --timeout", "SECONDS", "seconds", "how long to wait for "
      .. "the lock (default: without limit); 0 takes it only if it is free"),
    run:flag("-n --try", "do not wait for another holder"))
  option(run, "-g --grace", "SECONDS", "seconds",
    "time between SIGTERM and SIGKILL (default 5)")
  option(run, "-m --max-hold", "SECONDS", "seconds",
    "end the command after this time")
  option(run, "--once-per", "PERIOD", "seconds",
    "do not run within PERIOD after a successful run")
  option(run, "--data", "TEXT", "text", "data of this contender that other "
    .. "clients see (default: host, process and command)")
end

function add.ls(ls)
  ls:flag("-R --recursive", "all locks at the path and below")
  ls:flag("--json", "one JSON object a line")
end

function add.watch(watch)
  option(watch, "-i --interval", "SECONDS", "seconds",
    "time between looks (default 1)")
  watch:flag("--json",
    "one JSON object for each change, as those of ls, with time and change")
end

function add.revoke(revoke)
  option(revoke, "-w --wait", "SECONDS", "seconds",
    "wait until the lock is free")
end

function add.forget() end

function add.evict(evict)
  evict:argument("NODE", "the contender's node, as ls shows it")
    :target "node":argname "NODE"
  evict:flag("-y --yes", "do not ask")
end

function add.check(check)
  check:flag("--json", "one JSON object")
  option(check, "--above", "TOKEN", "token",
    "the lock's fencing token must be larger than this one")
end

function add.completion(completion)
  completion:argument("SHELL", "bash, zsh or fish"):target "shell"
    :choices { "bash", "zsh", "fish" }
end

-- The commands in the order of --help: name, summary, description of PATH.
local commands = {
  { "run", "run a command under a lock", "the lock's path" },
  { "ls", "show the holders and the waiters of a lock", "the lock's path" },
  { "watch", "show a lock's queue at each change", "the lock's path" },
  { "revoke", "ask the holders of a lock to release it", "the lock's path" },
  { "forget", "let a job with --once-per run again", "the lock's path" },
  { "evict", "delete the node of one contender", "the lock's path" },
  { "check", "check the servers, and what locks can expect of them",
    "where to try a lock (/zklock-check)" },
  { "completion", "print a script by which a shell completes arguments" },
}

-- Adds --help, which prints the help of `parser`, a parser or a command.
local function add_help(parser)
  parser:add_help { description = "show this help", action = function()
    exit.answer(parser:get_help())
  end }
end

--- Returns the parser, and a list with a table for each command: `name`,
-- `summary`, and argparse's `parser`.
return function()
  local parser = load "argparse" ("zklock", texts.description, texts.epilog)
    :command_target "command":help_max_width(79)
  add_help(parser)
  parser:flag("--version", "print the version"):action(function()
    exit.answer(require "zklock"._VERSION)
  end)
  add_common(parser)
  local list = {}
  for i, row in ipairs(commands) do
    local name, summary, path = row[1], row[2], row[3]
    local command = parser:command(name, texts[name].description,
      texts[name].examples .. "\n\n" .. texts.exits):summary(summary)
    add_help(command)
    if path then
      command:argument("PATH", path):target "path":argname "PATH"
        :args(name == "check" and "?" or 1)
    end
    add[name](command)
    list[i] = { name = name, summary = summary, parser = command }
  end
  return parser, list
end
