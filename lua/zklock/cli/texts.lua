--- Texts: the text of --help and the manual pages, except the options. Each
-- command has a `description` and `examples`. doc/make/man.lua converts the
-- same text to manual pages. It recognizes the parts of a text by the
-- indentation of its lines:
--
--        entry  what it is
--               and goes on
local texts = {}

texts.summary = "distributed locks on ZooKeeper, in the shell"

texts.description = [[
Runs commands under locks that processes on many machines share, and shows and
repairs the queues of these locks.

A lock is a path below the chroot, such as /locks/backup. A time is a number of
seconds, or has a unit: 1.5, 30s, 10m, 1h, 2d.]]

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

--- Ends the help of each command.
texts.exits = [[
Exit codes:
       0  success
       1  evict deleted nothing, or check found a problem
      64  wrong arguments
      69  no server can be reached, the connection was lost, or a library is
          missing
      70  a defect of zklock, or another program killed its guardian
      74  standard output cannot be written
      75  the lock was not granted in time, a lock of another kind is in use at
          its path, or the lock did not become free in the time of --wait
      76  the lock was lost, or held for too long, and COMMAND was ended
      77  the servers refuse the credentials, an ACL refuses the operation, or
          ls -R left out a path
      78  a file of settings or credentials has an error, or other users can
          write it
     126  COMMAND exists and cannot be run
     127  COMMAND was not found
   128+N  signal N ended COMMAND or zklock: 130 is Ctrl-C, 143 SIGTERM

Options of every command, such as --hosts: 'zklock --help'.]]

--- The part of the manual page zklock(1) that --help omits.
texts.page = [[
Credentials:
The file of credentials has one SCHEME:CREDENTIAL in each line, such as
digest:ann:secret. No other user may have access to it (chmod 600).

Environment:
ZKLOCK_HOSTS, ZKLOCK_CHROOT, ZKLOCK_SESSION_TIMEOUT, ZKLOCK_AUTH_FILE,
ZKLOCK_TLS_CA, ZKLOCK_TLS_CERT, ZKLOCK_TLS_KEY and ZKLOCK_TLS_NAME replace the
options of the same names.

Files:
   ~/.config/zklock  the user's settings: lines KEY = VALUE, where # begins a
      comment. The keys are hosts, chroot, session_timeout, connect_timeout,
      tick_time, auth_file, acl, tls_ca, tls_cert, tls_key and tls_name. Names
      of files are relative to the directory of the settings file. The user or
      root must own the file, and neither its group nor others may be able to
      write it. $XDG_CONFIG_HOME replaces ~/.config
   /etc/zklock.conf  the same, for all users]]

texts.run = {}
texts.run.usage = "Usage: zklock run [OPTIONS] PATH -- COMMAND [ARGUMENT...]"
texts.run.description = [[
Waits for the lock, runs COMMAND without a shell while it holds the lock,
releases the lock, and exits with COMMAND's exit code. By default, the lock is
the mutex of PATH.

If the lock is lost, if no server responds for too long, or if --max-hold is
over, zklock sends SIGTERM to COMMAND and its children, and SIGKILL after the
grace period. COMMAND also ends if zklock is killed or stopped. zklock passes
the signals that it receives on to COMMAND.

COMMAND has in its environment ZKLOCK_PATH; ZKLOCK_TOKEN, the fencing token,
which grows with each holder (also if compared as text); and ZKLOCK_HOLDER, the
data that other clients see of this holder.

With --once-per, zklock notes a successful run in the node PATH.once. It does
not run COMMAND if the last successful run ended less than PERIOD before this
call began to wait, by the servers' clock. PERIOD must be shorter than the
interval in which the job is started, by more than the job takes.]]
texts.run.examples = [[
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
      passes the fencing token to a program that can refuse a smaller one]]

texts.ls = {}
texts.ls.description = [[
Shows the queue of a lock, its head first, and the last run of a job with
--once-per. STATE is holds, waits, present (a member of a double barrier),
unowned (a node that no session owns, which blocks the lock until you delete it
with evict), or done (the last run of a job). DATA is in quotation marks, with
unprintable bytes as \x1b.]]
texts.ls.examples = [[
Examples:
   zklock ls /locks/backup
      the holder of the lock and its waiters
   zklock ls -R --json / | jq -r 'select(.holds).path'
      the paths of all locks that are held]]

texts.watch = {}
texts.watch.description = [[
Prints a line for each change of the queue, until a signal ends it: the time,
the change (granted, waits, present, unowned, left), kind, node, session, token
and data. It looks once in each interval, less often if the queue is long, so
it misses contenders that come and go in between. When the connection is lost
it prints that, and continues with the next connection.]]
texts.watch.examples = [[
Examples:
   zklock watch /locks/backup >>log
      a line for each change]]

texts.revoke = {}
texts.revoke.description = [[
Asks all present holders of the lock to release it, and prints their number.
With --wait it then waits until no process holds the lock. It has not asked the
waiters, which are granted the lock next: a lock with waiters does not become
free.]]
texts.revoke.examples = [[
Examples:
   zklock revoke --wait 1m /locks/backup
      asks, and waits for at most a minute]]

texts.forget = {}
texts.forget.description = [[
Deletes the note PATH.once of the last run with --once-per or session:once. The
next machine that starts the job runs it.]]
texts.forget.examples = [[
Examples:
   zklock forget /locks/report
      the job runs at its next start]]

texts.evict = {}
texts.evict.description = [[
Shows the contender that owns the node, asks on the terminal, and deletes the
node. A holder loses its hold, but can notice that late. A waiter starts again
at the end of the queue.]]
texts.evict.examples = [[
Examples:
   zklock evict /locks/backup aB3xQ1-lock-0000000007
      deletes that node, if you agree]]

texts.check = {}
texts.check.description = [[
Asks each server for its state, and acquires and releases a mutex at PATH.
Shows whether the servers are one ensemble, what a session gets, how long a
hold lasts when the servers stop responding, how long replies take, and which
operations the ACL allows at PATH.]]
texts.check.examples = [[
Examples:
   zklock check
      the servers, the session, and /zklock-check
   zklock check --json /locks/check
      for a monitor]]

texts.completion = {}
texts.completion.description = [[
Prints a script by which a shell completes commands and options. 'make install'
and Debian's package install such scripts.]]
texts.completion.examples = [[
Examples:
   source <(zklock completion bash)
      in ~/.bashrc, or for zsh in ~/.zshrc, after compinit
   zklock completion fish | source
      in ~/.config/fish/config.fish]]

return texts
