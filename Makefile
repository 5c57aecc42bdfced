# zklock: what people type.  `make help` lists it.
#
#   LUA_VERSION=5.4      which Lua `make` and `make install` build for; LuaJIT
#                        takes what is built for 5.1
#   ZK=virtual           in place of the ZooKeeper client library, for tests: an
#                        ensemble in memory and virtual time (src/virtual)
#   PREFIX=/usr/local    where `make install` puts things
#   ZKLOCK_HOSTS=…       a real ensemble for `make demo` and `make example`
#
# doc/install.md has the variables that say where headers and libraries are. Beside
# them there are CC, CFLAGS, LDFLAGS and PKG_CONFIG.

LUA_VERSION ?= 5.4
PREFIX      ?= /usr/local
CC          ?= cc
CFLAGS      ?= $(if $(filter virtual,$(ZK)),-O1 -g,-O2 -g $(WHOLE))
BUILD       ?= build
PKG_CONFIG  ?= pkg-config

# What is asked of the system when a variable is first used: its value $(2) is kept
# as that of the variable $(1).
once = $(eval $(1) := $(2))$(2)

# A goal that `make help` lists is no file.
.PHONY: library install-library install-command musl \
  $(shell sed -n 's/^\([a-z-]*\):.*\#\#.*/\1/p' Makefile)

# ---- What is there -----------------------------------------------------------

UNAME     := $(shell uname -s)
BREW      := $(shell [ $(UNAME) = Darwin ] && brew --prefix 2>/dev/null)
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)

# ZooKeeper's single-threaded client.  Debian's two -dev packages exclude each
# other, and the header is the same: beside that of libzookeeper_mt the run-time
# library is linked.
ZK     ?= st
ZK_LIB ?= $(firstword $(wildcard $(foreach d,/usr/lib/$(MULTIARCH) /usr/lib64 \
  /usr/lib /usr/local/lib $(BREW)/lib,$(addprefix $(d)/libzookeeper_st.,so \
  dylib so.2))))

# Lua's headers, of the very version: 5.1 and LuaJIT share one binary.
MINOR     = $(lastword $(subst ., ,$(LUA_VERSION)))
lua_is_in = grep -Eqs 'LUA_VERSION_(NUM|MINOR_N)[[:space:]]+(50)?$(MINOR)$$' \
            "$(1)/lua.h"
LUA_NAMES = lua$(LUA_VERSION) lua-$(LUA_VERSION) \
            lua$(subst .,,$(LUA_VERSION)) lua $(if $(filter 1,$(MINOR)),luajit)
LUA_INCDIR ?= $(call once,LUA_INCDIR,$(shell \
  for dir in $(foreach d,/usr /usr/local $(BREW) $(BREW)/opt/lua@$(LUA_VERSION),\
      $(d)/include/lua$(LUA_VERSION)) \
    $$(for name in $(LUA_NAMES); do \
      $(PKG_CONFIG) --variable=includedir $$name; done 2>/dev/null) \
    /usr/local/include /usr/include; \
  do $(call lua_is_in,$$dir) && echo $$dir && break; done))
INCLUDES = $(addprefix -I,$(LUA_INCDIR) $(ZK_INCDIR) $(MD_INCDIR) \
             $(addsuffix /include,$(BREW)))

# What is missing is said in a sentence, before the compiler says it in many.
finds   = $(shell $(CC) $(INCLUDES) -E -include $(1) -x c /dev/null \
            >/dev/null 2>&1 && echo yes)
# "yes" if the compiler with $(1) defines a macro: its name and value match $(2).
defines = $(shell $(CC) $(1) -E -dM -x c /dev/null 2>/dev/null | \
            awk '/^.define $(2)/ { print "yes" }')
INSTALL = 'make deps LUA_VERSION=$(LUA_VERSION)' installs it
CHECK_CC = $(if $(call finds,stdio.h),,$(error There is no C compiler '$(CC)' \
  that finds <stdio.h>: $(INSTALL), CC=… names another))
