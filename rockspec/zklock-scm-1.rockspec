-- Made by `make rockspecs` from rockspec/template: change that one.
rockspec_format = "3.0"
package = "zklock"
version = "scm-1"

source = {
  url = "git+https://github.com/zklock/zklock.git",
}

description = {
  summary = "Distributed locks for Lua, on ZooKeeper",
  detailed = [[
Mutexes, readers-writer locks, semaphores, elections and barriers that separate
processes on separate machines share: fair, with fencing tokens and an honest
is_held().  Nodes are laid out as Apache Curator lays them out, so that Lua and
Java programs can share a lock.  The rock zklock-cli has the command zklock,
which runs commands under such locks.]],
  homepage = "https://github.com/zklock/zklock",
  issues_url = "https://github.com/zklock/zklock/issues",
  maintainer = "The authors of zklock",
  license = "MIT",
  labels = { "zookeeper", "lock", "distributed", "concurrency", "openresty" },
}

-- Not 5.2: the module does not build for it. LuaJIT takes the rock for 5.1.
dependencies = { "lua >= 5.1, < 5.6, ~= 5.2" }

-- `luarocks test` runs the unit specs; `make test` runs everything.
test = { type = "command", command = "bash spec/run spec/unit" }

-- The C client of ZooKeeper, the single-threaded library.
external_dependencies = {
  ZOOKEEPER = { header = "zookeeper/zookeeper.h", library = "zookeeper_st" },
  platforms = {
    linux = { MD = { header = "sha2.h", library = "md" } }, -- SHA-256
  },
}

