--- The adapter for scripts without an event loop: a wait blocks the thread in
-- poll(2).
return {
  new = function(_, engine)
    local A = { blocks = true }

    function A.wait(w, timeout)
      while not w.done do
        engine.core:wait(timeout)
        engine.events:step()
        if timeout then return end
      end
    end

    function A.wake() end

    return A
  end,
}
