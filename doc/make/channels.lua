--- Channels: by which calls a user is told something, what is no message, and
-- how the list is arranged.  Read by messages.lua.
local channels = {}

-- Which argument of a channel's call is the message.
channels.of_lua = { misuse = 1, refusal = 2, report = 2, fail = 2, say = 1,
  describe = 1 }
channels.of_c = { log_throttled = 3, log_say = 3, luaL_error = 2,
  reason_say = 3, handle_tell_error = 2, say_error = 2,
  acquire_fsm_deny = 2, acquire_fsm_fail = 2,
  pipeline_trouble = 2, watch_say = 2 }

-- How such calls are written; others of these names are no channels.
channels.forms = { describe = "^errors%.", fail = "^exit%.",
  report = "callbacks:", say = "^talk%.", refusal = "^[^.]*$" }

-- What is given to a channel by a name: file, source of the argument, and where
-- its words are seen.
channels.elsewhere = {
  { "loop/init%.lua$", '^"%%s"$', "IN_CALLBACK, UNKNOWN, beside it" },
  { "events%.lua$", "^message$", "src/io/core.c, src/lua/lua_hold_ref.c" },
  { "check%.lua$", "^holders_view$", "under.lua" },
  { "session%.lua$", '^"%%s"$', "src/tls/context.c" },
  -- The command: a library's sentence, or what fills one of its own.
  { "cli/arguments%.lua$", '^"%%s"$', "argparse's own words" },
  { "cli/exit%.lua$", '^"%%s"$', "the library's refusals" },
  { "cli/init%.lua$", "^failure%.message$", "what exit.fail was given" },
  { "cli/config%.lua$", '^"%$%%s: %%s"$', "cli/convert.lua" },
  { "cli/config%.lua$", '^"%%s: "%.%.message$', "calls of blame, above it" },
  { "cli/connect%.lua$", '^"%%s = %%s %(%%s%)"$', "a setting, where it is" },
  { "cli/connect%.lua$", '^"%%s: %%s"$', "the library's log" },
  { "cli/evict%.lua$", "^holders_view$", "a local of it" },
  { "cli/run%.lua$", "^endings%[why%]$", "endings, above it" },
  { "cli/run%.lua$", '^"%%s: %%s"$', "src/guardian/guardian.c" },
  { "cli/run%.lua$", '^"%%s"$', "the library's refusal" },
  { "cli/config%.lua$", '^"%%s"$', "cli/owned_file.lua" },
  { "cli/settings_file%.lua$", '^"%%s %%s"$', "cli/owned_file.lua" },
  { "cli/settings_file%.lua$", '^"%%s: %%s: %%s"$', "cli/convert.lua" },
  -- What zklock.testing asks of its C module is right.
  { "src/virtual/", "", "never shown" },
  -- C: texts that the same function has written.
  { "io/client%.c$", "^error$", "src/io/resolver.c" },
  { "io/core%.c$", "^text$", "snprintf above each" },
  { "io/core%.c$", "^message$", "calls of pipeline_trouble and watch_say" },
  { "io/library%.c$", "^text$", "snprintf above it" },
  { "io/library%.c$", "^code_errno_words", "the system's words" },
  { "io/library%.c$", "^code_failure_words",
    "src/io/library_codes.c" },
  { "io/library%.c$", "^problem$", "src/tls/context.c" },
  { "io/library%.c$", "^handshake_words",
    "src/io/secure.c, src/io/handshake.c, src/tls" },
  { "io/log%.c$", "^since>0", "snprintf above it" },
  { "lua/lua_events%.c$", "^denial%->what$",
    "calls of acquire_fsm_deny, acquire_fsm_fail" },
  { "lua/lua_hold_ref%.c$", "^text$", "snprintf above it" },
  { "lua/lua_settings%.c$", '^"%%s"$', "src/io/hosts.c" },
  { "protocol/directory%.c$", "^message$", "calls of refuse_renewal" },
  { "protocol/barrier_enter%.c$", "^what$", "CANNOT_OPEN, CANNOT_CLOSE" },
  { "protocol/acquire_fsm%.c$", "^what$", "directory.c" },
  { "protocol/release_fsm%.c$", "^what$",
    "calls of acquire_fsm_deny, acquire_fsm_fail" },
  { "protocol/queue%.c$", "^what$", "directory.c" },
  { "protocol/watch%.c$", "^message$", "calls of say and watch_say" },
}

