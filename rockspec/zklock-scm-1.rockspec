rockspec_format = "3.0"
package = "zklock"
version = "scm-1"

source = {
  url = "git+https://github.com/zklock/zklock.git",
}

description = {
  summary = "Distributed locks for Lua, on ZooKeeper",
  detailed = [[
A mutex that separate processes on separate machines share: fair, reentrant,
with fencing tokens and an honest is_held().  Nodes are laid out as Apache
Curator lays them out, so that Lua and Java programs can share a lock.]],
  homepage = "https://github.com/zklock/zklock",
  issues_url = "https://github.com/zklock/zklock/issues",
  maintainer = "The authors of zklock",
  license = "MIT",
  labels = { "zookeeper", "lock", "distributed" },
}

dependencies = { "lua >= 5.1, < 5.5" }

-- `luarocks test` runs the unit specs; `make test` runs everything.
test = { type = "command", command = "bash spec/run spec/unit" }

-- The C client of ZooKeeper, the single-threaded library.  Where only the
-- multi-threaded one is installed: zklock-mt-scm-1.rockspec.
external_dependencies = {
  ZOOKEEPER = { header = "zookeeper/zookeeper.h", library = "zookeeper_st" },
}

build = {
  type = "builtin",
  modules = {
    ["zklock"] = "lua/zklock/init.lua",
    ["zklock.check"] = "lua/zklock/check.lua",
    ["zklock.errors"] = "lua/zklock/errors.lua",
    ["zklock.guard"] = "lua/zklock/guard.lua",
    ["zklock.loader"] = "lua/zklock/loader.lua",
    ["zklock.lock"] = "lua/zklock/lock.lua",
    ["zklock.loop"] = "lua/zklock/loop/init.lua",
    ["zklock.loop.copas"] = "lua/zklock/loop/copas.lua",
    ["zklock.loop.cqueues"] = "lua/zklock/loop/cqueues.lua",
    ["zklock.loop.here"] = "lua/zklock/loop/here.lua",
    ["zklock.loop.luv"] = "lua/zklock/loop/luv.lua",
    ["zklock.loop.ngx"] = "lua/zklock/loop/ngx.lua",
    ["zklock.loop.poll"] = "lua/zklock/loop/poll.lua",
    ["zklock.loop.skynet"] = "lua/zklock/loop/skynet.lua",
    ["zklock.multi"] = "lua/zklock/multi.lua",
    ["zklock.ngx"] = "lua/zklock/ngx.lua",
    ["zklock.ngx.reader"] = "lua/zklock/ngx/reader.lua",
    ["zklock.ngx.scope"] = "lua/zklock/ngx/scope.lua",
    ["zklock.queue"] = "lua/zklock/queue.lua",
    ["zklock.quote"] = "lua/zklock/quote.lua",
    ["zklock.session"] = "lua/zklock/session.lua",
    ["zklock.settings"] = "lua/zklock/settings.lua",
    ["zklock.wait"] = "lua/zklock/wait.lua",
    ["zklock.core"] = {
      sources = {
        "src/addresses.c", "src/channel.c", "src/claim.c", "src/client.c",
        "src/contender.c", "src/core.c", "src/descriptors.c", "src/doorway.c",
        "src/ending.c", "src/entropy.c", "src/fork.c", "src/imports.c",
        "src/lane.c", "src/lease.c", "src/library.c", "src/library_mt.c",
        "src/library_st.c", "src/lookup.c", "src/lua_core.c", "src/lua_hold.c",
        "src/lua_nginx.c", "src/lua_protect.c", "src/lua_session.c",
        "src/name.c", "src/notice.c", "src/permit.c", "src/query.c",
        "src/request.c", "src/resolver.c", "src/room.c", "src/rule.c",
        "src/session.c", "src/settings.c", "src/suspicion.c", "src/timer.c",
        "src/turn.c", "src/unfair.c", "src/wakeup.c", "src/watch.c",
      },
      defines = { "_GNU_SOURCE" },
      incdirs = { "$(ZOOKEEPER_INCDIR)" },
      libdirs = { "$(ZOOKEEPER_LIBDIR)" },
      libraries = { "zookeeper_st", "pthread", "dl" },
    },
  },
  copy_directories = { "doc", "examples" },
}
