--- The text of --help and the manual pages besides the options. Each command
-- has a `usage`, if argparse's is incomplete, a `description` and an `epilog`.
-- doc/make/man.lua converts the same text to pages, by its lines:
--
--     Heading:
--        entry  what it is
--               and goes on
local texts = {}

texts.summary = "distributed locks on ZooKeeper, in the shell"

texts.description = [[
Runs commands under locks that processes on many machines share, and shows and
mends the queues of such locks. The locks are those of the Lua library zklock,
and of Apache Curator: who holds one here is waited for there.

A lock is a path, such as /locks/backup. It need not be made before it is used,
and vanishes after it. PATH is below the chroot, if there is one.

A time is a number of seconds, or ends with its unit: 1.5, 30s, 10m, 1h, 2d.]]

texts.epilog = [[
Settings:
What is not said by an option is taken from the environment, then from
~/.config/zklock, then from /etc/zklock.conf, each setting by itself. What is
empty there is not said.

Examples:
   zklock run /locks/backup -- backup --all
      runs a command while nobody else holds /locks/backup
   zklock ls -R /locks
      shows who holds what, and who waits
   zklock check
      says whether the servers are fit for locks

'zklock COMMAND --help' says more, and so do the manual pages.]]

--- Exit codes of every command.
texts.exits = [[
Exit codes of every command:
       0  it was done
      64  the arguments are mistaken
      69  no server could be reached, or the connection was lost; or a library
          is missing
      70  a defect of zklock, or the system has no room for a process
      74  standard output cannot be written
      77  the servers refuse the credentials, or an ACL the operation
      78  a file of settings or of credentials is mistaken, or other users could
          have written it
   128+N  signal N ended it: 130 is Ctrl-C, 143 SIGTERM]]

--- Text of zklock(1) that --help omits.
texts.page = [[
Credentials:
Credentials stand in a file, one SCHEME:CREDENTIAL in each line, such as
digest:ann:secret; all behind the first colon is the credential, and lines that
are empty or begin with # say nothing. Nobody but its owner, who is the user or
root, may have access to it (chmod 600), or it is refused.

Environment:
   ZKLOCK_HOSTS  as --hosts
   ZKLOCK_CHROOT  as --chroot
   ZKLOCK_SESSION_TIMEOUT  as --session-timeout
   ZKLOCK_AUTH_FILE  as --auth-file

Files:
   ~/.config/zklock  the user's settings: lines KEY = VALUE, where # begins a
      comment. The keys are hosts, chroot, session_timeout, connect_timeout,
      tick_time, auth_file and acl. auth_file is relative to the directory of
      the file that has it. The user or root must own it, and its group and
      others must not be able to write it. $XDG_CONFIG_HOME is another
      directory than ~/.config
   /etc/zklock.conf  the same, for all users]]

-- Options of flock(1) and other programs, with the ones to use here.
local TIMEOUT, TRY = "it is -t (--timeout) here", "it is -n (--try) here"
local SHELL = "put the shell behind --: zklock run PATH -- sh -c COMMAND"
local CODE = "the exit code of a lock that is not granted is 75"
texts.elsewhere = {
  run = { ["-w"] = TIMEOUT, ["--wait"] = TIMEOUT, ["--nb"] = TRY,
    ["--nonblock"] = TRY, ["-e"] = "it is -x (--exclusive) here",
    ["-c"] = SHELL, ["--command"] = SHELL, ["-E"] = CODE,
    ["--conflict-exit-code"] = CODE },
  ls = { ["-r"] = "it is -R (--recursive) here" },
  watch = { ["-n"] = "it is -i (--interval) here" },
}

texts.run = {}
texts.run.usage = "Usage: zklock run [OPTIONS] PATH -- COMMAND [ARGUMENT...]"
texts.run.description = [[
Waits for the lock, runs COMMAND while it is held, gives the lock back, and
exits with COMMAND's exit code. No shell is between: what stands behind -- is
the command and its arguments as they are.

By itself the lock is the mutex of PATH. --exclusive and --shared take the two
sides of its readers-writer lock instead, --permits one of the permits of its
semaphore. Locks of these three kinds do not exclude each other. If a lock of
another kind is in use at PATH, nothing is run and the exit code is 75;
--share-path runs COMMAND all the same.

COMMAND does not outlive the lock. If the hold is lost, if no server answers
for too long, or if --max-hold is over, it is sent SIGTERM, after the grace
SIGKILL, with all its children, and the exit code is 76. So it is ended if
zklock itself is killed or stopped. Signals that zklock is sent are passed on
to COMMAND, which does as it likes.

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
runs COMMAND only if the note lies more than a PERIOD ahead. zklock ls shows
the note; zklock forget PATH deletes it, so that the job runs again. --shared
and --permits do not go with --once-per.]]
texts.run.epilog = [[
Examples:
   zklock run /locks/backup -- backup --all
      one backup at a time, wherever it is started
   zklock run -n /locks/deploy -- ./deploy || echo 'somebody deploys'
      does not wait: 75 if the lock is taken
   zklock run -p 4 -t 10m /locks/render -- render scene.blend
      at most four at a time; gives up after ten minutes
   zklock run --once-per 23h /locks/report -- send-report
      started by cron on every machine, run by one of them each day
   zklock run /locks/db -- sh -c 'migrate --fence "$ZKLOCK_TOKEN"'
      the fencing token, for what can refuse a smaller one

Exit codes:
       N  COMMAND's own, if it ran to its end
       0  or nothing was to be done, by --once-per
      75  the lock was not granted in time, or a lock of another kind is in use
          at its path: try again later
      76  the lock was lost, or held for too long, and COMMAND was ended
     126  COMMAND is there and cannot be run
     127  COMMAND was not found]]

