--- zklock: distributed locks on ZooKeeper.
local core = require "zklock.loader"
local errors = require "zklock.errors"
local Session = require "zklock.session"

local version = "scm"

return {
  --- Opens a session: `zklock.connect(hosts [, options])`.
  connect = Session.connect,
  --- Seconds on the clock that leases are measured with.
  now = core.now,
  --- The error codes: `zklock.errors.timeout == "timeout"`.
  errors = errors.codes,
  --- The ZooKeeper client library in use: "st" or "mt".
  backend = core.backend,
  --- The version: "scm" is what has not been released.
  version = version,
  _VERSION = "zklock " .. version,
}
