--- What a torture was, in a page: what the witness has counted, by name.
return function(witness)
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
