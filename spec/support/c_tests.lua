--- The tests in C of spec/unit, as busted's.  Their sentences are read from the
-- files; all are built and run when the first of them is asked for.
local root = os.getenv "SPEC_ROOT" or "."

local c_tests = {}

-- (Not optimized: that takes longer than it saves.)
local MAKE = "cd '%s' && make -s BUILD='%s' CFLAGS=\"${CFLAGS:--O0 -g}\" "
  .. "'%s' 2>&1"

local function output_of(command, ...)
  local pipe = assert(io.popen(command:format(...)))
  local output = pipe:read "*a"
  pipe:close()
  return output
end

-- The literal that stands first in these parentheses, be it in several parts.
local function literal(parentheses)
  local parts, part, at = {}, nil, 2
  repeat
    parts[#parts + 1], part, at = part, parentheses:match('^%s*"([^"]*)"()', at)
  until not part
  return table.concat(parts)
end

--- The files that have tests, in the order of their names.
function c_tests.files()
  local files = {}
  local output = output_of("cd '%s/spec/unit' && grep -l '^ABOUT(' *.c", root)
  for file in output:gmatch "[^\n]+" do files[#files + 1] = file end
  table.sort(files)
  return files
end

--- What a C file is about, and the sentences of its tests.
function c_tests.read(file)
  local source = assert(io.open(root .. "/spec/unit/" .. file))
  local text, sentences = source:read "*a", {}
  source:close()
  for kind, parentheses in text:gmatch "\n(%u+)(%b())" do
    if kind == "TEST" or kind == "STORY" then
      sentences[#sentences + 1] = literal(parentheses)
    end
  end
  return literal(text:match "\nABOUT(%b())"), sentences
end

-- What each has said, by file and sentence: its last line is the outcome.
local function outcomes_of(output)
  local outcomes, said = {}, nil
  for line in output:gmatch "[^\n]+" do
    local file, sentence = line:match "^test\t(.-)\t(.*)"
    if file then
      said = {}
      outcomes[file .. "\t" .. sentence] = said
    elseif said and line ~= "end" then
      said[#said + 1] = line
    end
  end
  return outcomes
end

local function run()
  local build = os.getenv "BUILD" or "build"
  local program = build .. "/unit/tests"
  local complaints = output_of(MAKE, root, build, program)
  assert(complaints == "", complaints)
  local output = output_of("cd '%s' && '%s' 2>&1", root, program)
  assert(output:match "\nend\n$", output)
  return outcomes_of(output)
end

local outcomes, problem

--- Fails unless this test has passed.
function c_tests.check(file, sentence)
  if not outcomes then
    local ok, result = pcall(run)
    outcomes, problem = ok and result or {}, not ok and result
  end
  assert(not problem, problem)
  local said = outcomes[file .. "\t" .. sentence]
  assert(said, "it was not run")
  assert(said[#said] == "passed", table.concat(said, "\n"))
end

return c_tests
