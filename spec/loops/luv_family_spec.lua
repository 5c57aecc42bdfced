-- The integration specs, each test a coroutine under luv.
local inside = require "loops.inside"

inside("luv", getfenv and getfenv(1) or _ENV,
  "family/contract")
