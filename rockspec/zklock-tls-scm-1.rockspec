-- Made by `make rockspecs` from rockspec/template-tls: change that one.
rockspec_format = "3.0"
package = "zklock-tls"
version = "scm-1"

source = {
  url = "git+https://github.com/zklock/zklock.git",
}

description = {
  summary = "TLS for zklock: the module zklock.tls",
  detailed = [[
zklock loads this module for the option `tls` of zklock.connect, and for no
other. It is a rock of its own because it needs OpenSSL 3.]],
  homepage = "https://github.com/zklock/zklock",
  issues_url = "https://github.com/zklock/zklock/issues",
  maintainer = "The authors of zklock",
  license = "MIT",
  labels = { "zookeeper", "lock", "tls" },
}

-- The module refuses another version of zklock.
dependencies = { "lua >= 5.1, < 5.6, ~= 5.2", "zklock == scm-1" }

external_dependencies = {
  OPENSSL = { header = "openssl/ssl.h", library = "ssl" },
  CRYPTO = { library = "crypto" },
}

build = {
  type = "command",
  build_command = [[mkdir -p build/rock && \
$(CC) $(CFLAGS) $(LIBFLAG) -D_GNU_SOURCE -Isrc \
  -I$(LUA_INCDIR) -I$(OPENSSL_INCDIR) \
  src/tls/*.c src/io/images.c -o build/rock/tls.so \
  -L$(OPENSSL_LIBDIR) -Wl,-rpath,$(OPENSSL_LIBDIR) \
  -L$(CRYPTO_LIBDIR) -Wl,-rpath,$(CRYPTO_LIBDIR) \
  -lssl -lcrypto -lpthread -ldl]],
  install = { lib = { ["zklock.tls"] = "build/rock/tls.so" } },
  copy_directories = {},
}
