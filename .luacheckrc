-- One source for 5.1 to 5.5 and LuaJIT: what any of them has is known.
std = "max"
max_line_length = 80
max_cyclomatic_complexity = 16

-- A method need not use its object.
ignore = { "212/self" }

globals = { "ngx" } -- of nginx

-- Definitions for language servers: functions without bodies, long lines.
files["lua/zklock/meta"] = { ignore = { "2" }, max_line_length = 140 }

files["examples"] = { max_comment_line_length = 200 } -- what they print
for _, name in ipairs { "spec", "bench/spec" } do
  files[name] = { std = "+busted" }
end
files["examples/testing_spec.lua"] = { std = "+busted" }
exclude_files = { "build" }
