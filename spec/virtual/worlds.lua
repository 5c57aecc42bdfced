--- The ensembles of this process, and which server has which address.
local virtual = require "zklock.virtual"

local worlds = {}

local numbers, port = {}, 40000

--- Starts a server for each of `hosts` ("ip:port,…"); `settings` as
-- virtual.ensemble takes them.  Returns the ensemble.
function worlds.start(hosts, settings)
  settings.addresses = {}
  for address in hosts:gmatch "[^,/]+:%d+" do
    table.insert(settings.addresses, address)
    numbers[address] = #settings.addresses
  end
  return virtual.ensemble(settings)
end

--- An address that no server and no link has.
function worlds.free_address()
  port = port + 1
  return "127.0.0.1:" .. port
end

--- The number of the server that has the address; nil: none has.
function worlds.number(address) return numbers[address] end

return worlds