CHECK = $(call once,CHECK,$(if $(filter 5.1 5.3 5.4 5.5,$(LUA_VERSION)),,$(error \
  LUA_VERSION is 5.1, 5.3, 5.4 or 5.5, not '$(LUA_VERSION)'; LuaJIT takes what \
  is built for 5.1)) \
  $(if $(filter st virtual,$(ZK)),,$(error ZK is st or virtual, not '$(ZK)')) \
  $(if $(findstring zookeeper_mt,$(ZK_LIB)),$(error ZK_LIB is $(ZK_LIB): zklock \
  takes libzookeeper_st, which its own thread turns)) \
  $(CHECK_CC) \
  $(if $(shell $(call lua_is_in,$(LUA_INCDIR)) && echo yes),,$(error There is \
  no lua.h of Lua $(LUA_VERSION)$(if $(LUA_INCDIR), in $(LUA_INCDIR)): \
  $(INSTALL), LUA_INCDIR=… says where it is)) \
  $(if $(call finds,zookeeper/zookeeper.h),,$(error There is no \
  zookeeper/zookeeper.h: $(INSTALL), ZK_INCDIR=… says where it is)) \
  $(if $(call defines,$(INCLUDES) -include zookeeper/zookeeper_version.h,ZOO_VERSION ),,$(error \
  zookeeper/zookeeper.h is of a ZooKeeper before 3.6, and zklock needs the client \
  of 3.6 or later: ZK_INCDIR=… and ZK_LIB=… say where one is)) \
  $(if $(filter virtual,$(ZK))$(wildcard $(ZK_LIB)),,$(error There is no \
  $(or $(ZK_LIB),libzookeeper_st): $(INSTALL) (Debian's libzookeeper-st-dev, \
  or libzookeeper-st2 beside libzookeeper-mt-dev), ZK_LIB=… says where it is)) \
  $(if $(filter Darwin,$(UNAME))$(call finds,sha2.h),,$(error There is no \
  sha2.h, of libmd: $(INSTALL), MD_INCDIR=… says where it is)))

# OpenSSL is optional: without it there is no zklock.tls.
#   OPENSSL_INCDIR=…     the directory of openssl/ssl.h, if it is not found
OPENSSL_INCDIR ?= $(addsuffix /opt/openssl@3/include,$(BREW))
OPENSSL_LIBS   ?= $(addprefix -L,$(wildcard $(addsuffix \
  /opt/openssl@3/lib,$(BREW)))) -lssl -lcrypto
HAS_OPENSSL := $(call defines,$(addprefix -I,$(OPENSSL_INCDIR)) -include \
  openssl/ssl.h,OPENSSL_VERSION_MAJOR [3-9])

# ---- The module --------------------------------------------------------------

WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wvla
STANDARD = -std=c11 -D_GNU_SOURCE
VIRTUAL := $(sort $(wildcard src/virtual/*.c))
SOURCES := $(filter-out src/virtual/%,$(sort $(wildcard src/*/*.c)))
HEADERS := $(filter-out src/virtual/%,$(sort $(wildcard src/*/*.h)))
# The command's guardian is a module of its own, with a clock.
GUARDIAN := $(filter src/guardian/%,$(SOURCES)) src/io/clock.c
# TLS is a module of its own, which is linked to OpenSSL.
TLS_SOURCES := $(filter src/tls/%,$(SOURCES)) src/io/images.c
CORE := $(filter-out src/guardian/% src/tls/%,$(SOURCES))
# The core once more, in virtual time: it has no client library, and what asks the
# system for time and chance is replaced.
VIRTUAL_CORE := $(filter-out $(addprefix src/io/,clock.c entropy.c imports.c),\
  $(CORE)) $(VIRTUAL)
VIRTUAL_HEADERS := $(HEADERS) $(wildcard src/virtual/*.h src/virtual/*/*.h \
  src/virtual/*/*/*.h)
VIRTUAL_INCLUDES = -Isrc/virtual/system -Isrc
PURE    := $(sort $(wildcard src/protocol/*.c))
LUA_FILES := $(sort $(wildcard lua/zklock/*.lua lua/zklock/*/*.lua))
LINK    = $(if $(filter Darwin,$(UNAME)),-bundle -undefined dynamic_lookup,\
            -shared)

OUT    = $(BUILD)/$(ZK)/$(LUA_VERSION)
MODULE = $(OUT)/zklock/core.so
GUARDIAN_MODULE = $(OUT)/zklock/guardian.so
TLS_MODULE = $(OUT)/zklock/tls.so
VIRTUAL_MODULE = $(OUT)/zklock/virtual.so
# (What zklock.testing needs of the system, only Linux has.)
MODULES = $(MODULE) $(GUARDIAN_MODULE) $(if $(HAS_OPENSSL),$(TLS_MODULE)) $(if $(filter Linux,$(UNAME)),$(VIRTUAL_MODULE))

all: $(MODULES)  ## build the modules for LUA_VERSION
	@:
library: $(filter-out $(VIRTUAL_MODULE),$(MODULES))
	@:

# What a goal needs and does not find it says in a sentence, and `make deps` installs.
deps:  ## install what a goal needs, with apt: FOR='demo test nginx'
	@sh .ci/install $(or $(FOR),demo)
has-%:
	@sh .ci/install --check $*

# One compilation of all sources: they are few, and it is quicker than many. That
# they are many files is for readers: where the compiler can do it, what comes out
# is optimized as one.
takes = $(shell echo 'int main(void) { return 0; }' | \
          $(CC) -Werror $(1) -x c - -o /dev/null 2>/dev/null && echo '$(1)')
WHOLE = $(call once,WHOLE,$(call takes,-flto=auto))
SYSTEM_LIBRARIES = -lpthread $(if $(filter Linux,$(UNAME)),-ldl -lmd)

# Makes a module of the rule's sources, with the flags $(1) and the libraries $(2). What
# is missing stops make.
define module
@$(strip $(CHECK))mkdir -p $(@D)
$(CC) $(STANDARD) $(WARNINGS) $(CFLAGS) $(strip $(HARDENING)) -fPIC $(1) $(INCLUDES) \
  $(filter %.c,$^) $(LINK) -o $@ $(2) $(LDFLAGS)
endef

ifneq ($(ZK),virtual)
$(MODULE): $(CORE) $(HEADERS) Makefile
	$(call module,-Isrc,$(ZK_LIB) $(SYSTEM_LIBRARIES))

# What zklock.testing loads in place of that.  Quick to compile matters more than
# quick to run.
$(VIRTUAL_MODULE): $(filter-out %/atomics.c,$(VIRTUAL_CORE)) $(VIRTUAL_HEADERS) Makefile
	$(call module,-O1 -fno-lto $(VIRTUAL_INCLUDES),$(SYSTEM_LIBRARIES))
else

# Tests change this one often, so each source is compiled by itself, several at a
# time.  -fsanitize=thread has the compiler call a function for each atomic
# operation (src/virtual/atomics.c); the sanitizer is not linked.  Under another
# sanitizer threads switch where they wait only.  MODEL_FLAGS=… is for src/virtual.
MAKEFLAGS += -j$(shell getconf _NPROCESSORS_ONLN)
SANITIZED := $(findstring -fsanitize=,$(CFLAGS))
VIRTUAL_FLAGS := $(strip $(CHECK)) -fPIC -fvisibility=hidden \
  $(if $(SANITIZED),,-fsanitize=thread) $(VIRTUAL_INCLUDES) $(INCLUDES)
OBJECTS := $(patsubst src/%.c,$(OUT)/objects/%.o,$(filter-out \
  $(if $(SANITIZED),%/atomics.c),$(VIRTUAL_CORE)))
$(OUT)/objects/%.o: src/%.c $(VIRTUAL_HEADERS) Makefile
	@mkdir -p $(@D) && \
	  $(CC) $(STANDARD) $(WARNINGS) $(CFLAGS) $(VIRTUAL_FLAGS) \
	    $(if $(filter src/virtual/%,$<),$(MODEL_FLAGS)) -c $< -o $@
$(MODULE): $(OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(STANDARD) $(CFLAGS) -fPIC $(INCLUDES) $(OBJECTS) $(LINK) -o $@ \
	  $(SYSTEM_LIBRARIES) $(LDFLAGS)
$(VIRTUAL_MODULE): $(MODULE)
	@ln -sf $(<F) $@
endif

$(GUARDIAN_MODULE): $(GUARDIAN) $(HEADERS) Makefile
	$(call module,-Isrc)

$(TLS_MODULE): $(TLS_SOURCES) $(HEADERS) Makefile
	$(call module,-fvisibility=hidden -Isrc $(addprefix -I,$(OPENSSL_INCDIR)),\
	  $(OPENSSL_LIBS) -lpthread $(if $(filter Linux,$(UNAME)),-ldl))

# What makes an error in memory end the process rather than do as it is told. A
# compiler that fortifies by itself, or does not optimize, is not told to.
FORTIFY = $(if $(call defines,$(CFLAGS),__OPTIMIZE__ ),\
  $(if $(call defines,$(CFLAGS),_FORTIFY_SOURCE ),,-D_FORTIFY_SOURCE=2))
HARDENING ?= $(call once,HARDENING,$(call takes,-fstack-protector-strong) $(FORTIFY) \
             $(call takes,-Wl$(COMMA)-z$(COMMA)relro$(COMMA)-z$(COMMA)now))
COMMA := ,

# What runs from this tree without being installed.
RUN = LUA_PATH='$(CURDIR)/lua/?.lua;$(CURDIR)/lua/?/init.lua;;' \
      LUA_CPATH='$(abspath $(OUT))/?.so;;'

# ---- To see it ---------------------------------------------------------------

# Who wants to see locks need not see the compiler's command.
$(if $(filter demo example,$(MAKECMDGOALS)),$(eval .SILENT:))

demo: has-demo library  ## several processes contend for one lock, live
	@$(RUN) bash examples/demo lua$(LUA_VERSION)

example: $(if $(or $(wildcard examples/$(NAME).lua),$(filter embed,$(NAME))),has-demo $(if $(filter loop_luv loop_cqueues,$(NAME)),has-loops) library)  ## runs one: NAME=mutex
	@$(RUN) bash examples/run lua$(LUA_VERSION) '$(NAME)'

example-nginx: has-nginx  ## nginx with locks in its handlers, asked by curl
	@bash examples/nginx/run

# For TLS=yes. Other spellings are errors, or servers would start without TLS.
TLS_FLAG = $(if $(filter yes,$(TLS)),--tls,$(if $(filter-out no,$(TLS)),\
  $(error TLS must be yes or no, not '$(TLS)')))

zookeeper: has-demo  ## a ZooKeeper server on 127.0.0.1:2181, or PORT=, until Ctrl-C; TLS=yes
	@bash spec/support/zookeeper start --servers 1 $(TLS_FLAG) \
	  --port $(or $(if $(filter command,$(origin PORT)),$(PORT)),2181$(COMMA)any)
ensemble: has-demo  ## three of them
	@bash spec/support/zookeeper start --servers 3 $(TLS_FLAG)

# ---- To test it --------------------------------------------------------------

check: has-check  ## is a change right?  All specs in virtual time, on one Lua
	@bash spec/run --check --lua $(LUA_VERSION)
test: has-test  ## everything that CI tests: each Lua, real servers
	@bash spec/run
conformance: has-check  ## the model of ZooKeeper beside a real one: SEEDS=, SEED=
	@SPEC_SEQUENCES=$(or $(SEEDS),1000) SPEC_SEED=$(or $(SEED),1) bash spec/run --lua \
	  $(LUA_VERSION) --zk $(ZK) spec/server/conformance_spec.lua

sim: $(BUILD)/sim  ## against a simulated ZooKeeper: SEEDS=, SEED=, FIRST=
	$< --seeds $(or $(SEEDS),1000000) --seed $(or $(SEED),$(FIRST),1)
	$(if $(SEED),,$< --aim --seeds $$(($(or $(SEEDS),1000000) / 20)) --seed $(or $(FIRST),1))

explore: has-check  ## the whole library under chosen schedules: SEEDS=, SEED=, MINUTES=
	@spec/explore/run

mutants:  ## does a test find a protocol that is broken on purpose?  MUTANTS=
	@bash spec/sim/mutants/run $(MUTANTS)

SIM_SOURCES := $(sort $(wildcard spec/sim/*.c))
$(BUILD)/sim: $(SIM_SOURCES) $(wildcard spec/sim/*.h) $(PURE) $(HEADERS)
	$(strip $(CHECK_CC))
	@mkdir -p $(@D)
	$(CC) $(STANDARD) $(WARNINGS) $(CFLAGS) -Isrc -include spec/sim/memory.h \
	  $(SIM_SOURCES) $(PURE) -o $@

# The tests in C (spec/unit/c_spec.lua) with the sources that they test.
UNIT := $(wildcard spec/unit/*.c) spec/sim/memory.c $(PURE) \
  $(shell cat spec/unit/sources 2>/dev/null)
UNIT_OBJECTS := $(UNIT:%.c=$(BUILD)/unit/%.o)
$(BUILD)/unit/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(STANDARD) -UNDEBUG -Wall -Wextra $(CFLAGS) -O1 -fno-lto -Isrc \
	  -include spec/sim/memory.h -MMD -MP -c $< -o $@
$(BUILD)/unit/tests: $(UNIT_OBJECTS)
	$(CC) $(CFLAGS) -fno-lto $^ -o $@ $(OPENSSL_LIBS)
-include $(wildcard $(UNIT_OBJECTS:.o=.d))

memory: has-check  ## memory that runs out, a collector in a hurry, thousands of waits
	@bash spec/memory/run --lua $(LUA_VERSION)
	@bash spec/run --lua $(LUA_VERSION) --zk $(ZK) spec/memory/stepped_spec.lua
	@SPEC_EXCLUDE=stock bash spec/run --lua $(CURDIR)/spec/memory/hurried \
	  --zk virtual spec/integration spec/virtual
valgrind: has-check has-sanitize  ## some specs on LuaJIT under valgrind
	@bash spec/memory/valgrind

cost: has-check has-cost  ## requests, system calls, instructions per operation: TREES='A B'
	@LUA=lua$(LUA_VERSION) bash bench/cost $(TREES)
budgets: has-check has-cost  ## the same against bench/budgets; RECORD=yes: writes them
	@bash bench/cost --$(if $(RECORD),record,check)
soak: has-check has-cost  ## ten minutes of everything at once: is memory flat?  MINUTES=
	@LUA=lua$(LUA_VERSION) bash bench/soak

asan: has-check has-sanitize  ## the specs and the simulator under address and undefined sanitizers
	@bash spec/sanitize address,undefined
tsan: has-check has-sanitize  ## the specs under the thread sanitizer
	@bash spec/sanitize thread

# Clang's fuzzer on what reads names, hosts and replies, and a generator of calls with
# any options on live objects in virtual time, under the sanitizers. What the first finds
# stays in $(BUILD)/fuzz; what is worth keeping goes to the corpus. The other one prints
# its seeds: FUZZ_SEED=… replays one.
SECONDS ?= 60
calls: has-demo  ## functions and files that one acquire goes through
	@bench/calls/run
fuzz: has-check has-sanitize  ## fuzzes the parsers, and all calls and options, each for SECONDS=
	@for what in names hosts replies; do \
	  mkdir -p $(BUILD)/fuzz/$$what.new && clang $(STANDARD) -g -O1 \
	    -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -Isrc \
	    spec/fuzz/$$what.c $(PURE) src/io/hosts.c src/io/path.c -o $(BUILD)/fuzz/$$what && \
	  $(BUILD)/fuzz/$$what -max_total_time=$(SECONDS) -max_len=1500 \
	    -artifact_prefix=$(BUILD)/fuzz/$$what- -print_final_stats=1 -verbosity=0 \
	    $(BUILD)/fuzz/$$what.new spec/fuzz/corpus/$$what || exit 1; done
	@for lua in $(or $(LUAS),5.4 luajit); do \
	  LUA=$$lua SEEDS=0 FUZZ_SECONDS=$(SECONDS) \
	    bash spec/sanitize address,undefined spec/fuzz || exit 1; done

ci-full: lint test asan tsan  ## what takes longer than a commit should wait
	$(MAKE) -s sim SEEDS=1000000
	$(MAKE) -s sim SEEDS=1000000 FIRST=$$(date +%Y%m%d)000000
	$(MAKE) -s mutants
	bash spec/run bench/spec
	SPEC_TLS=yes bash spec/run --zk virtual spec/integration
	$(MAKE) -s conformance SEEDS=1000
	$(MAKE) -s memory
	$(MAKE) -s fuzz
	HANDSHAKES=10000 bash spec/run spec/nginx/tls_spec.lua
	$(MAKE) -s torture TLS=yes
	.ci/bare --suite trixie 'make deps FOR=test' 'make test'
	.ci/bare --suite trixie 'make deps FOR=deb && make deb && yes | sudo apt install ./build/deb/*zklock_*.deb'

torture: has-check  ## processes against faults, and a witness: MINUTES=, SEED=, TLS=yes
	@TLS=$(if $(TLS_FLAG),yes) bash spec/torture/run

# ---- To compare it with others -------------------------------------------------

# bench/README.md has the workloads and what a driver is.
bench: has-bench  ## beside the peers: BENCH=quick or full, DRIVERS='…', CASES='…'
	@bench/run --set $(or $(BENCH),main) $(if $(DRIVERS),--drivers '$(DRIVERS)') \
	  $(if $(CASES),--cases '$(CASES)') $(BENCH_FLAGS)

# What bench/drivers/zklock/run runs.
$(BUILD)/bench/zklock/$(LUA_VERSION)/epoll.so: bench/drivers/zklock/epoll.c
	$(call module,,-lm)

# ---- To read it ------------------------------------------------------------------

pictures:  ## draws doc/pictures and doc/bench, but for the recording
	@lua$(LUA_VERSION) doc/pictures/draw
recording: has-check library  ## records the demo again: doc/pictures/demo.svg
	@$(RUN) lua$(LUA_VERSION) doc/pictures/record

# ---- To install it -----------------------------------------------------------

ROOT    = $(if $(DESTDIR),$(abspath $(DESTDIR)))
TO      = $(ROOT)$(abspath $(PREFIX))
LUA_DIR = $(abspath $(PREFIX))/share/lua/$(LUA_VERSION)
LIB_DIR = $(abspath $(PREFIX))/lib/lua/$(LUA_VERSION)

# The command runs on LuaJIT rather than on Lua 5.1, which cannot yield where it
# has to.
COMMAND_LUA = $(call once,COMMAND_LUA,$(shell for lua in \
  $(if $(filter 1,$(MINOR)),luajit,$(LUA_NAMES)); do \
  file=$$(command -v $$lua) && \
  $$file -e 'os.exit(_VERSION == "Lua $(LUA_VERSION)" and 0 or 1)' && \
  echo $$file && break; done))

# The command's own Lua writes its manual pages and completion, with argparse, in
# directories as they are below PREFIX.
MAN := $(BUILD)/man
NO_ARGPARSE = $(if $(COMMAND_LUA),$(shell $(COMMAND_LUA) -e 'require "argparse"' \
  2>/dev/null || echo argparse is missing: make deps FOR=command installs it),there \
  is no $(if $(filter 1,$(MINOR)),luajit,lua$(LUA_VERSION)) to run it)
man: $(MAN)/share/man/man1/zklock.1  ## the command's manual pages and completion, into build/man
	@:
$(MAN)/share/man/man1/zklock.1: doc/make/man.lua $(addprefix lua/zklock/,version.lua \
  cli/completion.lua cli/parser.lua cli/texts.lua)
	$(if $(NO_ARGPARSE),$(error The command has no manual: $(NO_ARGPARSE)))
	@rm -rf $(MAN)
	$(COMMAND_LUA) doc/make/man.lua $(MAN)/share

# Copies the files $(2) of the directory $(1) to the same places below $(3). All users
# can read what is installed, and only its owner can write it, whatever umask built it
# and installs it.
copy = umask 022; cd $(1) && for f in $(2); do \
  mkdir -p "$(3)/$${f%/*}" && install -m 644 "$$f" "$(3)/$$f" || exit 1; done

# True if the interpreter $(1) looks where things are installed.
looks_there = [ $$($(1) -e 'print((package.path .. ";" .. package.cpath):gsub(";", "\n"))' | \
  sort -u | grep -cFx -e '$(LUA_DIR)/?.lua' -e '$(LUA_DIR)/?/init.lua' -e '$(LIB_DIR)/?.so') -eq 3 ]

install: install-library install-command  ## into PREFIX, for LUA_VERSION
install-library: all
	@$(call copy,lua,$(LUA_FILES:lua/%=%),$(TO)/share/lua/$(LUA_VERSION))
	@$(call copy,$(OUT),$(MODULES:$(OUT)/%=%),$(ROOT)$(LIB_DIR))
	@[ -z "$(DESTDIR)" ] || exit 0; \
	for lua in lua$(LUA_VERSION) $(if $(filter 1,$(MINOR)),luajit); do \
	  ! command -v $$lua >/dev/null || $(call looks_there,$$lua) || { \
	    echo "$$lua does not look there. It does with"; \
	    echo "  export LUA_PATH='$(LUA_DIR)/?.lua;$(LUA_DIR)/?/init.lua;;'"; \
	    echo "  export LUA_CPATH='$(LIB_DIR)/?.so;;'"; break; }; done

# There is one command, whatever number of Luas the library is installed for: who has
# installed it uninstalls it.  It knows its interpreter, and where its modules are.
COMMAND_FILES = bin/zklock share/bash-completion/completions/zklock \
  share/zsh/site-functions/_zklock share/fish/vendor_completions.d/zklock.fish \
  share/man/man1/zklock*.1
is_other_lua = [ -e "$(TO)/bin/zklock" ] && ! grep -qF '$(LUA_DIR)/' "$(TO)/bin/zklock"
install-command:
	@$(if $(NO_ARGPARSE),,$(MAKE) -s man)
	@if [ -n "$(NO_ARGPARSE)" ]; then \
	  echo "The command zklock is left out: $(NO_ARGPARSE)."; \
	elif $(is_other_lua); then \
	  echo "$(PREFIX)/bin/zklock is another Lua's, and stays so."; \
	else \
	  mkdir -p $(MAN)/bin && printf '%s\n' "#!$(COMMAND_LUA)" \
	    'dofile "$(LUA_DIR)/zklock/cli/main.lua"' >$(MAN)/bin/zklock && \
	  $(call copy,$(MAN),$(COMMAND_FILES),$(TO)) && chmod 755 "$(TO)/bin/zklock"; \
	fi

uninstall:  ## removes what `make install` has put there
	@cd "$(TO)" 2>/dev/null || exit 0; \
	$(is_other_lua) || rm -f $(COMMAND_FILES); \
	rm -f $(LUA_FILES:lua/%=share/lua/$(LUA_VERSION)/%) \
	  $(patsubst $(OUT)/%,lib/lua/$(LUA_VERSION)/%,$(MODULES) $(TLS_MODULE)); \
	rmdir -p $(patsubst lua/%/,share/lua/$(LUA_VERSION)/%,$(sort $(dir $(LUA_FILES)))) \
	  lib/lua/$(LUA_VERSION)/zklock $(sort $(dir $(COMMAND_FILES))) 2>/dev/null || true

# ---- To document it ----------------------------------------------------------

reference:  ## doc/api.md from lua/zklock/meta
	@lua$(LUA_VERSION) doc/make/api.lua

# Everything that is made from other files and committed, but for the recording.
regenerate: format rockspecs reference pictures  ## what is made from other files

# ---- To pack it ----------------------------------------------------------------

# The version stands in one file, and everything that is packed has it from there.
VERSION := $(shell sed -n 's/^return "\(.*\)"$$/\1/p' lua/zklock/version.lua)
PACKED = zklock-$(VERSION)

version:  ## print it
	@echo $(VERSION)

ROCKSPECS ?= rockspec
rockspecs:  ## write the rockspecs again, with the Lua files that there are
	@rm -f $(ROCKSPECS)/zklock-*-1.rockspec
	@lua$(LUA_VERSION) rockspec/make.lua $(ROCKSPECS) $(VERSION) $(LUA_FILES)

# What is committed, always in the same bytes. (A clone that this directory only lies
# in, as an archive that was unpacked there, is somebody else's.)
DIST = $(BUILD)/dist/$(PACKED).tar.gz
dist:  ## the source as an archive, of HEAD, into build/dist
	@mkdir -p $(dir $(DIST))
	@git --git-dir=.git -c tar.umask=022 archive --prefix=$(PACKED)/ -o $(DIST) HEAD || { \
	  echo "make dist takes a clone, with git: what is packed is its HEAD." >&2; exit 1; }
	@echo $(DIST)

deb: has-deb  ## Debian's packages, of HEAD, into build/deb
	@BUILD=$(BUILD) VERSION=$(VERSION) bash package/deb

opm:  ## the tree for OpenResty's opm, into build/opm: doc/install.md
	@BUILD=$(BUILD) VERSION=$(VERSION) LUA_FILES='$(LUA_FILES)' \
	  sh package/opm/make

# ---- To keep it clean --------------------------------------------------------

floors:  ## which file uses which, in src and lua: layers below only, no cycle
	@lua$(LUA_VERSION) spec/floors.lua

C_FILES = $(SOURCES) $(VIRTUAL) $(VIRTUAL_HEADERS) \
  $(wildcard spec/*/*.[ch] examples/*/*.c bench/*/*.c bench/*/*/*.[ch])
lint: has-lint floors  ## luacheck, clang-format, compiler warnings as errors, floors
	luacheck -q lua spec examples bench package doc doc/pictures/draw \
	  doc/pictures/record rockspec/*.lua
	clang-format --dry-run -Werror $(C_FILES)
	pyflakes3 bench/run $(wildcard */*/*.py */*/*/*.py)
	$(MAKE) -s BUILD=$(BUILD)/strict CFLAGS='-O2 -Werror' ZK=$(ZK) all
	$(MAKE) -s BUILD=$(BUILD)/strict CFLAGS='-O2 -Werror' ZK=virtual all

# All sources with the headers of musl, the C library of Alpine. Only those of Lua, ZooKeeper,
# OpenSSL and libmd are the system's, by links, so that no other header of glibc is found.
MUSL = $(abspath $(BUILD))/musl
musl: has-analyze
	@mkdir -p $(MUSL)/all $(MUSL)/machine
	@ln -sfn $(addprefix /usr/include/,zookeeper openssl sha2.h) $(MUSL)/all
	@ln -sfn $(addprefix /usr/include/$(MULTIARCH)/,openssl \
	  lua$(LUA_VERSION)-deb-multiarch.h) $(MUSL)/machine
	@echo 'musl-gcc …'
	@$(call compile_on_musl,-Isrc) $(SOURCES)
	@$(call compile_on_musl,$(VIRTUAL_INCLUDES)) $(VIRTUAL)
compile_on_musl = musl-gcc $(STANDARD) $(WARNINGS) -Werror -fsyntax-only $(1) \
  $(addprefix -I,$(LUA_INCDIR) $(MUSL)/all $(MUSL)/machine)

# Each C file alone, many at a time. What clang-tidy is to look for is argued in
# .clang-tidy. gcc's analyzer does not know what gives back that which hangs on a
# userdata, a request or a watch: leaks are left to the sanitizers.
ANALYZE = $(STANDARD) -Isrc $(INCLUDES)
analyze: has-analyze musl  ## cppcheck, clang-tidy, gcc's -fanalyzer, musl: no finding
	cppcheck --quiet --error-exitcode=1 --inline-suppr -Isrc --std=c11 \
	  --enable=warning,performance,portability \
	  --suppress=missingIncludeSystem -D__linux__ -DLUA_VERSION_NUM=504 -DOPENSSL_VERSION_MAJOR=3 \
	  '-DElfW(type)=Elf64_##type' src
	@echo 'gcc -fanalyzer …'
	@printf '%s\n' $(SOURCES) | xargs -P $$(nproc) -I{} gcc $(ANALYZE) -O1 -Werror \
	  -fanalyzer -Wno-analyzer-malloc-leak -c {} -o /dev/null
	@echo 'clang-tidy …'
	@printf '%s\n' $(SOURCES) | xargs -P $$(nproc) -n 4 sh -c \
	  'clang-tidy --quiet "$$@" -- $(ANALYZE) 2>/dev/null' tidy

format:  ## clang-format, in place
	clang-format -i $(C_FILES)

clean:  ## remove what was built
	rm -rf $(BUILD) lua_modules

help:  ## this list
	@awk -F ':.*##' '/^[a-z-]+:.*##/ { printf "  make %-14s %s\n", $$1, $$2 }' \
	  Makefile
