# zklock: what people type.  `make help` lists it.
#
#   LUA_VERSION=5.4      which Lua `make` and `make install` build for
#   ZK=st|mt             the ZooKeeper client library; default: what is there,
#                        the single-threaded one first
#   PREFIX=/usr/local    where `make install` puts things
#   ZKLOCK_HOSTS=…       a real ensemble for `make demo`

LUA_VERSION ?= 5.4
PREFIX      ?= /usr/local
DESTDIR     ?=
CC          ?= cc
CFLAGS      ?= -O2 -g
BUILD       ?= build

UNAME := $(shell uname -s)
BREW  := $(shell [ $(UNAME) = Darwin ] && brew --prefix 2>/dev/null)

# The ZooKeeper client.  Debian's two -dev packages exclude each other, and
# the header is the same: the second backend links its run-time library.
find_zk = $(firstword $(wildcard \
  $(foreach d,/usr/lib/$(shell $(CC) -print-multiarch 2>/dev/null) /usr/lib64 \
  /usr/lib /usr/local/lib $(BREW)/lib,\
  $(d)/libzookeeper_$(1).so $(d)/libzookeeper_$(1).dylib \
  $(d)/libzookeeper_$(1).so.2)))
ZK_ST := $(call find_zk,st)
ZK_MT := $(call find_zk,mt)
ZK    ?= $(if $(ZK_ST),st,mt)
ZK_LIB = $(if $(filter mt,$(ZK)),$(ZK_MT),$(ZK_ST))

# Lua.  5.1 and LuaJIT share one binary, built with 5.1's headers.
LUA_INCDIR ?= $(firstword $(wildcard /usr/include/lua$(LUA_VERSION) \
  /usr/local/include/lua$(LUA_VERSION) $(BREW)/include/lua$(LUA_VERSION) \
  $(BREW)/opt/lua@$(LUA_VERSION)/include/lua$(LUA_VERSION)) \
  /usr/include/lua$(LUA_VERSION))

WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wvla
STANDARD = -std=c11 -D_GNU_SOURCE
SOURCES := $(sort $(wildcard src/*.c))
HEADERS := $(sort $(wildcard src/*.h))
PURE    := $(addprefix src/,name.c rule.c lease.c timer.c room.c watch.c \
             suspicion.c contender.c turn.c unfair.c permit.c lane.c session.c)
LUA_FILES := $(sort $(wildcard lua/zklock/*.lua lua/zklock/loop/*.lua \
               lua/zklock/ngx/*.lua))
LINK    = $(if $(filter Darwin,$(UNAME)),-bundle -undefined dynamic_lookup,\
            -shared)

OUT    = $(BUILD)/$(ZK)/$(LUA_VERSION)
MODULE = $(OUT)/zklock/core.so

.PHONY: all
all: $(MODULE)  ## build the module for LUA_VERSION
	@:

# One compilation of all sources: they are few, and it is quicker than many.
$(MODULE): $(SOURCES) $(HEADERS) Makefile
	@mkdir -p $(@D)
	@[ -n "$(ZK_LIB)" ] || { echo "make: no libzookeeper_$(ZK) found;" \
	  "'sh .ci/install demo' installs what is missing" >&2; exit 1; }
	$(CC) $(STANDARD) $(WARNINGS) $(CFLAGS) -fPIC \
	  $(if $(filter mt,$(ZK)),-DZKLOCK_MT) -I$(LUA_INCDIR) \
	  $(if $(BREW),-I$(BREW)/include) $(SOURCES) $(LINK) -o $@ $(ZK_LIB) \
	  -lpthread $(if $(filter Linux,$(UNAME)),-ldl) $(LDFLAGS)

# What runs from this tree without being installed.
RUN = LUA_PATH='$(CURDIR)/lua/?.lua;$(CURDIR)/lua/?/init.lua;;' \
      LUA_CPATH='$(abspath $(BUILD))/$(1)/$(2)/?.so;;'

# What is chosen by what is installed is chosen after the installation.
.PHONY: demo demo-installed
demo:  ## several processes contend for one lock, live
	@sh .ci/install demo
	@$(MAKE) -s demo-installed
demo-installed: all
	@$(call RUN,$(ZK),$(LUA_VERSION)) bash examples/demo lua$(LUA_VERSION)

.PHONY: example-nginx
example-nginx:  ## nginx with locks in its handlers, asked by curl
	@sh .ci/install nginx
	@BUILD=$(BUILD) bash examples/nginx/run

.PHONY: test
test:  ## everything that CI tests: 5.4, LuaJIT and 5.1, both backends
	@sh .ci/install demo test
	@bash spec/run

.PHONY: sim
SEEDS ?= 1000000
sim: $(BUILD)/sim  ## the protocol against a simulated ZooKeeper: SEEDS=, SEED=
	$(BUILD)/sim --seeds $(SEEDS) $(if $(SEED),--seed $(SEED)) $(SIM_FLAGS)
	$(if $(SEED),,$(BUILD)/sim --aim --seeds $$(($(SEEDS) / 20)) $(SIM_FLAGS))

# src/room.h with limits that some three nodes reach.
.PHONY: crowded
crowded: $(BUILD)/crowded/sim  ## the same, where a session has room for little
	$< --seeds $(SEEDS) $(if $(SEED),--seed $(SEED)) $(SIM_FLAGS)
$(BUILD)/crowded/sim: $(BUILD)/sim
	@mkdir -p $(@D) && rm -rf $(@D)/src && cp -r src $(@D)
	@sed -e 's/FOR_ALL = [0-9]*, ROOM_MAX = [0-9]*/FOR_ALL = 700, ROOM_MAX = 1100/' \
	  src/room.h >$(@D)/src/room.h
	@! cmp -s src/room.h $(@D)/src/room.h
	$(CC) $(STANDARD) $(WARNINGS) $(CFLAGS) -I$(@D)/src \
	  -include spec/sim/memory.h $(SIM_SOURCES) \
	  $(addprefix $(@D)/,$(PURE)) -o $@

.PHONY: mutants
mutants:  ## the simulator against a protocol that is broken on purpose
	@BUILD=$(BUILD) PURE='$(PURE)' bash spec/sim/mutants/run $(MUTANTS)

SIM_SOURCES := $(sort $(wildcard spec/sim/*.c))
$(BUILD)/sim: $(SIM_SOURCES) $(wildcard spec/sim/*.h) $(PURE) $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(STANDARD) $(WARNINGS) $(CFLAGS) -Isrc -include spec/sim/memory.h \
	  $(SIM_SOURCES) $(PURE) -o $@

.PHONY: memory endurance valgrind
memory:  ## memory that runs out, a collector in a hurry, thousands of waits
	@sh .ci/install demo test
	@bash spec/memory/run --lua $(LUA_VERSION) --zk $(ZK)
	@SPEC_EXCLUDE=slow,stock bash spec/memory/run --zk $(ZK) \
	  --lua $(CURDIR)/spec/memory/hurried $(addprefix spec/integration/, \
	  async_spec.lua collection_spec.lua guard_spec.lua with_lock_spec.lua \
	  family/multi_spec.lua family/revoke_spec.lua)
endurance:  ## 10 000 sessions, 100 000 waits, 20 000 at once: some minutes
	@sh .ci/install demo test
	@LUA=lua$(LUA_VERSION) ZK=$(ZK) bash spec/memory/endurance
valgrind:  ## some specs on LuaJIT under valgrind
	@sh .ci/install demo test sanitize
	@bash spec/memory/valgrind

.PHONY: torture
MINUTES ?= 2
torture:  ## processes against faults, and a witness: MINUTES=, SEED=
	@sh .ci/install demo test
	@MINUTES=$(MINUTES) SEED=$(SEED) BUILD=$(BUILD) bash spec/torture/run

.PHONY: zookeeper ensemble
zookeeper:  ## a ZooKeeper server on loopback, until Ctrl-C
	@sh .ci/install demo
	@bash spec/support/zookeeper start --servers 1
ensemble:  ## three of them
	@sh .ci/install demo
	@bash spec/support/zookeeper start --servers 3

.PHONY: install
install: all  ## into PREFIX, for LUA_VERSION
	@for f in $(LUA_FILES); do \
	  to=$(DESTDIR)$(PREFIX)/share/lua/$(LUA_VERSION)/$${f#lua/}; \
	  mkdir -p "$${to%/*}" && cp "$$f" "$$to" || exit 1; done
	@mkdir -p $(DESTDIR)$(PREFIX)/lib/lua/$(LUA_VERSION)/zklock
	cp $(MODULE) $(DESTDIR)$(PREFIX)/lib/lua/$(LUA_VERSION)/zklock/core.so

.PHONY: lint format
lint:  ## luacheck, clang-format, compiler warnings as errors
	@sh .ci/install demo lint
	luacheck -q lua spec examples bench
	clang-format --dry-run -Werror $(SOURCES) $(HEADERS) \
	  $(wildcard spec/*/*.[ch] examples/*/*.c bench/*/*.c)
	$(MAKE) -s BUILD=$(BUILD)/strict CFLAGS='-O2 -Werror' ZK=$(ZK) all

format:  ## clang-format, in place
	clang-format -i $(SOURCES) $(HEADERS) \
	  $(wildcard spec/*/*.[ch] examples/*/*.c bench/*/*.c)

.PHONY: asan tsan
asan:  ## the specs and the simulator under address and undefined sanitizers
	@sh .ci/install demo test sanitize
	@bash spec/sanitize address,undefined
tsan:  ## the specs under the thread sanitizer
	@sh .ci/install demo test sanitize
	@bash spec/sanitize thread

# Clang's fuzzer on what reads names and hosts, a generator on the options. What
# it finds stays in $(BUILD)/fuzz; what is worth keeping goes to the corpus.
.PHONY: fuzz
SECONDS ?= 60
FUZZ = $(STANDARD) -g -O1 -fsanitize=fuzzer,address,undefined \
       -fno-sanitize-recover=undefined -Isrc
fuzz: all  ## fuzzes the parsers and the options, each for SECONDS=
	@sh .ci/install test sanitize
	@mkdir -p $(BUILD)/fuzz/names.new $(BUILD)/fuzz/hosts.new
	clang $(FUZZ) spec/fuzz/names.c src/name.c src/rule.c -o $(BUILD)/fuzz/names
	clang $(FUZZ) spec/fuzz/hosts.c src/settings.c -o $(BUILD)/fuzz/hosts
	@for what in names hosts; do \
	  $(BUILD)/fuzz/$$what -max_total_time=$(SECONDS) -max_len=1500 \
	    -artifact_prefix=$(BUILD)/fuzz/$$what- -print_final_stats=1 -verbosity=0 \
	    $(BUILD)/fuzz/$$what.new spec/fuzz/corpus/$$what || exit 1; done
	@$(call RUN,$(ZK),$(LUA_VERSION)) lua$(LUA_VERSION) spec/fuzz/options.lua \
	  $(SECONDS)

.PHONY: ci-full
ci-full: lint test asan tsan  ## what takes longer than a commit should wait
	$(MAKE) -s sim SEEDS=1000000

.PHONY: clean
clean:  ## remove what was built
	rm -rf $(BUILD) zklock lua_modules
	rm -f src/*.o

.PHONY: help
help:  ## this list
	@awk -F ':.*##' '/^[a-z-]+:.*##/ { printf "  make %-14s %s\n", $$1, $$2 }' \
	  Makefile
