--- The version of zklock; no other file states it. `make` reads the version
-- from this file, so it is on a line of its own.
return "0.1.0"
