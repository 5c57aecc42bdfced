--- Texts: the text of --help and the manual pages, except the options. Each
-- command has a `description`, an `epilog`, and a `usage` if argparse's usage
-- is incomplete. doc/make/man.lua converts the same text to manual pages. It
-- recognizes the parts of a text by the indentation of its lines:
--
--        entry  what it is
--               and goes on
-- local texts = {}
local texts = {}

texts.summary = "distributed locks on ZooKeeper, in the shell"

texts.description = [[
Runs commands under locks that processes on many machines share, and shows and
repairs the queues of these locks. zklock shares them with the Lua library
zklock and with Apache Curator.

A lock is a path, such as /locks/backup. zklock creates it at its first use,
and the servers delete it afterwards. PATH is below the chroot, if there is
one.

A time is a number of seconds, or has a unit: 1.5, 30s, 10m, 1h, 2d.]]

texts.epilog = [[
Settings:
zklock takes each setting from its option, else from the environment, else from
~/.config/zklock, else from /etc/zklock.conf. An empty setting counts as
missing.

Examples:
   zklock run /locks/backup -- backup --all
      runs a command while no other process holds /locks/backup
   zklock ls -R /locks
      shows the holders and the waiters of all locks below /locks
   zklock check
      checks whether the servers are fit for locks

'zklock COMMAND --help' and the manual pages have more.]]

--- The exit codes that all commands have.
texts.exits = [[
Exit codes of every command:
       0  success
      64  wrong arguments
      69  no server can be reached, the connection was lost, or a library is
          missing
      70  a defect of zklock, or the system has no room for a process
      74  standard output cannot be written
      77  the servers refuse the credentials, or an ACL refuses the operation
      78  a file of settings or credentials has an error, or other users can
          write it
   128+N  signal N ended it: 130 is Ctrl-C, 143 SIGTERM]]

--- The part of the manual page zklock(1) that --help omits.
texts.page = [[
Credentials:
The file of credentials has one SCHEME:CREDENTIAL in each line, such as
digest:ann:secret. The credential is all text after the first colon. Empty
lines and lines that begin with # are ignored. The owner must be the user or
root, and no other user may have access (chmod 600); otherwise zklock refuses
the file.

Environment:
   ZKLOCK_HOSTS  as --hosts
   ZKLOCK_CHROOT  as --chroot
   ZKLOCK_SESSION_TIMEOUT  as --session-timeout
   ZKLOCK_AUTH_FILE  as --auth-file
   ZKLOCK_TLS_CA  as --tls-ca
   ZKLOCK_TLS_CERT  as --tls-cert
   ZKLOCK_TLS_KEY  as --tls-key
   ZKLOCK_TLS_NAME  as --tls-name

Files:
   ~/.config/zklock  the user's settings: lines KEY = VALUE, where # begins a
      comment. The keys are hosts, chroot, session_timeout, connect_timeout,
      tick_time, auth_file, acl, tls_ca, tls_cert, tls_key and tls_name. Names
      of files are relative to the directory of the settings file. The user or
      root must own the file, and neither its group nor others may be able to
      write it. $XDG_CONFIG_HOME replaces ~/.config
   /etc/zklock.conf  the same, for all users]]

-- Advice for unknown options that flock(1) and other programs have.
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
Waits for the lock, runs COMMAND while it holds the lock, releases it, and
exits with COMMAND's exit code. It starts COMMAND without a shell, with the
arguments after -- as they are.

By default the lock is the mutex of PATH. --exclusive and --shared acquire the
sides of its readers-writer lock, --permits a permit of its semaphore. These
three kinds do not exclude each other. If a lock of another kind is in use at
PATH, zklock does not run COMMAND and exits with 75; --share-path runs it all
the same.

COMMAND does not outlive the lock. If the lock is lost, if no server responds
for too long, or if --max-hold is over, zklock sends SIGTERM to COMMAND and its
children, SIGKILL after the grace period, and exits with 76. COMMAND also ends
if zklock itself is killed or stopped. zklock passes the signals that it
receives on to COMMAND.

COMMAND has in its environment ZKLOCK_PATH; ZKLOCK_TOKEN, the fencing token,
which grows with each holder (also if compared as text): send it to a storage
that can refuse a smaller one; and ZKLOCK_HOLDER, the data that other clients
see of this holder.

With --once-per zklock notes a successful run in the node PATH.once. If many
machines start the same job at the same time, one of them runs it. The others
acquire the lock afterwards, find the note, and exit with 0. zklock does not
run COMMAND if the last successful run ended less than PERIOD before this call
began to wait, by the servers' clock. PERIOD should be shorter than the
interval in which the job is started, by more than the job takes. If the note
lies in the future, because a server's clock is or was wrong, zklock warns on
standard error, and runs COMMAND only if it lies more than a PERIOD ahead.
zklock ls shows the note; zklock forget PATH deletes it, so that the job runs
again. --shared and --permits do not go with --once-per.]]
texts.run.epilog = [[
Examples:
   zklock run /locks/backup -- backup --all
      one backup at a time on all machines
   zklock run -n /locks/deploy -- ./deploy || echo 'a deployment is running'
      does not wait: 75 if the lock is taken
   zklock run -p 4 -t 10m /locks/render -- render scene.blend
      at most four at a time; gives up after ten minutes
   zklock run --once-per 23h /locks/report -- send-report
      started by cron on every machine; one of them runs it each day
   zklock run /locks/db -- sh -c 'migrate --fence "$ZKLOCK_TOKEN"'
      passes the fencing token to a program that can refuse a smaller one

Exit codes:
       N  COMMAND's own, if it ran to its end
       0  also if nothing was to be done, because of --once-per
      75  the lock was not granted in time, or a lock of another kind is in use
          at its path: try again later
      76  the lock was lost, or held for too long, and COMMAND was ended
     126  COMMAND exists and cannot be run
     127  COMMAND was not found]]

