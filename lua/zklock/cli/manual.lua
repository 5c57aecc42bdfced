--- What the command understands, and what is said of it: the one source of its
-- parser, of --help, of the manual pages and of the shells' completion.
--
-- A command: `name`, `summary` (a line), `description` (paragraphs, with an
-- empty line between them), `arguments` { name, help, optional=, paths=
-- (completed from the server) }, `options`: { names "-t --timeout", argument
-- "SECONDS", help, kind= (how convert.lua reads it; none: a flag), only= (a
-- word: of the options with the same one only one may be given), words= (what
-- it may be), files= (it is one) }, `elsewhere`: options of flock(1) and other
-- programs, with what to type here, `examples` { line, what it does }, `exits`
-- { code, meaning }: those that are not, or not so, in manual.exits.
local manual = {}

manual.name = "zklock"
manual.summary = "distributed locks on ZooKeeper, in the shell"

manual.description = [[
Runs commands under locks that processes on many machines share, and shows and
mends the queues of such locks. The locks are those of the Lua library zklock,
and of Apache Curator: who holds one here is waited for there.

A lock is a path, such as /locks/backup. It need not be made before it is used,
and vanishes after it. PATH is below the chroot, if there is one.

A time is a number of seconds, or ends with its unit: 1.5, 30s, 10m, 1h, 2d.]]

manual.examples = {
  { "zklock run /locks/backup -- backup --all",
    "runs a command while nobody else holds /locks/backup" },
  { "zklock ls -R /locks", "shows who holds what, and who waits" },
  { "zklock check", "says whether the servers are fit for locks" },
}

--- The settings, each by itself, from the first that says it.
manual.settings = [[
What is not said by an option is taken from the environment, then from
~/.config/zklock, then from /etc/zklock.conf, each setting by itself. What is
empty there is not said.]]

manual.environment = {
  { "ZKLOCK_HOSTS", "as --hosts" },
  { "ZKLOCK_CHROOT", "as --chroot" },
  { "ZKLOCK_SESSION_TIMEOUT", "as --session-timeout" },
  { "ZKLOCK_AUTH_FILE", "as --auth-file" },
}

manual.files = {
  { "~/.config/zklock", "the user's settings: lines KEY = VALUE, where # "
    .. "begins a comment. The keys are hosts, chroot, session_timeout, "
    .. "connect_timeout, tick_time, auth_file and acl. auth_file is relative "
    .. "to the directory of the file that has it. The user or root must own "
    .. "it, and its group and others must not be able to write it. "
    .. "$XDG_CONFIG_HOME is another "
    .. "directory than ~/.config" },
  { "/etc/zklock.conf", "the same, for all users" },
}

manual.credentials = [[
Credentials stand in a file, one SCHEME:CREDENTIAL in each line, such as
digest:ann:secret; all behind the first colon is the credential, and lines that
are empty or begin with # say nothing. Nobody but its owner, who is the user or
root, may have access to it (chmod 600), or it is refused.]]

--- Exit codes of every command.
manual.exits = {
  { 0, "it was done" },
  { 64, "the arguments are mistaken" },
  { 69, "no server could be reached, or the connection was lost; or "
    .. "a library is missing" },
  { 70, "a defect of zklock, or the system has no room for a process" },
  { 74, "standard output cannot be written" },
  { 75, "the lock was not granted, or not free, in time, or a lock of another "
    .. "kind is in use at its path: try again later" },
  { 76, "the lock was lost, or held for too long, and the command was ended" },
  { 77, "the servers refuse the credentials, or an ACL the operation" },
  { 78, "a file of settings or of credentials is mistaken, or other users "
    .. "could have written it" },
  { 126, "the command to run is there and cannot be run" },
  { 127, "the command to run was not found" },
  { "128+N", "signal N ended it: 130 is Ctrl-C, 143 SIGTERM" },
}

