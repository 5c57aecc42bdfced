"""What kazoo reads of a text of hosts: lines of hexadecimal digits."""
import sys

from kazoo.hosts import collect_hosts


def read(text):
    try:
        hosts, chroot = collect_hosts(text)
    except ValueError:
        return "refused"
    words = ["%s %d|" % (host, port) for host, port in hosts]
    return "".join(words) + (chroot or "")


for line in sys.stdin:
    text = bytes.fromhex(line.strip()).decode("utf-8")
    print(read(text).encode("utf-8").hex())
