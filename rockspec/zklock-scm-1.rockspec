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
  platforms = {
    linux = { MD = { header = "sha2.h", library = "md" } }, -- SHA-256
  },
}

build = {
  type = "builtin",
  modules = {
    ["zklock"] = "lua/zklock/init.lua",
    ["zklock.access"] = "lua/zklock/access.lua",
    ["zklock.adapters"] = "lua/zklock/adapters.lua",
    ["zklock.attempt"] = "lua/zklock/attempt.lua",
    ["zklock.callbacks"] = "lua/zklock/callbacks.lua",
    ["zklock.check"] = "lua/zklock/check.lua",
    ["zklock.engine"] = "lua/zklock/engine.lua",
    ["zklock.errors"] = "lua/zklock/errors.lua",
    ["zklock.events"] = "lua/zklock/events.lua",
    ["zklock.guard"] = "lua/zklock/guard.lua",
    ["zklock.hold"] = "lua/zklock/hold.lua",
    ["zklock.key"] = "lua/zklock/key.lua",
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
    ["zklock.multi_guard"] = "lua/zklock/multi_guard.lua",
    ["zklock.ngx"] = "lua/zklock/ngx.lua",
    ["zklock.ngx.advice"] = "lua/zklock/ngx/advice.lua",
    ["zklock.ngx.reader"] = "lua/zklock/ngx/reader.lua",
    ["zklock.ngx.scope"] = "lua/zklock/ngx/scope.lua",
    ["zklock.options"] = "lua/zklock/options.lua",
    ["zklock.owner"] = "lua/zklock/owner.lua",
    ["zklock.plain"] = "lua/zklock/plain.lua",
    ["zklock.protect"] = "lua/zklock/protect.lua",
    ["zklock.questions"] = "lua/zklock/questions.lua",
    ["zklock.quote"] = "lua/zklock/quote.lua",
    ["zklock.reasons"] = "lua/zklock/reasons.lua",
    ["zklock.session"] = "lua/zklock/session.lua",
    ["zklock.settings"] = "lua/zklock/settings.lua",
    ["zklock.state"] = "lua/zklock/state.lua",
    ["zklock.under"] = "lua/zklock/under.lua",
    ["zklock.wait"] = "lua/zklock/wait.lua",
    ["zklock.core"] = {
      sources = {
        "src/io/addresses.c", "src/io/channel.c", "src/io/claim.c",
        "src/io/client.c", "src/io/clock.c", "src/io/core.c",
        "src/io/descriptors.c", "src/io/digest.c", "src/io/ending.c",
        "src/io/entropy.c", "src/io/fork.c", "src/io/hosts.c",
        "src/io/imports.c", "src/io/library.c", "src/io/library_answers.c",
        "src/io/library_codes.c", "src/io/library_handle.c",
        "src/io/library_inbox.c", "src/io/library_rehearsal.c",
        "src/io/library_requests.c", "src/io/library_st.c", "src/io/log.c",
        "src/io/lookup.c", "src/io/lua_thread.c", "src/io/nginx_request.c",
        "src/io/nginx_socket.c", "src/io/notice.c", "src/io/path.c",
        "src/io/query.c", "src/io/reason.c", "src/io/registry.c",
        "src/io/resolver.c", "src/io/revocation.c", "src/io/settings.c",
        "src/io/survey.c", "src/io/wakeup.c", "src/io/window.c",
        "src/lua/lua_acquire.c", "src/lua/lua_binding.c", "src/lua/lua_core.c",
        "src/lua/lua_events.c", "src/lua/lua_nginx.c", "src/lua/lua_protect.c",
        "src/lua/lua_session.c", "src/lua/lua_settings.c",
        "src/lua/lua_share.c", "src/lua/lua_survey.c",
        "src/protocol/bystander.c", "src/protocol/chore.c",
        "src/protocol/contender.c", "src/protocol/directory.c",
        "src/protocol/hindrance.c", "src/protocol/lease.c",
        "src/protocol/life.c", "src/protocol/name.c", "src/protocol/queue.c",
        "src/protocol/queued.c", "src/protocol/quota.c", "src/protocol/rule.c",
        "src/protocol/semaphore.c", "src/protocol/session.c",
        "src/protocol/suspicion.c", "src/protocol/timer.c",
        "src/protocol/unfair.c", "src/protocol/watch.c", "src/protocol/wire.c",
      },
      defines = { "_GNU_SOURCE" },
      incdirs = { "src", "$(ZOOKEEPER_INCDIR)" },
      libdirs = { "$(ZOOKEEPER_LIBDIR)" },
      libraries = { "zookeeper_st", "pthread", "dl" },
    },
  },
  platforms = {
    linux = {
      modules = {
    ["zklock"] = "lua/zklock/init.lua",
    ["zklock.access"] = "lua/zklock/access.lua",
    ["zklock.adapters"] = "lua/zklock/adapters.lua",
    ["zklock.attempt"] = "lua/zklock/attempt.lua",
    ["zklock.callbacks"] = "lua/zklock/callbacks.lua",
    ["zklock.check"] = "lua/zklock/check.lua",
    ["zklock.engine"] = "lua/zklock/engine.lua",
    ["zklock.errors"] = "lua/zklock/errors.lua",
    ["zklock.events"] = "lua/zklock/events.lua",
    ["zklock.guard"] = "lua/zklock/guard.lua",
    ["zklock.hold"] = "lua/zklock/hold.lua",
    ["zklock.key"] = "lua/zklock/key.lua",
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
    ["zklock.multi_guard"] = "lua/zklock/multi_guard.lua",
    ["zklock.ngx"] = "lua/zklock/ngx.lua",
    ["zklock.ngx.advice"] = "lua/zklock/ngx/advice.lua",
    ["zklock.ngx.reader"] = "lua/zklock/ngx/reader.lua",
    ["zklock.ngx.scope"] = "lua/zklock/ngx/scope.lua",
    ["zklock.options"] = "lua/zklock/options.lua",
    ["zklock.owner"] = "lua/zklock/owner.lua",
    ["zklock.plain"] = "lua/zklock/plain.lua",
    ["zklock.protect"] = "lua/zklock/protect.lua",
    ["zklock.questions"] = "lua/zklock/questions.lua",
    ["zklock.quote"] = "lua/zklock/quote.lua",
    ["zklock.reasons"] = "lua/zklock/reasons.lua",
    ["zklock.session"] = "lua/zklock/session.lua",
    ["zklock.settings"] = "lua/zklock/settings.lua",
    ["zklock.state"] = "lua/zklock/state.lua",
    ["zklock.under"] = "lua/zklock/under.lua",
    ["zklock.wait"] = "lua/zklock/wait.lua",
    ["zklock.core"] = {
          incdirs = { "src", "$(ZOOKEEPER_INCDIR)", "$(MD_INCDIR)" },
          libdirs = { "$(ZOOKEEPER_LIBDIR)", "$(MD_LIBDIR)" },
          libraries = { "zookeeper_st", "pthread", "dl", "md" },
        },
      },
    },
  },
  copy_directories = { "doc", "examples" },
}
