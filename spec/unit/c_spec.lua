-- The tests that are written in C, of parts that need no server.  All are built
-- and run when this file is loaded; what each has said, of which the last line
-- is the outcome, becomes a test of busted's.
local read = require "support.files".read
local shell = require "support.shell"

local root, build = os.getenv "SPEC_ROOT" or ".", os.getenv "BUILD" or "build"

-- (Not optimized: that takes longer than it saves.)
local complaints = shell.must(("cd '%s' && make -s BUILD='%s' "
  .. "CFLAGS=\"${CFLAGS:--O0 -g}\" '%s/unit/tests'"):format(root, build, build))
assert(complaints == "", complaints)
local output = shell.output(("cd '%s' && '%s/unit/tests' 2>&1"):format(root,
  build))
assert(output:match "\nend\n$", output)

-- What the tests of a file are about.
local function subject_of(file)
  local about = read(root .. "/spec/unit/" .. file):match "\nABOUT(%b())"
  return (about:gsub('^%("', ""):gsub('"%)$', ""):gsub('"%s+"', ""))
end

local tests = {}
for line in output:gmatch "[^\n]+" do
  local file, sentence = line:match "^test\t(.-)\t(.*)"
  if file then
    tests[#tests + 1] = { file = file, sentence = sentence }
  elseif line ~= "end" then
    table.insert(tests[#tests], line)
  end
end
for _, test in ipairs(tests) do
  describe(subject_of(test.file), function()
    it(test.sentence, function()
      assert(test[#test] == "passed", table.concat(test, "\n"))
    end)
  end)
end
