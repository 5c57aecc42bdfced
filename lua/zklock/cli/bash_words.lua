--- Words as bash has them: broken at each `:` and `=`, and with their quotes.

-- As the shell would understand it, but for what it would have to evaluate.
local function unquote(word)
  local quote, inner = word:match "^(['\"])(.*)$"
  if quote then
    word = inner:gsub(quote .. "$", "")
  else
    word = word:gsub("\\(.)", "%1")
    local home = word:find "^~/" and os.getenv "HOME"
    if home then word = home .. word:sub(2) end
  end
  return word
end

--- Of the words and the number of the one where the cursor is: the words that
-- are meant, that number among them, what of that word bash takes to be in
-- front of it, and a function: the number in bash of a word that is meant.
return function(broken, current)
  local words, begins, last = {}, {}, 0
  local glued = false
  for i = 1, current do
    local is_break = broken[i]:find "^[:=]+$"
    if i > 1 and (is_break or glued) then
      words[#words] = words[#words] .. broken[i]
    else
      words[#words + 1] = broken[i]
      begins[#words] = i
      last = 0
    end
    if is_break then last = #words[#words] end
    glued = is_break
  end
  local front = words[#words]:sub(1, last)
  for i, word in ipairs(words) do words[i] = unquote(word) end
  return words, #words, unquote(front),
    function(number) return begins[number] or current end
end
