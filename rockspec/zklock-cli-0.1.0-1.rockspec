-- Made by `make rockspecs` from rockspec/template-cli: change that one.
rockspec_format = "3.0"
package = "zklock-cli"
version = "0.1.0-1"

source = {
  url = "git+https://github.com/zklock/zklock.git",
  tag = "v0.1.0",
}

description = {
  summary = "The command zklock: distributed locks in the shell",
  detailed = [[
`zklock run` runs a command while it holds a lock, and ends the command if the
lock is lost.  Other subcommands show, watch, revoke and check locks.  It is a
rock of its own because only the command needs luv, argparse and dkjson.]],
  homepage = "https://github.com/zklock/zklock",
  issues_url = "https://github.com/zklock/zklock/issues",
  maintainer = "The authors of zklock",
  license = "MIT",
  labels = { "zookeeper", "lock", "cron", "commandline" },
}

-- LuaJIT takes the rock for 5.1, because Lua 5.1 cannot run the command.  The
-- command calls internal functions of zklock, so their versions must be equal.
dependencies = {
  "lua >= 5.1, < 5.6, ~= 5.2", "zklock == 0.1.0-1",
  "luv", "argparse", "dkjson",
}

build = {
  type = "command",
  build_command = [[mkdir -p build/rock && \
$(CC) $(CFLAGS) $(LIBFLAG) -D_GNU_SOURCE -Isrc -I$(LUA_INCDIR) \
  src/guardian/*.c src/io/clock.c -o build/rock/guardian.so]],
  install = {
    lua = {
      ["zklock.cli.arguments"] = "lua/zklock/cli/arguments.lua",
      ["zklock.cli.await"] = "lua/zklock/cli/await.lua",
      ["zklock.cli.check"] = "lua/zklock/cli/check.lua",
      ["zklock.cli.completion"] = "lua/zklock/cli/completion.lua",
      ["zklock.cli.config"] = "lua/zklock/cli/config.lua",
      ["zklock.cli.connect"] = "lua/zklock/cli/connect.lua",
      ["zklock.cli.convert"] = "lua/zklock/cli/convert.lua",
      ["zklock.cli.credentials"] = "lua/zklock/cli/credentials.lua",
      ["zklock.cli.evict"] = "lua/zklock/cli/evict.lua",
      ["zklock.cli.exit"] = "lua/zklock/cli/exit.lua",
      ["zklock.cli.forget"] = "lua/zklock/cli/forget.lua",
      ["zklock.cli.guardian_client"] = "lua/zklock/cli/guardian_client.lua",
      ["zklock.cli.init"] = "lua/zklock/cli/init.lua",
      ["zklock.cli.leaving"] = "lua/zklock/cli/leaving.lua",
      ["zklock.cli.load"] = "lua/zklock/cli/load.lua",
      ["zklock.cli.ls"] = "lua/zklock/cli/ls.lua",
      ["zklock.cli.main"] = "lua/zklock/cli/main.lua",
      ["zklock.cli.once"] = "lua/zklock/cli/once.lua",
      ["zklock.cli.output"] = "lua/zklock/cli/output.lua",
      ["zklock.cli.owned_file"] = "lua/zklock/cli/owned_file.lua",
      ["zklock.cli.parser"] = "lua/zklock/cli/parser.lua",
      ["zklock.cli.report"] = "lua/zklock/cli/report.lua",
      ["zklock.cli.revoke"] = "lua/zklock/cli/revoke.lua",
      ["zklock.cli.rows"] = "lua/zklock/cli/rows.lua",
      ["zklock.cli.run"] = "lua/zklock/cli/run.lua",
      ["zklock.cli.servers"] = "lua/zklock/cli/servers.lua",
      ["zklock.cli.signals"] = "lua/zklock/cli/signals.lua",
      ["zklock.cli.stream"] = "lua/zklock/cli/stream.lua",
      ["zklock.cli.table"] = "lua/zklock/cli/table.lua",
      ["zklock.cli.talk"] = "lua/zklock/cli/talk.lua",
      ["zklock.cli.texts"] = "lua/zklock/cli/texts.lua",
      ["zklock.cli.trial"] = "lua/zklock/cli/trial.lua",
      ["zklock.cli.verdict"] = "lua/zklock/cli/verdict.lua",
      ["zklock.cli.visit"] = "lua/zklock/cli/visit.lua",
      ["zklock.cli.waiting"] = "lua/zklock/cli/waiting.lua",
      ["zklock.cli.walk"] = "lua/zklock/cli/walk.lua",
      ["zklock.cli.watch"] = "lua/zklock/cli/watch.lua",
      ["zklock.cli.window"] = "lua/zklock/cli/window.lua",
    },
    lib = { ["zklock.guardian"] = "build/rock/guardian.so" },
    bin = { zklock = "bin/zklock" },
  },
  copy_directories = {},
}
