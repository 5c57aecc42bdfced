--- Spellings of hosts. What is taken zklock reads as Java's ConnectStringParser
-- does: "name port|…|chroot". What is refused has a list for each part of the
-- message: Java refuses some of it, too, and reads the rest as other hosts, or
-- another chroot, than people mean.
-- spec/interop/interop_spec.lua asks the real parsers about what is taken.
local spellings = {}

spellings.taken = {
  { "zk1", "zk1 2181|" },
  { "zk1:2181", "zk1 2181|" },
  { "zk1:1", "zk1 1|" },
  { "zk1:65535", "zk1 65535|" },
  { "zk1,zk2,zk3", "zk1 2181|zk2 2181|zk3 2181|" },
  { "zk1:2181,zk2:2182,zk3:2183", "zk1 2181|zk2 2182|zk3 2183|" },
  { "zk1.example.org:2181", "zk1.example.org 2181|" },
  { "zk1.example.org.:2181", "zk1.example.org. 2181|" },
  { "ZK1.Example.ORG", "ZK1.Example.ORG 2181|" },
  { "under_score,a-b.c-d", "under_score 2181|a-b.c-d 2181|" },
  { "zk.1", "zk.1 2181|" },
  { "localhost", "localhost 2181|" },
  { "zk1,zk1", "zk1 2181|zk1 2181|" },
  { "127.0.0.1", "127.0.0.1 2181|" },
  { "10.0.0.1:2181,10.0.0.2:2181", "10.0.0.1 2181|10.0.0.2 2181|" },
  { "[::1]", "::1 2181|" },
  { "[::1]:2181", "::1 2181|" },
  { "[2001:db8::1]:2181,[2001:db8::2]:2181/app",
    "2001:db8::1 2181|2001:db8::2 2181|/app" },
  { "[::ffff:127.0.0.1]:2181", "::ffff:127.0.0.1 2181|" },
  { "[fe80::1%eth0]:2181", "fe80::1%eth0 2181|" },
  { "[fe80::1%25]", "fe80::1%25 2181|" },
  { "zk1/", "zk1 2181|" },
  { "zk1:2181,zk2:2181/", "zk1 2181|zk2 2181|" },
  { "zk1/app", "zk1 2181|/app" },
  { "[::1]/app", "::1 2181|/app" },
  { "zk1:2181,zk2:2181/app/locks", "zk1 2181|zk2 2181|/app/locks" },
  { "zk1/a.b/.c/..d", "zk1 2181|/a.b/.c/..d" },
  { "zk1/A-b_c.1+x=~@y", "zk1 2181|/A-b_c.1+x=~@y" },
}

