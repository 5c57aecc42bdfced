--- Lists every message of the library, the command and the build, read from the
-- sources.
--
--     lua doc/make/messages.lua       (make messages)
--
-- A literal that reads as prose is listed, unless doc/make/channels.lua says
-- why it is no message; and what is handed to a channel (errors.misuse,
-- log_throttled, …) must be a literal, unless that file says where its words
-- come from.  Anything else is an error here.
local here = arg and arg[0] and arg[0]:match "^(.*)messages%.lua$"
  or "doc/make/"
package.path = here .. "?.lua;" .. package.path
local channels = require "channels"
local lex = require "lex"
local sentences = require "sentences"

local messages = {}

local root = "." -- of the project

local function read_file(name)
  local file = assert(io.open(root .. "/" .. name, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

local function lines_of(command)
  local pipe = assert(io.popen(("cd '%s' && %s"):format(root, command)))
  local list = {}
  for line in pipe:lines() do list[#list + 1] = line end
  pipe:close()
  table.sort(list)
  return list
end

-- Is it prose?  Two words, or a word with a blank before or behind it, which is
-- a part of a sentence.
local function is_prose(text)
  local bare = text:gsub("<[^>]*>", "x")
  return (bare:find "%a%a[,:;.!?'\")]* +[(\"']*%a"
      or bare:find "^[ ,(:;]+%a%a" or bare:find "%a%a[:,]? +$"
      or bare:find "%a x$" or bare:find "^x %a")
    and not bare:find "\n.*\n.*\n"
end

-- "…the/file.lua" and a text that are listed as no message: why.
local function excused(list, file, text)
  for _, entry in ipairs(list) do
    if file:find(entry[1]) and (not entry[2] or text:find(entry[2])) then
      return entry[3]
    end
  end
end

local function is_c(file) return file:find "%.[ch]$" ~= nil end

--- `#define NAME "text"` of all headers and sources.
function messages.defines(files)
  local defines = {}
  for _, file in ipairs(files) do
    for name, text in read_file(file):gmatch '#define ([%u_]+) "([^"\n]*)"' do
      defines[name] = text
    end
  end
  return defines
end

local function last_name(call) return call and call:match "[%w_]+$" or nil end

-- Where a user meets it: a group's name, and the code or level.
local function place(file, sentence, is_said)
  local call = is_said and last_name(sentence.call)
  for _, rule in ipairs(channels.rules) do
    if file:find(rule.file or "") and (not rule.call or call == rule.call)
        and (not rule.text or sentence.text:find(rule.text)) then
      local word = rule.word and (sentence.leading[rule.word] or "*")
      return rule.group, word or rule.says, rule.before
    end
  end
  error(("%s:%d: no rule of doc/make/channels.lua has a group for %q"):format(
    file, sentence.line, sentence.text), 0)
end

-- Is it what its call says?  (Not what fills a place in that.)
local function is_the_message(file, sentence)
  local call = last_name(sentence.call)
  local names = is_c(file) and channels.of_c or channels.of_lua
  return call ~= nil and (names[call] or sentence.index) == sentence.index
end

local function add(entries, file, line, text, group, code, before)
  local prefix = (channels.groups[group].prefix or "") .. (before or "")
  text = text:gsub("\n", " "):gsub("  +", " ")
  if text:sub(1, #prefix) ~= prefix then text = prefix .. text end
  entries[#entries + 1] = { file = file, line = line, text = text,
    group = group, code = code }
end

-- What is handed to a channel must be seen here.
local function check_calls(file, tokens, defines, said, complaints)
  local names = is_c(file) and channels.of_c or channels.of_lua
  for _, call in ipairs(sentences.calls(tokens, names)) do
    local source = sentences.source_of(call.message)
    local form = channels.forms[call.call]
    if not said[call.open] and not defines[source]
        and (not form or call.whole:find(form))
        and not excused(channels.elsewhere, file, source) then
      complaints[#complaints + 1] = ("%s:%d: %s is given %s, whose words are "
        .. "not seen here: say in doc/make/channels.lua where they come from")
        :format(file, call.line, call.call, source)
    end
  end
end

--- What the text of one file says: entries are added to a list, and what cannot
-- be told to another one.
function messages.read_source(file, text, defines, entries, complaints)
  local tokens = (is_c(file) and lex.c or lex.lua)(text)
  local said = {}
  for _, one in ipairs(sentences.read(tokens, is_c(file), defines,
    channels.places)) do
    local call = last_name(one.call)
    local is_said = is_prose(one.text) and not channels.patterns[call or ""]
      and not excused(channels.no_messages, file, one.text)
    if is_said then
      local is_it = is_the_message(file, one)
      add(entries, file, one.line, one.text, place(file, one, is_it))
      if is_it and one.open then said[one.open] = true end
    end
  end
  check_calls(file, tokens, defines, said, complaints)
end

-- Shell and make: what stands in quotation marks behind these words.
local function read_shell(file, text, entries)
  text = text:gsub("\\\n%s*", "")
  local line = 0
  for row in (text .. "\n"):gmatch "(.-)\n" do
    line = line + 1
    for word, said in row:gmatch "(%l+) (\"[^\"]+\"[^;>&|}]*)" do
      if word == "die" or word == "echo" then
        said = said:gsub('" "', " "):gsub('^"', ""):gsub('"%s*$', "")
        said = said:gsub("%$%{?([%w_]+)%}?", "<%1>"):gsub("%$%*", "<message>")
        said = said:gsub("<1>", "<name>"):gsub("^install: <message>$", "")
        if is_prose(said) then
          add(entries, file, line, said, "install",
            word == "die" and "exit code 1" or nil)
        end
      end
    end
  end
end

local function expand(text, variables)
  text = text:gsub("%$%(INSTALL%)", variables.INSTALL)
  text = text:gsub("%$%(([%u_]+)%)", "<%1>"):gsub("%$%$(%w+)", "<%1>")
  text = text:gsub("%$%(filter [^()]*%)", "x")
  text = text:gsub("%$%(or [^,()]*,([^()]*)%)", "%1")
  text = text:gsub("%$%(if [^,()]*,([^,()]*),([^()]+)%)", "<%1|%2>")
  text = text:gsub("%$%(if [^,()]*,([^()]*)%)", "%1")
  return (text:gsub("%s+", " "))
end

local function read_make(file, text, entries)
  text = text:gsub("\\\n%s*", "")
  local variables = { INSTALL = text:match "\nINSTALL = ([^\n]*)" }
  for at in text:gmatch "%$%(error ()" do
    local whole = text:match("^%b()", at - 7)
    add(entries, file, at, expand(whole:sub(8, -2), variables), "install",
      "make stops")
  end
  for quoted in text:gmatch 'echo "([^"]+)"' do
    local said = expand(quoted, variables)
    if is_prose(said) and not said:find "^#!" then
      add(entries, file, 0, said, "install")
    end
  end
end

--- All entries, of the project in this directory, and what is wrong.  (Of
-- virtual time only these two files tell users something.)
function messages.collect(directory)
  root = directory or root
  local files = lines_of("find lua src bin src/virtual/schedule.c "
    .. "src/virtual/lua_virtual.c -path src/virtual -prune "
    .. "-o -name '*.lua' -print -o -name '*.[ch]' -print "
    .. "-o -name zklock -type f -print")
  local entries, complaints = {}, {}
  local c_files = {}
  for _, file in ipairs(files) do
    if is_c(file) then c_files[#c_files + 1] = file end
  end
  local defines = messages.defines(c_files)
  for _, file in ipairs(files) do
    if not excused(channels.no_messages, file, "\0") then
      messages.read_source(file, read_file(file), defines, entries, complaints)
    end
  end
  read_shell(".ci/install", read_file ".ci/install", entries)
  read_make("Makefile", read_file "Makefile", entries)
  return entries, complaints
end

local function quoted(text)
  local has_tick = text:find("`", 1, true)
  return has_tick and "`` " .. text .. " ``" or "`" .. text .. "`"
end

-- A paragraph, in lines that are not too long.
local function wrap(text)
  local lines, line = {}, ""
  for word in text:gmatch "%S+" do
    if #line + #word + 1 > 140 then
      lines[#lines + 1] = line
      line = ""
    end
    line = line .. (line == "" and "" or " ") .. word
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

-- The same sentence of several files is one.
local function merged(entries)
  local by_key, list = {}, {}
  for _, entry in ipairs(entries) do
    local key = entry.group .. "\0" .. entry.text
    local one = by_key[key]
    if not one then
      one = { text = entry.text, group = entry.group, codes = {}, files = {} }
      by_key[key] = one
      list[#list + 1] = one
    end
    one.codes[entry.code or ""] = true
    one.files[entry.file] = true
  end
  return list
end

local function words_of(set, meanings)
  local list = {}
  for code in pairs(set) do
    local word = meanings and meanings[code] or code
    if word ~= "" then list[#list + 1] = word end
  end
  table.sort(list)
  return list
end

function messages.write(entries)
  local out, list = {}, merged(entries)
  local function line(text) out[#out + 1] = text end
  line("# Every sentence\n\n" .. wrap(channels.head) .. "\n")
  for _, group in ipairs(channels.order) do
    local rows, about = {}, channels.groups[group]
    for _, one in ipairs(list) do
      if one.group == group then
        local codes = words_of(one.codes, about.words)
        rows[#rows + 1] = ("- %s%s — %s"):format(quoted(one.text), #codes > 0
          and " · " .. table.concat(codes, ", ") or "",
          table.concat(words_of(one.files), ", "))
      end
    end
    table.sort(rows)
    line("## " .. about.title .. "\n\n" .. wrap(about.text) .. "\n")
    for _, row in ipairs(rows) do line(row) end
    line ""
  end
  out[#out] = nil
  return table.concat(out, "\n") .. "\n"
end

if arg and arg[0] and arg[0]:find "messages%.lua$" then
  local entries, complaints = messages.collect()
  if #complaints > 0 then
    io.stderr:write(table.concat(complaints, "\n"), "\n")
    os.exit(1)
  end
  io.write(messages.write(entries))
end

return messages
