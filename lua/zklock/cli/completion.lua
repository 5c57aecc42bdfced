--- What may stand where the cursor is: for the shells' completion.
local manual = require "zklock.cli.manual"
local outline = require "zklock.cli.outline"

local completion = {}

-- "--acl" of "--acl=open", and "open".
local function split(word)
  local name, value = word:match "^(%-%-[^=]+)=(.*)$"
  return name or word, value
end

local function find(options, name)
  for _, option in ipairs(options) do
    for _, each in ipairs(outline.names(option)) do
      if each == name then return option end
    end
  end
end

local function options_of(command)
  local list = { outline.help_option }
  local own = command and command.options or { outline.version_option }
  for _, option in ipairs(own) do list[#list + 1] = option end
  for _, option in ipairs(manual.common) do list[#list + 1] = option end
  return list
end

--- What the words before word number `last` have said, or nil: the `command`;
-- its `arguments`; `second`: the number of the second one of these; `request`:
-- the options' values, as they stand; `option`: its key there, if its value
-- comes next; `behind`: the number of the first word behind `--`.
function completion.read(words, last)
  local state = { request = {}, arguments = {} }
  for i = 1, last - 1 do
    local name, value = split(words[i])
    local option = name:find "^%-" and find(options_of(state.command), name)
    if words[i] == "--" then
      state.behind = i + 1
      return state
    elseif state.option then
      state.request[state.option] = words[i]
      state.option = nil
    elseif option and option.argument then
      local key = option.names:match "%-%-(%S+)":gsub("-", "_")
      if value then state.request[key] = value else state.option = key end
    elseif not state.command and not name:find "^%-" then
      state.command = outline.command(words[i])
      if not state.command then return nil end
    elseif not name:find "^%-" then
      table.insert(state.arguments, words[i])
      if #state.arguments == 2 then state.second = i end
    end
  end
  return state
end

local function begin_with(prefix, list)
  local fitting = {}
  for _, candidate in ipairs(list) do
    if candidate[1]:sub(1, #prefix) == prefix then
      fitting[#fitting + 1] = candidate
    end
  end
  return fitting
end

local function values(option, before, prefix)
  if option.files then return { kind = "files" } end
  local list = {}
  for _, word in ipairs(option.words or {}) do
    list[#list + 1] = { before .. word, option.help }
  end
  return { kind = "words", begin_with(before .. prefix, list) }
end

local function named(options, prefix)
  local list = {}
  for _, option in ipairs(options) do
    for _, name in ipairs(outline.names(option)) do
      list[#list + 1] = { name, option.help }
    end
  end
  return { kind = "words", begin_with(prefix, list) }
end

local function argument(state, word)
  local described = state.command.arguments[#state.arguments + 1]
  local kind = described and (described.paths and "paths"
    or described[1] == "NODE" and "nodes")
  return kind and { kind = kind, word = word, path = state.arguments[1],
    request = state.request }
end

--- What fits word number `last`, of those behind `zklock`: `kind`, and by that
--
--     words      [1] = { { word, what it means }, … }
--     files      the names of files
--     command    `at`, the number of its first word: a command to be run
--     paths      `word` begins a node's path, seen as `request` says
--     nodes      of the contenders at `path`
--
-- or nil.
function completion.find(words, last)
  local word = words[last] or ""
  local state = completion.read(words, last)
  if not state then return nil end
  if state.behind then
    return state.command and state.command.name == "run"
      and { kind = "command", at = state.behind } or nil
  elseif state.option then
    local option = find(options_of(state.command),
      "--" .. state.option:gsub("_", "-"))
    return values(option, "", word)
  elseif word:find "^%-" then
    local name, value = split(word)
    local option = value and find(options_of(state.command), name)
    if option then return values(option, name .. "=", value) end
    return named(options_of(state.command), word)
  elseif state.command then
    return argument(state, word)
  end
  local list = {}
  for _, command in ipairs(manual.commands) do
    list[#list + 1] = { command.name, command.summary }
  end
  return { kind = "words", begin_with(word, list) }
end

return completion
