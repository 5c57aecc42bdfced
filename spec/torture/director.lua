--- Tortures clients and servers for a while, and has a witness judge what the
-- clients have written down.  Started by spec/torture/run:
--
--     director.lua SECONDS SEED DIRECTORY NAME=LUA=CPATH…
local core = require "zklock.core"
local certificates = require "support.certificates"
local faults = require "torture.faults"
local journals = require "torture.journal"
local new_stage = require "torture.stage".new
local new_witness = require "torture.witness".new
local start_server = require "support.server".start
local support = require "support"

local ROUND = 20 -- seconds of faults, then all must come to rest

local seconds, seed, directory = ...
seconds, seed = tonumber(seconds), tonumber(seed)
local builds = {}
for i = 4, select("#", ...) do
  local name, lua, cpath = (select(i, ...)):match "^([^=]+)=([^=]+)=(.+)$"
  builds[#builds + 1] = { name = name, lua = lua, cpath = cpath }
end

-- A round: faults for a while, then none, and everything must come to its end.
local function play(stage, round, deadline)
  math.randomseed(seed, round)
  local ends = math.min(deadline, core.now() + ROUND)
  while core.now() < ends do
    stage:catch_up()
    stage:look_after_clients()
    local name = faults.strike(stage)
    if name then stage.journal:note("fault", name) end
    -- Until the next fault, at a random moment.
    support.sleep(-math.log(1 - math.random()) * 0.25)
  end
  stage:heal()
  stage:rest()
end

local function judge(stage)
  local witness = new_witness()
  witness:read_harm(journals.read(directory .. "/director"))
  witness:read_harm(journals.read(directory .. "/operator"))
  for _, client in ipairs(stage.files) do
    witness:read_client(client.name, journals.read(client.file),
      client.session_timeout)
  end
  witness:judge()
  return witness
end

-- What a torture was: what the witness has counted, by name.
local function report(witness)
  local counts, names, kinds = witness.counts, {}, {}
  for name in pairs(counts) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    print(("%9d  %s"):format(counts[name], name))
  end
  print(("%9.2f  seconds, the most by which a wait outlived its deadline")
    :format(witness.worst_delay))
  for _, violation in ipairs(witness.violations) do
    print(("VIOLATION (%s): %s"):format(violation.kind, violation.text))
    kinds[violation.kind] = (kinds[violation.kind] or 0) + 1
  end
  print(("torture: %d grants, %d overlaps, %d orphans, %d hangs, "
    .. "%d violations"):format(counts.grants or 0, kinds.overlap or 0,
    kinds.left or 0, (kinds.hang or 0) + (kinds.wait or 0),
    #witness.violations))
end

-- A server's name in examples/tunnel.
local SERVER = "zk1.example.com"

local function certify()
  return support.closing(certificates.new()):add(SERVER, "IP:127.0.0.1")
    :add "client"
end

local function run()
  support.start()
  local ours = os.getenv "TLS" == "yes" and certify()
  local servers = support.closing(start_server(3,
    (ours and ours:flags(SERVER) or "--config") .. " maxSessionTimeout=60000"))
  local stage = new_stage { servers = servers, builds = builds,
    directory = directory, certificates = ours or nil,
    root = "/torture-" .. core.pid() }
  local begun, round = core.now(), 0
  repeat
    round = round + 1
    play(stage, round, begun + seconds)
    stage:go()
    io.write(("\rround %d, %.0f s"):format(round, core.now() - begun))
    io.flush()
  until core.now() >= begun + seconds
  stage:tell_clients "rest"
  stage:leave()
  print(("\rtorture: %d rounds in %.0f s, seed %d, %d clients of %d at a time")
    :format(round, core.now() - begun, seed, stage.born, #stage.clients))
  local witness = judge(stage)
  report(witness)
  return #witness.violations == 0
end

local ok, result = xpcall(run, debug.traceback)
support.close_all()
if not ok then
  io.stderr:write("torture: ", tostring(result), "\n")
  os.exit(2)
end
os.exit(result and 0 or 1)