--- Options of every command.
manual.common = {
  { names = "-H --hosts", argument = "HOSTS", kind = "hosts",
    help = "ZooKeeper servers, HOST[:PORT],...[/CHROOT] (default "
      .. "127.0.0.1:2181)" },
  { names = "--chroot", argument = "PATH", kind = "chroot",
    help = "the node below which all paths are; / is none" },
  { names = "--session-timeout", argument = "SECONDS", kind = "timeout",
    help = "the session timeout to ask for (default 30): the locks of a "
      .. "machine that has died pass on after it" },
  { names = "--connect-timeout", argument = "SECONDS", kind = "timeout",
    help = "how long to wait for a server (default 10)" },
  { names = "--tick-time", argument = "SECONDS", kind = "timeout",
    help = "no server has a longer tickTime: a hold then outlives a server "
      .. "that dies" },
  { names = "--auth-file", argument = "FILE", kind = "text", files = true,
    help = "credentials, a SCHEME:CREDENTIAL in each line" },
  { names = "--acl", argument = "ACL", kind = "acl",
    words = { "open", "creator", "read" },
    help = "who may use the nodes that are made: all (open), only who has our "
      .. "credentials (creator), or others only to look (read)" },
  { names = "-v --verbose",
    help = "say what is done, and how long it took, on standard error" },
}