-- What is prose and no message: file, text, why.  Without a text: the file.
channels.no_messages = {
  { "cli/texts%.lua$", nil, "the manual: zklock --help has it" },
  { "cli/parser%.lua$", nil, "the manual" },
  { "cli/completion%.lua$", nil, "scripts for shells" },
  { "cli/complete%.lua$", nil, "what completion asks" },
  { "ngx/page%.lua$", nil, "the page for operators" },
  { "ngx/board%.lua$", nil, "the page for operators" },
  { "zklock/metrics%.lua$", "^#", "the format of metrics" },
  { "zklock/metrics%.lua$", "^<name>", "the format of metrics" },
  { "zklock/metrics%.lua$", "^connecting connected", "a set of words" },
  { "src/virtual/lua_virtual%.c$", "^cannot write", "never shown" },
  { "src/virtual/schedule%.c$", "^<number> <why>", "in traces" },
  { "src/virtual/schedule%.c$", "^<number> is", "in traces" },
  { "src/virtual/schedule%.c$", "^, at ", "behind each" },
  { "src/virtual/schedule%.c$", "^passes a point$", "in traces" },
  { "src/virtual/schedule%.c$", "^zklock in virtual time: $", "before each" },
  { "cli/guardian_client%.lua$", nil, "lines to the guardian" },
  { "guardian/guardian%.c$", "^%l+ <[^>]*>%s*$", "lines of the guardian" },
  { "guardian/guardian%.c$", "<problem>", "the system's words" },
  { "", "^%s*[%a%p]+%s*$", "one word, or none" },
  { "tls/link%.c$", "^certificate required$", "the name of an alert" },
  { "tls/link%.c$", "^no reason is known$", "in the line itself" },
  { "tls/certificate%.c$", "^its certificate$", "in the lines themselves" },
  { "tls/certificate%.c$", "^the certificate of", "in the lines themselves" },
  { "", "^< ", "one word and its places" },
  { "", "^<[^>]*> <[^>]*>$", "nothing but places" },
  { "", "^zklock: <format>$", "what stands before each" },
  { "", "^%%[-%d]*s ", "a column" },
  { "", "^ *<[^>]*> [a-z]+$", "a number and its unit" },
  { "loader%.lua$", "^the C module$", "stands for a file" },
  { "loader%.lua$", "^zklock: <sentence>", "what goes before each" },
  { "cli/waiting%.lua$", "^<ahead>", "in the line itself" },
  { "cli/waiting%.lua$", "^, held", "in the line itself" },
  { "cli/waiting%.lua$", "^no server", "in the line itself" },
  { "cli/run%.lua$", "^<uv>", "the holder's data" },
  { "ngx%.lua$", "^option '<name>'$", "a name" },
  { "ngx%.lua$", "^object ", "a key of a table" },
  { "multi%.lua$", "^multi of ", "a name of a set" },
  { "multi%.lua$", "^<path> <kind>$", "a name in it" },
  { "here%.lua$", "^rewrite ", "names of phases" },
  { "options%.lua$", "^predecessor parent", "a set of words" },
  { "options%.lua$", "^curator ", "a set of words" },
  { "testing/hold%.lua$", "^mutex read ", "a set of words" },
  { "testing/hold%.lua$", "^option 'kind' of <method>$", "a name" },
  { "cli/config%.lua$", "^hosts chroot ", "the settings" },
  { "options%.lua$", "^double barrier$", "a kind" },
  { "lock%.lua$", "double barrier$", "a kind" },
  { "barrier%.lua$", "^double barrier$", "a kind" },
  { "errors%.lua$", "^timeout busy", "the codes" },
  { "leaving%.lua$", "^HUP", "signals" },
  { "run%.lua$", "^TERM", "signals" },
  { "", "^zklock%.[%w_.]+%(", "a usage; check.lua says what is wrong" },
  { "%.[ch]$", "^as it has$", "an assertion at build time" },
  { "%.[ch]$", "^a code of ZooKeeper's$", "an assertion at build time" },
  { "library_requests%.c$", "^no path$", "never shown" },
  { "contender%.c$", "illegal move", "the values of an assertion that fails" },
}

