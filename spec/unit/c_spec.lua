-- The tests that are written in C: of the protocol in a time of its own, and of
-- what else is pure.
local c_tests = require "support.c_tests"

for _, file in ipairs(c_tests.files()) do
  local subject, sentences = c_tests.read(file)
  describe(subject .. "", function()
    for _, sentence in ipairs(sentences) do
      it(sentence, function() c_tests.check(file, sentence) end)
    end
  end)
end
