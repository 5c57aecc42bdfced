-- The tests that are written in C: of the protocol in a time of its own, and of
-- what else is pure.
local c_tests = require "support.c_tests"

for _, file in ipairs {
  "lease.c", "name.c", "rule.c", "timer.c", "suspicion.c", "quota.c",
  "addresses.c", "hosts.c", "notice.c", "settings.c", "window.c",
  "story_queue.c", "story_replies.c", "story_connections.c", "story_time.c",
  "story_rwlock.c", "story_semaphore.c", "story_unfair.c", "story_turns.c",
  "story_directory.c", "story_limits.c", "story_kept.c",
} do
  local subject, sentences = c_tests.read(file)
  describe(subject .. " #once #layer", function()
    for _, sentence in ipairs(sentences) do
      it(sentence, function() c_tests.check(file, sentence) end)
    end
  end)
end
