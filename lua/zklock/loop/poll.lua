--- The loop of plain scripts: a wait blocks the thread in poll(2).
return {
  new = function(session)
    local A = { blocks = true }

    function A.wait(w, timeout)
      while not w.done do
        session._core:wait(timeout)
        session:_step()
        if timeout then return end
      end
    end

    function A.wake() end

    return A
  end,
}