-- The command that builds zklock.core.
local core = [[mkdir -p build/rock && \
$(CC) $(CFLAGS) $(LIBFLAG) -D_GNU_SOURCE -Isrc \
  -I$(LUA_INCDIR) -I$(ZOOKEEPER_INCDIR) \
  src/io/*.c src/lua/*.c src/protocol/*.c -o build/rock/core.so \
  -L$(ZOOKEEPER_LIBDIR) -Wl,-rpath,$(ZOOKEEPER_LIBDIR) \
  -lzookeeper_st -lpthread -ldl]]

build = {
  type = "command",
  build_command = core,
  install = {
    lua = {
      ["zklock.access"] = "lua/zklock/access.lua",
      ["zklock.adapters"] = "lua/zklock/adapters.lua",
      ["zklock.attempt"] = "lua/zklock/attempt.lua",
      ["zklock.barrier"] = "lua/zklock/barrier.lua",
      ["zklock.bytes"] = "lua/zklock/bytes.lua",
      ["zklock.callbacks"] = "lua/zklock/callbacks.lua",
      ["zklock.check"] = "lua/zklock/check.lua",
      ["zklock.contenders"] = "lua/zklock/contenders.lua",
      ["zklock.decimal"] = "lua/zklock/decimal.lua",
      ["zklock.double_barrier"] = "lua/zklock/double_barrier.lua",
      ["zklock.election"] = "lua/zklock/election.lua",
      ["zklock.engine"] = "lua/zklock/engine.lua",
      ["zklock.errors"] = "lua/zklock/errors.lua",
      ["zklock.escape"] = "lua/zklock/escape.lua",
      ["zklock.events"] = "lua/zklock/events.lua",
      ["zklock.guard"] = "lua/zklock/guard.lua",
      ["zklock.init"] = "lua/zklock/init.lua",
      ["zklock.loader"] = "lua/zklock/loader.lua",
      ["zklock.lock"] = "lua/zklock/lock.lua",
      ["zklock.loop.copas"] = "lua/zklock/loop/copas.lua",
      ["zklock.loop.cqueues"] = "lua/zklock/loop/cqueues.lua",
      ["zklock.loop.here"] = "lua/zklock/loop/here.lua",
      ["zklock.loop.init"] = "lua/zklock/loop/init.lua",
      ["zklock.loop.luv"] = "lua/zklock/loop/luv.lua",
      ["zklock.loop.ngx"] = "lua/zklock/loop/ngx.lua",
      ["zklock.loop.poll"] = "lua/zklock/loop/poll.lua",
      ["zklock.loop.skynet"] = "lua/zklock/loop/skynet.lua",
      ["zklock.meta.adapter"] = "lua/zklock/meta/adapter.lua",
      ["zklock.meta.barrier"] = "lua/zklock/meta/barrier.lua",
      ["zklock.meta.double_barrier"] = "lua/zklock/meta/double_barrier.lua",
      ["zklock.meta.election"] = "lua/zklock/meta/election.lua",
      ["zklock.meta.fencing"] = "lua/zklock/meta/fencing.lua",
      ["zklock.meta.guard"] = "lua/zklock/meta/guard.lua",
      ["zklock.meta.lock"] = "lua/zklock/meta/lock.lua",
      ["zklock.meta.multi_guard"] = "lua/zklock/meta/multi_guard.lua",
      ["zklock.meta.ngx"] = "lua/zklock/meta/ngx.lua",
      ["zklock.meta.options"] = "lua/zklock/meta/options.lua",
      ["zklock.meta.rows"] = "lua/zklock/meta/rows.lua",
      ["zklock.meta.session"] = "lua/zklock/meta/session.lua",
      ["zklock.meta.session_questions"] = "lua/zklock/meta/session_questions.lua",
      ["zklock.meta.session_state"] = "lua/zklock/meta/session_state.lua",
      ["zklock.meta.testing"] = "lua/zklock/meta/testing.lua",
      ["zklock.meta.words"] = "lua/zklock/meta/words.lua",
      ["zklock.meta.zklock"] = "lua/zklock/meta/zklock.lua",
      ["zklock.meters"] = "lua/zklock/meters.lua",
      ["zklock.metrics"] = "lua/zklock/metrics.lua",
      ["zklock.multi"] = "lua/zklock/multi.lua",
      ["zklock.ngx"] = "lua/zklock/ngx.lua",
      ["zklock.ngx.advice"] = "lua/zklock/ngx/advice.lua",
      ["zklock.ngx.board"] = "lua/zklock/ngx/board.lua",
      ["zklock.ngx.json"] = "lua/zklock/ngx/json.lua",
      ["zklock.ngx.page"] = "lua/zklock/ngx/page.lua",
      ["zklock.ngx.reader"] = "lua/zklock/ngx/reader.lua",
      ["zklock.ngx.scope"] = "lua/zklock/ngx/scope.lua",
      ["zklock.ngx.status"] = "lua/zklock/ngx/status.lua",
      ["zklock.node_waits"] = "lua/zklock/node_waits.lua",
      ["zklock.observer"] = "lua/zklock/observer.lua",
      ["zklock.once"] = "lua/zklock/once.lua",
      ["zklock.options"] = "lua/zklock/options.lua",
      ["zklock.owner"] = "lua/zklock/owner.lua",
      ["zklock.plain"] = "lua/zklock/plain.lua",
      ["zklock.protect"] = "lua/zklock/protect.lua",
      ["zklock.questions"] = "lua/zklock/questions.lua",
      ["zklock.quote"] = "lua/zklock/quote.lua",
      ["zklock.reasons"] = "lua/zklock/reasons.lua",
      ["zklock.running"] = "lua/zklock/running.lua",
      ["zklock.schema"] = "lua/zklock/schema.lua",
      ["zklock.secure"] = "lua/zklock/secure.lua",
      ["zklock.session"] = "lua/zklock/session.lua",
      ["zklock.snapshot"] = "lua/zklock/snapshot.lua",
      ["zklock.state"] = "lua/zklock/state.lua",
      ["zklock.survey"] = "lua/zklock/survey.lua",
      ["zklock.testing"] = "lua/zklock/testing.lua",
      ["zklock.testing.clock"] = "lua/zklock/testing/clock.lua",
      ["zklock.testing.core"] = "lua/zklock/testing/core.lua",
      ["zklock.testing.hold"] = "lua/zklock/testing/hold.lua",
      ["zklock.testing.hosts"] = "lua/zklock/testing/hosts.lua",
      ["zklock.testing.loops"] = "lua/zklock/testing/loops.lua",
      ["zklock.testing.server"] = "lua/zklock/testing/server.lua",
      ["zklock.testing.socket"] = "lua/zklock/testing/socket.lua",
      ["zklock.ticket"] = "lua/zklock/ticket.lua",
      ["zklock.turns"] = "lua/zklock/turns.lua",
      ["zklock.under"] = "lua/zklock/under.lua",
      ["zklock.version"] = "lua/zklock/version.lua",
      ["zklock.wait"] = "lua/zklock/wait.lua",
    },
    lib = { ["zklock.core"] = "build/rock/core.so" },
  },
  platforms = {
    linux = {
      -- The second module is for zklock.testing, which is for Linux.  It needs
      -- the client library's header, and not the library.
      build_command = core .. [[ \
  -I$(MD_INCDIR) -L$(MD_LIBDIR) -Wl,-rpath,$(MD_LIBDIR) -lmd && \
$(CC) $(CFLAGS) $(LIBFLAG) -D_GNU_SOURCE -Isrc/virtual/system -Isrc \
  -I$(LUA_INCDIR) -I$(ZOOKEEPER_INCDIR) -I$(MD_INCDIR) \
  `ls src/io/*.c src/lua/*.c src/protocol/*.c src/virtual/*.c | grep -v \
    -e /clock.c -e /entropy.c -e /imports.c -e /atomics.c` \
  src/virtual/clock.c -o build/rock/virtual.so \
  -L$(MD_LIBDIR) -Wl,-rpath,$(MD_LIBDIR) -lmd -lpthread -ldl]],
      install = { lib = { ["zklock.virtual"] = "build/rock/virtual.so" } },
    },
  },
  copy_directories = { "doc", "examples" },
}