texts.ls = {}
texts.ls.description = [[
Shows the queue of a lock, its head first: PLACE, KIND (mutex, read, write,
lease: a semaphore's permit, unfair, member: of a double barrier), STATE
(holds, waits; present: a member; unowned: a node that no session owns, which
blocks the lock until you delete it with evict), AGE (by the servers' clock as
far as it can be told), the ZooKeeper SESSION, the fencing TOKEN, the NODE, as
evict wants it, and the holder's DATA, in quotation marks, with what does not
print as \x1b. On a terminal lines are cut to its width.

A path that does not exist is a lock that nobody holds: directories vanish when
they are empty. It is said on standard error, and nothing is on standard
output.

Below the queue is the last run of a job with --once-per, if there was one:
KIND once, STATE done, AGE since it ended, DATA of the process that ran it.

With --json each contender is one object, in one line, with path, place, node,
mode, sequence (not of unfair), token, holds, session, created (seconds since
1970), and data. A job's last run has done in place of created. data_base64
replaces data that are not plain UTF-8, and size replaces data that were not
read.]]
texts.ls.epilog = [[
Examples:
   zklock ls /locks/backup
      who holds the lock, and who waits
   zklock ls -R --json / | jq -r 'select(.holds).path'
      the paths of all locks that are held

Exit codes:
      77  or, with -R, a path could not be listed, and was left out
     141  whoever read standard output has gone]]

texts.watch = {}
texts.watch.description = [[
Shows the queue until a signal ends it. On a terminal the screen is drawn anew;
otherwise each change is a line: the time, what has changed (granted, waits,
left, unowned), kind, node, session, token and data. It looks once in an
interval, less often if the queue is long: what comes and goes in between is
not seen. When the connection is lost it says so, and goes on when there is
one.]]
texts.watch.epilog = [[
Examples:
   zklock watch /locks/backup
      the queue, as it changes
   zklock watch /locks/backup >>log
      a line for each change

Exit codes:
     141  whoever read standard output has gone]]

texts.revoke = {}
texts.revoke.description = [[
Asks all who hold the lock now, and says how many they are; each decides by
itself what to do. Nobody holds it: it says so, and that is no failure.

With --wait it then looks until nobody holds the lock. Who waits in the queue
is granted it next, and has not been asked: a lock with waiters does not become
free.]]
texts.revoke.epilog = [[
Examples:
   zklock revoke --wait 1m /locks/backup
      asks, and waits for a minute at the most

Exit codes:
      75  the lock did not become free in the time of --wait]]

texts.forget = {}
texts.forget.description = [[
Deletes the note PATH.once, by which zklock run --once-per and session:once
know that the job was done in this period. The next machine that starts the job
runs it. A run that is under way still notes its end. If there is no note,
zklock says so and exits with 0.]]
texts.forget.epilog = [[
Examples:
   zklock forget /locks/report
      the job runs when it is started next]]

texts.evict = {}
texts.evict.description = [[
Shows whose node it is, asks on the terminal, and deletes it. If it held the
lock, its hold is lost (reason: deleted), which it hears within a sixth of its
session timeout; until then it may believe that it holds the lock, while
somebody else is granted it with a larger token. If no server reaches it, it
may until its lease is over, for up to 0.95 of its session timeout. Who waited
begins again, at the end of the queue.]]
texts.evict.epilog = [[
Examples:
   zklock evict /locks/backup aB3xQ1-lock-0000000007
      deletes that node, if whoever is asked agrees

Exit codes:
       1  nothing was deleted: there is no such contender, or another one has
          its name by now, or the answer was no
      64  there is no terminal to ask on, and --yes was not said]]

texts.check = {}
texts.check.description = [[
Asks each address of the hosts how it is (with the word srvr, for two seconds
at the most), and tells what a session has: its timeout, how long a hold goes
on when the servers fall silent, how long an answer takes, and how long a mutex
at PATH takes to be acquired and released. It tells who we are (the schemes of
the credentials, nothing else), what we may do at PATH, and, if our nodes are
not to be open, whether other users may join the queue. It shows the token of
the mutex: of servers that have lost their data, tokens begin with small
numbers. While it holds the mutex it asks each address for its node: a host
that does not have it belongs to another ensemble.

With --json it is one object, with the times in seconds.]]
texts.check.epilog = [[
Examples:
   zklock check
      the servers, the session, and /zklock-check
   zklock check --json /locks/check
      for a monitor

Exit codes:
       1  a lock would suffer: a server is away, too old or not serving; the
          hosts are not one ensemble; answers are slow; strangers may join; the
          token is not above TOKEN
      69  no server can be reached
      77  credentials are refused, or nodes may not be made or deleted]]

texts.completion = {}
texts.completion.description = [[
Prints a script by which a shell completes commands, options and, from the
server, the paths of locks. 'make install' and Debian's package have installed
such scripts.]]
texts.completion.epilog = [[
Examples:
   source <(zklock completion bash)
      in ~/.bashrc, or for zsh in ~/.zshrc, behind compinit
   zklock completion fish | source
      in ~/.config/fish/config.fish]]

return texts
