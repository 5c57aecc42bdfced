--- What a torture was, in a page.
local function sorted(counts, prefix)
  local list = {}
  for name, n in pairs(counts) do
    if name:sub(1, #prefix) == prefix then
      list[#list + 1] = { name = name:sub(#prefix + 1), n = n }
    end
  end
  table.sort(list, function(a, b)
    return a.n > b.n or a.n == b.n and a.name < b.name
  end)
  return list
end

local function print_list(title, list)
  local total = 0
  for _, one in ipairs(list) do total = total + one.n end
  print(("%9d  %s"):format(total, title))
  for _, one in ipairs(list) do print(("%17d  %s"):format(one.n, one.name)) end
end

return function(witness)
  local counts = witness.counts
  local function n(name) return counts[name] or 0 end
  local function line(number, text) print(("%9d  %s"):format(number, text)) end
  print_list("faults", sorted(counts, "fault: "))
  line(n "acquisitions", "acquisitions")
  print_list("refused", sorted(counts, "refused: "))
  print_list("granted", sorted(counts, "grants: "))
  line(n "is_held true" + n "is_held false", "times asked is_held()")
  line(n "is_held false", "of them false")
  line(n "proven stretches", "stretches of time proven held")
  line(n "holds that were taken away", "holds whose node somebody took away")
  line(n "losses told by on_lost", "losses told by on_lost")
  line(n "losses told by release", "losses told by release")
  line(n "guards left to the collector", "guards left to the collector")
  line(n "sessions closed", "sessions closed under way")
  print_list("events of sessions", sorted(counts, "event: "))
  print(("%9.2f  seconds, the most by which a wait outlived its deadline")
    :format(witness.worst_delay))
  local kinds = {}
  for _, violation in ipairs(witness.violations) do
    print(("VIOLATION (%s): %s"):format(violation.kind, violation.text))
    kinds[violation.kind] = (kinds[violation.kind] or 0) + 1
  end
  print(("torture: %d grants, %d overlaps, %d orphans, %d hangs, "
    .. "%d violations"):format(n "grants", kinds.overlap or 0, kinds.left or 0,
    (kinds.hang or 0) + (kinds.wait or 0), #witness.violations))
end
