--- The Python that has a module. The first one in $PATH may be one that does
-- not look where Debian installs.
-- @param module the module's name
-- @return a command
return function(module)
  for _, name in ipairs { "python3", "/usr/bin/python3" } do
    local status = os.execute(("%s -c 'import %s' >/dev/null 2>&1")
      :format(name, module))
    if status == 0 or status == true then return name end
  end
  error("no python3 has " .. module, 0)
end
