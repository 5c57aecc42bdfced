--- The version of zklock; no other file contains it. `make` reads the version
-- from this file, so it must stay on a separate line.
return "0.1.0"
