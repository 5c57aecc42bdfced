---@meta _

--- The guard of a multi.
---@class zklock.MultiGuard: zklock.Guard
local guard = {}

--- Of a multi only: the fencing token of each part, by its path.
---
--- ```lua
--- local guard = assert(session:multi { session:mutex "/locks/from", session:mutex "/locks/to" }:acquire(5))
--- for path, token in pairs(guard:tokens()) do print(path .. " has a token of " .. #token .. " digits") end
--- guard:release()
--- ```
---@return table<string, string> tokens path → token
function guard:tokens() end
