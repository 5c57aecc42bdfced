local core = require "zklock.core"

describe("A path", function()
  local good = {
    "/a", "/a/b", "/locks/orders", "/a b", "/a.b", "/..a", "/a..", "/.a/b.",
    "/...", "/a-b_c", "/%d", "/zookeeper", "/größe", "/鎖",
    "/" .. ("x"):rep(999), "/a\194\160b",
  }
  it("is what ZooKeeper takes", function()
    for _, path in ipairs(good) do
      assert.is_nil(core.check_path(path), path)
    end
  end)

  local bad = {
    [""] = "absolute", ["a"] = "absolute", ["a/b"] = "absolute",
    [" /a"] = "absolute", ["/"] = "root", ["/a/"] = "end with '/'",
    ["//"] = "end with '/'", ["//a"] = "empty component",
    ["/a//b"] = "empty component", ["/."] = "'.'", ["/.."] = "'.'",
    ["/a/./b"] = "'.'", ["/a/../b"] = "'.'", ["/a/.."] = "'.'",
    ["/a\0b"] = "NUL", ["/\0"] = "NUL", ["/a\nb"] = "control",
    ["/a\tb"] = "control", ["/\1"] = "control", ["/a\127"] = "control",
    ["/a\194\128"] = "control", ["/\238\128\128"] = "private",
    ["/\239\191\191"] = "special",
    -- ZooKeeper sees two surrogates.
    ["/😀"] = "an emoji, or another character beyond U+FFFF",
    ["/\240\144\128\128"] = "beyond U+FFFF",
    ["/\244\143\191\191"] = "beyond U+FFFF",
    ["/\238\128\127"] = "UTF-8", ["/\239\163\191"] = "private",
    ["/\239\191\176"] = "special",
    ["/\255"] = "UTF-8", ["/a\195"] = "UTF-8", ["/\192\175"] = "UTF-8",
    ["/\237\160\128x"] = "UTF-8", ["/\237\191\191"] = "UTF-8",
    ["/" .. ("x"):rep(1000)] = "1000",
  }
  it("is refused by the rule that it breaks", function()
    for path, rule in pairs(bad) do
      local fault = core.check_path(path)
      assert.is_truthy(fault and fault:find(rule, 1, true), path)
    end
  end)
end)
