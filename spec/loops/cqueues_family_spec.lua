-- The integration specs, each test a task of cqueues.
local inside = require "loops.inside"

inside("cqueues", getfenv and getfenv(1) or _ENV,
  "family/contract")
