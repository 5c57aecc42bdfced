-- The integration specs, each test a thread of copas.
local inside = require "loops.inside"

inside("copas", getfenv and getfenv(1) or _ENV,
  "family/contract")
