--- Reads the values of options and settings, which are texts. Each function
-- returns a value, or nil and what is wrong with the text.
local core = require "zklock.core"
local quote = require "zklock.quote"

local convert = {}

local units = { [""] = 1, s = 1, m = 60, h = 3600, d = 86400 }

-- The longest time that an option can set: a hundred years. luv's timers count
-- milliseconds in 64 bits.
local LONGEST = 36500 * units.d

function convert.text(text) return text end

function convert.seconds(text)
  local digits, unit = text:match "^(%d*%.?%d*)([smhd]?)$"
  local number = digits and tonumber(digits)
  if not number then
    return nil, quote(text) .. " is no time, such as 30, 1.5, 10m, 1h or 2d"
  end
  -- Limits the number before the multiplication, too. In Lua 5.3 and later, the
  -- product of large integers would wrap around.
  return math.min(math.min(number, LONGEST) * units[unit], LONGEST)
end

function convert.count(text)
  local number = text:match "^%d+$" and tonumber(text)
  if not number or number < 1 then
    return nil, quote(text) .. " is no whole number from 1 on"
  end
  return number
end

--- Reads a fencing token, and pads it with zeros to 19 digits, so that tokens
-- can be compared as strings.
function convert.token(text)
  local digits = text:match "^0*(%d+)$"
  if not digits or #digits > 19 then
    return nil, quote(text) .. " is no token, such as 4294967300"
  end
  return ("0"):rep(19 - #digits) .. digits
end

--- Reads a session timeout or a connect timeout, and checks the library's
-- limits.
function convert.timeout(text)
  local seconds, fault = convert.seconds(text)
  if fault then return nil, fault end
  if seconds < 0.1 or seconds > 86400 then
    return nil, quote(text) .. " is not between 0.1 seconds and a day"
  end
  return seconds
end

function convert.hosts(text)
  local fault = core.check_hosts(text)
  if fault then return nil, "it " .. fault end
  return text
end

--- Reads a chroot; `/` means that there is none.
function convert.chroot(text)
  local fault = core.check_chroot(text)
  if fault then return nil, quote(text) .. " " .. fault end
  return text
end

local acls = { open = true, creator = true, read = true }

function convert.acl(text)
  if acls[text] then return text end
  return nil, quote(text) .. " is none of open, creator and read"
end

return convert