manual.commands = {
  {
    name = "run",
    summary = "run a command under a lock",
    usage = "zklock run [OPTIONS] PATH -- COMMAND [ARGUMENT...]",
    description = [[
Waits for the lock, runs COMMAND while it is held, gives the lock back, and
exits with COMMAND's exit code. No shell is between: what stands behind -- is
the command and its arguments as they are.

By itself the lock is the mutex of PATH. --exclusive and --shared take the two
sides of its readers-writer lock instead, --permits one of the permits of its
semaphore. Locks of these three kinds do not exclude each other. If a lock of
another kind is in use at PATH, nothing is run and the exit code is 75;
--share-path runs COMMAND all the same.

COMMAND does not outlive the lock. If the hold is lost, if no server answers for
too long, or if --max-hold is over, it is sent SIGTERM, after the grace SIGKILL,
with all its children, and the exit code is 76. So it is ended if zklock itself
is killed or stopped. Signals that zklock is sent are passed on to COMMAND,
which does as it likes.

COMMAND has in its environment ZKLOCK_PATH; ZKLOCK_TOKEN, the fencing token,
which is larger with each holder (as text, too): give it to whatever can refuse
a smaller one; and ZKLOCK_HOLDER, what others see of who holds the lock.

With --once-per a successful run is noted in the node PATH.once. Of many
machines that start the same job at the same time one runs it; the others are
granted the lock after it, see that it is done, and exit with 0. PERIOD counts
from the end of the last successful run to the moment in which the next one
began to wait, by the servers' clock: let it be less than the interval in which
the job is started, by more than the job takes. If the note lies in the future,
because a server's clock is or was wrong, zklock warns on standard error. It
runs COMMAND only if the note lies more than a PERIOD ahead. zklock ls shows the
note; zklock forget PATH deletes it, so that the job runs again. --shared and
--permits do not go with --once-per.]],
    arguments = { { "PATH", "the lock's path", paths = true } },
    options = {
      { names = "-x --exclusive", only = "kind",
        help = "the write side of the path's readers-writer lock" },
      { names = "-s --shared", only = "kind",
        help = "the read side of the path's readers-writer lock" },
      { names = "-p --permits", argument = "N", kind = "count", only = "kind",
        help = "one of N permits of the path's semaphore" },
      { names = "--share-path",
        help = "run beside locks of other kinds at the path" },
      { names = "-t --timeout", argument = "SECONDS", kind = "seconds",
        only = "wait", help = "how long to wait for the lock (default: for "
          .. "ever); 0 takes it if it is free, once there is a connection" },
      { names = "-n --try", only = "wait",
        help = "do not wait for another holder" },
      { names = "-g --grace", argument = "SECONDS", kind = "seconds",
        help = "time between SIGTERM and SIGKILL (default 5)" },
      { names = "-m --max-hold", argument = "SECONDS", kind = "seconds",
        help = "end the command when it has run for so long" },
      { names = "--once-per", argument = "PERIOD", kind = "seconds",
        help = "do not run within PERIOD after a successful run" },
      { names = "--data", argument = "TEXT", kind = "text",
        help = "what others see of who holds the lock (default: host, process "
          .. "and command)" },
    },
    elsewhere = {
      ["-w"] = "it is -t (--timeout) here",
      ["--wait"] = "it is -t (--timeout) here",
      ["--nb"] = "it is -n (--try) here",
      ["--nonblock"] = "it is -n (--try) here",
      ["-e"] = "it is -x (--exclusive) here",
      ["-c"] = "put the shell behind --: zklock run PATH -- sh -c COMMAND",
      ["--command"] = "put the shell behind --: zklock run PATH -- sh -c "
        .. "COMMAND",
      ["-E"] = "the exit code of a lock that is not granted is 75",
      ["--conflict-exit-code"] = "the exit code of a lock that is not granted "
        .. "is 75",
    },
    examples = {
      { "zklock run /locks/backup -- backup --all",
        "one backup at a time, wherever it is started" },
      { "zklock run -n /locks/deploy -- ./deploy || echo 'somebody deploys'",
        "does not wait: 75 if the lock is taken" },
      { "zklock run -p 4 -t 10m /locks/render -- render scene.blend",
        "at most four at a time; gives up after ten minutes" },
      { "zklock run --once-per 23h /locks/report -- send-report",
        "started by cron on every machine, run by one of them each day" },
      { "zklock run /locks/db -- sh -c 'migrate --fence \"$ZKLOCK_TOKEN\"'",
        "the fencing token, for what can refuse a smaller one" },
    },
    exits = {
      { "N", "COMMAND's own, if it ran to its end" },
      { 0, "or nothing was to be done, by --once-per" },
    },
  },
  {
    name = "ls",
    summary = "show who holds a lock and who waits for it",
    description = [[
Shows the queue of a lock, its head first: PLACE, KIND (mutex, read, write,
lease: a semaphore's permit, unfair, member: of a double barrier), STATE (holds,
waits; present: a member; unowned: a node that no session owns, which blocks the
lock until you delete it with evict), AGE (by the servers' clock as far
as it can be told), the ZooKeeper SESSION, the fencing TOKEN, the NODE, as evict
wants it, and the holder's DATA, in quotation marks, with what does not print
as \x1b. On a terminal lines are cut to its width.

A path that does not exist is a lock that nobody holds: directories vanish when
they are empty. It is said on standard error, and nothing is on standard output.

Below the queue is the last run of a job with --once-per, if there was one: KIND
once, STATE done, AGE since it ended, DATA of the process that ran it.

With --json each contender is one object, in one line, with path, place, node,
mode, sequence (not of unfair), token, holds, session, created (seconds since
1970), and data. A job's last run has done in place of created. data_base64
replaces data that are not plain UTF-8, and size replaces data that were not
read.]],
    arguments = { { "PATH", "the lock's path", paths = true } },
    options = {
      { names = "-R --recursive", help = "every lock at the path and below" },
      { names = "--json", help = "one JSON object a line" },
    },
    elsewhere = { ["-r"] = "it is -R (--recursive) here" },
    examples = {
      { "zklock ls /locks/backup", "who holds the lock, and who waits" },
      { "zklock ls -R --json / | jq -r 'select(.holds).path'",
        "the paths of all locks that are held" },
    },
    exits = {
      { 77, "or, with -R, a path could not be listed, and was left out" },
      { 141, "whoever read standard output has gone" },
    },
  },
  {
    name = "watch",
    summary = "watch a lock's queue, redrawn on a change",
    description = [[
Shows the queue until a signal ends it. On a terminal the screen is drawn anew;
otherwise each change is a line: the time, what has changed (granted, waits,
left, unowned), kind, node, session, token and data. It looks once in an
interval, less often if the queue is long: what comes and goes in between is not
seen. When the connection is lost it says so, and goes on when there is one.]],
    arguments = { { "PATH", "the lock's path", paths = true } },
    options = {
      { names = "-i --interval", argument = "SECONDS", kind = "seconds",
        help = "how often to look (1)" },
      { names = "--json",
        help = "one JSON object a change: as those of ls, with time and "
        .. "change" },
    },
    elsewhere = { ["-n"] = "it is -i (--interval) here" },
    examples = {
      { "zklock watch /locks/backup", "the queue, as it changes" },
      { "zklock watch /locks/backup >>log", "a line for each change" },
    },
    exits = {
      { 141, "whoever read standard output has gone" },
    },
  },
  {
    name = "revoke",
    summary = "ask the holders of a lock to let go",
    description = [[
Asks all who hold the lock now, and says how many they are; each decides by
itself what to do. Nobody holds it: it says so, and that is no failure.

With --wait it then looks until nobody holds the lock. Who waits in the queue is
granted it next, and has not been asked: a lock with waiters does not become
free.]],
    arguments = { { "PATH", "the lock's path", paths = true } },
    options = {
      { names = "-w --wait", argument = "SECONDS", kind = "seconds",
        help = "wait until it is free" },
    },
    examples = {
      { "zklock revoke --wait 1m /locks/backup",
        "asks, and waits for a minute at the most" },
    },
    exits = {
      { 75, "the lock did not become free in the time of --wait" },
    },
  },
  {
    name = "forget",
    summary = "have a job with --once-per run again",
    description = [[
Deletes the note PATH.once, by which zklock run --once-per and session:once know
that the job was done in this period. The next machine that starts the job runs
it. A run that is under way still notes its end. If there is no note, zklock
says so and exits with 0.]],
    arguments = { { "PATH", "the lock's path", paths = true } },
    options = {},
    examples = {
      { "zklock forget /locks/report", "the job runs when it is started next" },
    },
    exits = {},
  },
  {
    name = "evict",
    summary = "delete the node of one contender",
    description = [[
Shows whose node it is, asks on the terminal, and deletes it. If it held the
lock, its hold is lost (reason: deleted), which it hears within a sixth of its
session timeout; until then it may believe that it holds the lock, while
somebody else is granted it with a larger token. If no server reaches it, it may
until its lease is over, for up to 0.95 of its session timeout. Who waited
begins again, at the end of the queue.]],
    arguments = {
      { "PATH", "the lock's path", paths = true },
      { "NODE", "the contender's node, as ls shows it" },
    },
    options = {
      { names = "-y --yes", help = "do not ask" },
    },
    examples = {
      { "zklock evict /locks/backup aB3xQ1-lock-0000000007",
        "deletes that node, if whoever is asked agrees" },
    },
    exits = {
      { 1, "nothing was deleted: there is no such contender, or another one "
        .. "has its name by now, or the answer was no" },
      { 64, "there is no terminal to ask on, and --yes was not said" },
    },
  },
  {
    name = "check",
    summary = "say how the servers are, and what locks can expect of them",
    description = [[
Asks each address of the hosts how it is (with the word srvr, for two seconds at
the most), and tells what a session has: its timeout, how long a hold goes on
when the servers fall silent, how long an answer takes, and how long a mutex at
PATH takes to be acquired and released. It tells who we are (the schemes of the
credentials, nothing else), what we may do at PATH, and, if our nodes are not to
be open, whether other users may join the queue. It shows the token of the
mutex: of servers that have lost their data, tokens begin with small numbers.
While it holds the mutex it asks each address for its node: a host that does not
have it belongs to another ensemble.

With --json it is one object, with the times in seconds.]],
    arguments = { { "PATH", "where to try a lock (/zklock-check)",
      optional = true } },
    options = {
      { names = "--json", help = "one JSON object" },
      { names = "--above", argument = "TOKEN", kind = "token",
        help = "the lock's fencing token must be larger than this one" },
    },
    examples = {
      { "zklock check", "the servers, the session, and /zklock-check" },
      { "zklock check --json /locks/check", "for a monitor" },
    },
    exits = {
      { 1, "a lock would suffer: a server is away, too old or not serving; "
        .. "the hosts are not one ensemble; answers are slow; strangers may "
        .. "join; the token is not above TOKEN" },
      { 69, "no server can be reached" },
      { 77, "credentials are refused, or nodes may not be made or deleted" },
    },
  },
}

return manual
