-- What a session counts of its locks.
local Meters = require "zklock.meters"

describe("A meter", function()
  local bounds = Meters.bounds

  -- The bucket of a wait of so many seconds.
  local function bucket_of(seconds)
    local meters = Meters.new {}
    meters:grant({ path = "/a", mode = "mutex" },
      { take = function() return seconds end })
    local waits, buckets = meters.list[1].waits, {}
    for i, n in ipairs(waits.buckets) do
      if n ~= 0 then buckets[#buckets + 1] = i end
    end
    assert.same({ 1, 1, seconds }, { #buckets, waits.count, waits.sum })
    return buckets[1]
  end

  it("counts a wait below the least bound that it does not exceed", function()
    assert.equal(1, bucket_of(0))
    for i, bound in ipairs(bounds) do
      assert.equal(i, bucket_of(bound))
      assert.equal(i + 1, bucket_of(bound + 1e-6))
    end
  end)
end)