spellings.refused = {
  ["last host"] = {
    "zk1/app,zk2/app", "zk1:2181/app,zk2:2181/app", "zk1:2181/app,zk2:2181",
    "zk1:2181/,zk2:2181/", "zk1/a,b", "zk1/app,",
  },
  ["port behind"] = { "zk1/zk2:2181", "zk1/app:2181" },
  ["none can have"] = {
    "zk1:2181/app|zk2:2181", "zk1|zk2", "zk1&zk2", "zk1+zk2", "zk1\\nzk2",
    "${ZK}", "$ZK:2181", "zk1/${APP}", "zk1/$(app)", "{zk1,zk2}:2181",
    "zk{1,2}:2181", "zk[1-3]:2181", "zk*", "*:2181", "zk1/app/*", "~zk1",
    "<zk1>", "(zk1)", "zk1!", "hosts=zk1", "ZKLOCK_HOSTS=zk1:2181", "zk1\\app",
    "zk1/app\\x", "zk1?x=1", "zk1#x", "zk1/app?x=1", "zk1/app#x", "::1]",
    "zk1:+2181", "zk1/\001", "zk1/\127",
  },
  ["';'"] = {
    "zk1;zk2", "zk1:2181;zk2:2181", "zk1:2181;zk2:2181/app", "zk1/app;zk2/app",
    "zk1:2888:3888;2181",
  },
  ["blank"] = {
    "zk1 zk2", "zk1:2181 zk2:2181/app", "zk1/app zk2/app", "zk1\nzk2",
    "zk1, zk2", "zk1 ,zk2", " zk1", "zk1 ", "\tzk1", "zk1\n", "zk1\r\n",
    "zk1\r", "zk1\011", "zk1\012", "zk1,\nzk2", "zk1:2181 ", "zk1: 2181",
    "zk1 :2181", "zk1 /app", "zk1/app ", "zk1/app\n", "zk1/ app", "zk1/my app",
    "[ ::1 ]:2181", " ", "zk1, ,zk2",
  },
  ["empty element"] = {
    "", ",", "zk1,", ",zk1", "zk1,,zk2", ",,zk1,,", "zk1,/app", "/app", "/",
  },
  ["empty host name"] = { ":2181", ":", "[]", "[]:2181" },
  ["scheme"] = {
    "zk://zk1:2181/app", "zookeeper://zk1", "zk://zk1,zk2/app",
    "tcp://zk1:2181", "http://zk1:2181", "zk1,http://zk2",
    "zk://me:secret@zk1/app",
  },
  ["more than one ':'"] = {
    "tcp:zk1:2181", "::1:2181", "fe80::1", "2001:db8::1,zk2", "[::1]:2181,::1",
    "zk1::2181", "zk1:2181:",
  },
  ["port"] = {
    "zk:zk1", "zk:/zk1:2181", "[::1]:", "[::1]::2181", "[::1]:2181:1",
    "[::1]:02181", "zk1:", "zk1:0", "zk1:-1", "zk1:65536", "zk1:99999",
    "zk1:4294969477", "zk1:02181", "zk1:0x885", "zk1:2e3", "zk1:2181x",
    "zk1:2_181", "zk1:zookeeper",
  },
  ["'@'"] = {
    "me@zk1", "me:secret@zk1:2181", "digest:me:secret@zk1/app", "zk1@zk2",
  },
  ["quote"] = {
    "\"zk1:2181\"", "'zk1:2181'", "zk1:\"2181\"", "zk1/\"app\"", "zk1/app'",
    "\"zk1\",\"zk2\"", "`zk1`",
  },
  ["'%'"] = { "zk1%2Ezk2", "zk1%3A2181", "zk1%", "zk1/a%2Fb", "zk1/a%20b" },
  ["other than an IPv6"] = {
    "[fe80::1%25eth0]:2181", "[[::1]]", "[zk1]:2181", "[127.0.0.1]:2181",
    "[1:2]:2181", "[::g]", "[fe80::1%]",
  },
  ["more than one ':' (an IPv6"] = { "::1" },
  ["without ']'"] = { "[::1" },
  ["after ']'"] = { "[::1]2181", "[::1]x:2181" },
  ["more than one ':' (hosts are"] = { "zk1:2181:2888:3888" },
  ["beyond ASCII"] = {
    "zk1:\239\188\146\239\188\145\239\188\152\239\188\145", "zk1\194\160,zk2",
    "zk1,\194\160zk2", "zk1/app\194\160", "\239\187\191zk1", "zk1\226\128\139",
    "zk1/app\226\128\139", "zk1\239\188\140zk2", "zk1/app\239\188\140zk2/app",
    "zk1\239\188\143app", "zk1\239\188\1542181", "zk1\226\128\164example",
    "\226\128\156zk1\226\128\157", "zk\208\176", "b\195\188cher",
    "zk1/\208\176pp", "zk1/\195\188ber", "zk1/u\204\136ber",
  },
  ["IPv4"] = {
    "127.1", "010.0.0.1", "127.0.0.01", "0177.0.0.1", "0x7f.0.0.1",
    "0x7f000001:2181", "2130706433", "1", "1.2.3", "1.2.3.4.5", "256.0.0.1",
    "127.0.0.1.",
  },
  ["empty part"] = { "zk1..zk2", ".zk1", "." },
  ["empty component"] = { "zk1//app", "zk1/app//x" },
  ["end with '/'"] = { "zk1/app/", "zk1//" },
  ["'.' or '..'"] = {
    "zk1/.", "zk1/..", "zk1/app/.", "zk1/app/../x", "zk1/./app",
  },
}

return spellings
