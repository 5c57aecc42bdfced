--- The version of zklock, and the only place where it is written down. `make`
-- reads it from here for whatever it packs: so it is a line of its own.
return "0.1.0"