texts.ls = {}
texts.ls.description = [[
Shows the queue of a lock, its head first. The columns are PLACE, KIND (mutex,
read, write, permit: of a semaphore, unfair, member: of a double barrier),
STATE (holds, waits; present: a member; unowned: a node that no session owns,
which blocks the lock until you delete it with evict), AGE (by the servers'
clock, if known), the ZooKeeper SESSION, the fencing TOKEN, the NODE, which
evict takes, and the contender's DATA, in quotation marks, with unprintable
bytes as \x1b. On a terminal zklock cuts the lines to its width.

If the path does not exist, no process holds the lock: the servers delete empty
directories. zklock then reports that on standard error, and prints nothing on
standard output.

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
      the holder of the lock and its waiters
   zklock ls -R --json / | jq -r 'select(.holds).path'
      the paths of all locks that are held

Exit codes:
      77  also if, with -R, a path could not be listed and was left out
     141  the reader of standard output has ended]]

texts.watch = {}
texts.watch.description = [[
Shows the queue until a signal ends it. On a terminal it redraws the screen;
otherwise it prints a line for each change: the time, the change (granted,
waits, left, unowned), kind, node, session, token and data. It looks once in
each interval, less often if the queue is long, so it misses contenders that
come and go in between. When the connection is lost it prints that, and
continues with the next connection.]]
texts.watch.epilog = [[
Examples:
   zklock watch /locks/backup
      the queue, as it changes
   zklock watch /locks/backup >>log
      a line for each change

Exit codes:
     141  the reader of standard output has ended]]

texts.revoke = {}
texts.revoke.description = [[
Asks all present holders of the lock to release it, and prints their number.
Each holder decides itself what to do. If no process holds the lock, zklock
prints that and exits with 0.

With --wait it then waits until no process holds the lock. It has not asked the
waiters, which are granted the lock next: a lock with waiters does not become
free.]]
texts.revoke.epilog = [[
Examples:
   zklock revoke --wait 1m /locks/backup
      asks, and waits for at most a minute

Exit codes:
      75  the lock did not become free in the time of --wait]]

texts.forget = {}
texts.forget.description = [[
Deletes the note PATH.once, by which zklock run --once-per and session:once
know that the job was done in this period. The next machine that starts the job
runs it. A run that is under way still notes its end. If there is no note,
zklock prints that and exits with 0.]]
texts.forget.epilog = [[
Examples:
   zklock forget /locks/report
      the job runs at its next start]]

texts.evict = {}
texts.evict.description = [[
Shows the contender that owns the node, asks on the terminal, and deletes the
node. If the contender holds the lock, it loses the hold (reason:
node_deleted), and notices that within a sixth of its session timeout. Until
then it may believe that it holds the lock, while another contender is granted
the lock with a larger token. If it reaches no server, it may believe so until
its lease ends, for up to 0.95 of its session timeout. A waiter starts again at
the end of the queue.]]
texts.evict.epilog = [[
Examples:
   zklock evict /locks/backup aB3xQ1-lock-0000000007
      deletes that node, if you agree

Exit codes:
       1  nothing was deleted: there is no such contender, another one has its
          name by now, or the answer was no
      64  there is no terminal to ask on, and no --yes]]

texts.check = {}
texts.check.description = [[
Asks each address of the hosts for its state (with the word srvr, for at most
two seconds), and shows what a session gets: its timeout, how long a hold lasts
when the servers stop responding, how long a reply takes, and how long a mutex
at PATH takes to be acquired and released. It shows the schemes of the
credentials, which operations the ACL allows at PATH, and, if the nodes are not
to be open, whether other users may join the queue. It shows the token of the
mutex: if servers have lost their data, tokens begin with small numbers again.
While it holds the mutex it asks each address for its node: a host that does
not have the node belongs to another ensemble.

With --json it prints one object, with times in seconds.]]
texts.check.epilog = [[
Examples:
   zklock check
      the servers, the session, and /zklock-check
   zklock check --json /locks/check
      for a monitor

Exit codes:
       1  a lock would suffer: a server is down, too old or not serving; the
          hosts are not one ensemble; replies are slow; other users may join
          the queue; the token is not above TOKEN
      69  no server can be reached
      77  credentials are refused, or the ACL does not allow to create or
          delete nodes]]

texts.completion = {}
texts.completion.description = [[
Prints a script by which a shell completes commands, options and, from the
server, the paths of locks. 'make install' and Debian's package install such
scripts.]]
texts.completion.epilog = [[
Examples:
   source <(zklock completion bash)
      in ~/.bashrc, or for zsh in ~/.zshrc, after compinit
   zklock completion fish | source
      in ~/.config/fish/config.fish]]

return texts