-- Their arguments are patterns, names or code.
channels.patterns = { find = true, match = true, gmatch = true, gsub = true,
  require = true, set = true, methods = true, pcall = true, strstr = true,
  sscanf = true, strncmp = true, popen = true }

-- The first that fits says where a user meets it.  `word`: which argument is
-- its code, level or exit code; `says`: what that is; `before`: what it is told
-- with.
channels.rules = {
  { file = "lua/zklock/testing", call = "misuse", group = "testing" },
  { call = "misuse", group = "misuse" },
  { text = "^option '[%l_]+'[.%l]* must ", group = "misuse" },
  { text = "^option '[%l_]+' needs ", group = "misuse" },
  { file = "loop/init%.lua$", text = "^this co", group = "misuse" },
  { file = "loop/copas%.lua$", group = "names" },
  { call = "refusal", word = 1, group = "refused" },
  { file = "escape%.lua$", text = "^zklock:", says = "invalid",
    group = "refused" },
  { file = "io/library_transactions%.c$", group = "connection" },
  { call = "report", word = 1, group = "log" },
  { file = "callbacks%.lua$", says = "error", group = "log" },
  { file = "ngx/", group = "nginx" },
  { file = "zklock/metrics%.lua$", text = "^%u", group = "metrics" },
  { file = "zklock/metrics%.lua$", text = "%.$", group = "metrics" },
  { call = "describe", group = "described" },
  { file = "session%.lua$", text = "^of process", group = "described" },
  { file = "init%.lua$", text = "^zklock <version>", group = "described" },
  { file = "lock%.lua$", text = "layout$", group = "described" },
  { file = "lock%.lua$", text = "^ of ", group = "described" },
  { file = "loader%.lua$", group = "loader" },
  { file = "testing/core%.lua$", group = "loader" },
  { file = "src/virtual/lua_virtual%.c$", group = "loader" },
  { file = "src/virtual/", group = "dies" },
  { file = "zklock/errors%.lua$", group = "losses" },
  { file = "reasons%.lua$", group = "behind" },
  { file = "zklock/questions%.lua$", text = "credentials", group = "reasons" },
  { file = "zklock/questions%.lua$", text = "^there is no", group = "reasons" },
  { file = "zklock/questions%.lua$", text = "^a session", group = "reasons" },
  { file = "zklock/contenders%.lua$", text = "mark$", group = "reasons" },
  { file = "zklock/session%.lua$", text = "library", group = "behind" },
  { file = "zklock/secure%.lua$", group = "behind" },
  -- The command.
  { file = "cli/credentials", text = "^credentials:", says = "configuration",
    group = "fails" },
  { file = "cli/credentials", group = "credentials" },
  { file = "cli/owned_file", group = "credentials" },
  { file = "cli/evict", call = "fail", text = "^nothing was", says = "gone",
    group = "fails" },
  { file = "cli/evict", call = "fail", text = "has no contender", says = "gone",
    group = "fails" },
  { file = "cli/", call = "fail", word = 1, group = "fails" },
  { file = "cli/arguments", says = "usage", group = "fails" },
  { file = "cli/connect", text = "^<message>", says = "unavailable",
    group = "fails" },
  { file = "cli/main", says = "unavailable", group = "fails" },
  { file = "cli/config", text = "^by default", group = "prints" },
  { file = "cli/config", says = "configuration", before = "<where>: ",
    group = "fails" },
  { file = "cli/convert", group = "values" },
  { file = "cli/exit", text = "^cannot write", says = "unwritable",
    group = "fails" },
  { file = "cli/exit", says = "internal", group = "fails" },
  { file = "cli/init", says = "internal", group = "fails" },
  { file = "cli/run", text = "^its guardian", says = "internal",
    before = "<command>: ", group = "fails" },
  { file = "guardian/guardian%.c$", text = "^failed", says = "lost",
    group = "fails" },
  { file = "cli/", call = "say", group = "says" },
  { file = "cli/run", text = "^%l+ %l+$", group = "names" },
  { file = "cli/run", group = "says" },
  { file = "cli/waiting", group = "says" },
  { file = "cli/evict", text = "^Delete", group = "says" },
  { file = "cli/evict", group = "prints" },
  { file = "cli/", call = "problem", says = "problems", group = "check" },
  { file = "cli/", call = "warning", says = "warnings", group = "check" },
  { file = "cli/servers", group = "check" },
  { file = "cli/", group = "prints" },
  -- C.
  { file = "io/core%.c$", text = "^; it is", says = "error", group = "log" },
  { file = "io/core%.c$", call = "log_throttled", word = 2, group = "log" },
  { file = "io/core%.c$", call = "reason_say", says = "error", group = "did" },
  { file = "io/core%.c$", says = "warn", group = "log" },
  { file = "io/log%.c$", group = "log" },
  { file = "lua_hold_ref%.c$", text = "^a guard", says = "warn",
    group = "log" },
  { file = "lua_events%.c$", group = "did" },
  { file = "lua_core%.c$", text = "^contains", group = "faults" },
  { file = "src/lua/", group = "core" },
  { file = "lua_guardian%.c$", group = "core" },
  { file = "io/hosts%.c$", group = "faults" },
  { file = "io/path%.c$", group = "faults" },
  { file = "io/reason%.c$", group = "reasons" },
  { file = "io/library_codes%.c$", text = "^the server closed",
    group = "connection" },
  { file = "io/library_codes%.c$", group = "reasons" },
  { file = "io/lua_thread%.c$", group = "reasons" },
  { file = "io/library%.c$", text = "read before", says = "warn",
    group = "log" },
  { file = "src/io/", group = "connection" },
  { file = "src/tls/lua_tls%.c$", group = "core" },
  { file = "src/tls/bind%.c$", group = "behind" },
  { file = "src/tls/", group = "tls" },
  { file = "src/protocol/", group = "did" },
  { file = "", group = "names" },
}

