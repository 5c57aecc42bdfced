--- The version of zklock, and the only place that has it.  `make` reads it from
-- here, so it is on a line of its own.
return "0.1.0"