local any_code = { ["*"] = "the code of what ended it" }

local exit_codes = { gone = "exit code 1", usage = "exit code 64",
  unavailable = "exit code 69", internal = "exit code 70",
  unwritable = "exit code 74", not_granted = "exit code 75",
  lost = "exit code 76", refused = "exit code 77",
  configuration = "exit code 78" }

channels.order = { "misuse", "refused", "behind", "losses", "reasons", "did",
  "connection", "tls", "log", "nginx", "faults", "names", "described",
  "metrics", "core", "loader", "testing", "dies", "fails", "credentials",
  "values", "says", "prints", "check", "install" }

channels.groups = {
  misuse = { title = "Raised: misuse", prefix = "zklock: ", text = [[
The call is wrong, whatever the world does: it raises, and blames the line of
your code that called.]] },
  refused = { title = "Returned: `nil, message, code`", prefix = "zklock: ",
    words = any_code, text = [[
What the world does. The code is behind the sentence.]] },
  behind = { title = "Parts of these", text = [[
What such a sentence may have in it, or at its end.]] },
  losses = { title = "Why a hold was lost", text = [[
Behind `the hold of <path> was lost: `; each belongs to a word of
`guard:reason()`.]] },
  reasons = { title = "Why it was refused", text = [[
Behind the last colon. What is not here is the ZooKeeper client library's own
word for a server's answer: `no node`, `node exists`, `not empty`,
`bad arguments`, `invalid acl`, `session expired` … or the system's (`not
enough memory`).]] },
  did = { title = "What could not be done", text = [[
Before a path in parentheses and a reason: `cannot list (/app/locks/orders):
an ACL forbids it`; in messages with `denied` or `invalid`, and in the log
(`warn`). The path is as the servers know it, with the chroot.]] },
  connection = { title = "Why there is no connection", text = [[
Behind `no connection to <server>: ` in the log (`warn`), and in `(last error:
…)`. What is not here are the system's words (`Connection refused`).]] },
  tls = { title = "Why TLS fails", text = [[
The same of servers with the option `tls`; the first ones are also a refusal
of `connect`, with the code `auth`.]] },
  log = { title = "The log", text = [[
What the function of the option `log` is called with; the level is behind the
sentence.]] },
  nginx = { title = "nginx's error log", text = [[
What `zklock.ngx` writes by itself. Without an option `log` all of the log
comes there, too, behind `zklock: `.]] },
  faults = { title = "What is wrong with hosts and paths", text = [[
Behind the name of an argument: `argument 1 of mutex (path) must not end with
'/', got "/locks/"`.]] },
  names = { title = "Names of arguments and questions", text = [[
What stands for `<name>`, `<rule>` and `<what>` above.]] },
  described = { title = "Objects in words", text = "What `tostring` says." },
  metrics = { title = "Metrics", text = [[
What `session:metrics()` says of each metric.]] },
  core = { title = "The core", text = [[
What `zklock.core`, the C module, says of arguments. The Lua layer never
passes such: who sees one has called the core, or an object after its
session's end.]] },
  loader = { title = '`require "zklock"`, `require "zklock.testing"`',
    prefix = "zklock: ", text = [[
Where the C module cannot be loaded; the loader's own words are behind it.]] },
  testing = { title = "`zklock.testing`: misuse", prefix = "zklock: ", text = [[
Raised in tests, and by `zklock.connect` in them.]] },
  dies = { title = "`zklock.testing`: the end of the process",
    prefix = "zklock in virtual time: ", text = [[
Written to stderr before the process is aborted; the moment, the seed and what
each thread waits for are behind it.]] },
  fails = { title = "The command: it ends", prefix = "zklock: ",
    words = exit_codes, text = [[
On standard error, with the exit code behind the sentence. The library's
refusals and misuse come in the same way.]] },
  credentials = { title = "The command: what is wrong with a file",
    text = [[
Behind `zklock: credentials: FILE ` or, of a file of settings, `zklock: FILE `;
the exit code is 78.]] },
  values = { title = "The command: what is wrong with a value", text = [[
Behind the name of an option (exit code 64), or of a variable or a line of a
file (exit code 78).]] },
  says = { title = "The command: on standard error", prefix = "zklock: ",
    text = "What it says, and goes on." },
  prints = { title = "The command: on standard output", text = "What `ls`, "
    .. "`watch`, `revoke`, `forget`, `evict` and `check` print for people." },
  check = { title = "The command: what `zklock check` finds",
    words = { wrong = "exit code 1" },
    text = "Under `problems` (exit code 1), `warnings` and `servers`." },
  install = { title = "Building and installing", text = [[
What `make`, `make install` and `.ci/install` say.]] },
}

channels.head = [[
What zklock can say, by where you meet it: generated from the
sources (`make messages`), so that a search finds it. `<path>` is a place that
is filled in; `<a|b>` is one of these words.
doc/errors.md says what to do.]]

-- What stands for an expression that would read badly: by its source, by a
-- function in it (`f(`), or by its last name.
channels.places = {
  ["seconds("] = "<time>", ["describe_queue("] = "<queue>",
  ["describe_missing("] = "<queue>", ["because("] = "<why>",
  ["given_schemes("] = "<schemes given>", ["so_far("] = "<: reason>",
  ["last_error("] = "<last error>", ["type("] = "<type>",
  ["with_article("] = "<kind>", ["alternatives("] = "<alternatives>",
  ["timeout>0and\" within \"..errors.seconds(timeout)or\"\""] = "< within …>",
  within = "< within …>", last = "<last error>", where = "<where>",
  ["server?\" to \":\"\""] = " to ", ["server?server:\"\""] = "<server>",
  ["wait.engine.chroot"] = "", ["wait.found"] = "<n>", ["holders"] = "<n>",
  ["tostring(problem):match\"[^\\n]*\""] = "<problem>",
  ["usage:match\":([%l_]+)\""] = "<method>", ["tostring(names[i])"] = "<value>",
  ["has_sasl("] = "<why>", ["node("] = "<node>",
  ["data("] = "<data>", ["holders_of("] = "<n> holders of <path>",
  ["modes.leader"] = "<n>", ["modes.standalone"] = "<n>", ["#alone"] = "<n>",
  ["#shown"] = "<n>",
  data_max = "1024", SHORTEST = "0.1", LONGEST = "64", MOST = "32",
  LARGEST_CREDENTIAL = "8192", LARGEST_ACL = "4096",
  ["#value"] = "<n>", ["#list"] = "<n>",
  ["(int)(acquisition->length-acquisition->prefix)"] = "<path>",
  ["acquisition->path+acquisition->prefix"] = "<path>", prefix = "<path>",
  ["missing==1and\" is\"or\"s are\""] = "<s are| is>",
}

return channels
