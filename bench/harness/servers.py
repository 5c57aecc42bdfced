"""The ZooKeeper servers that the drivers use, and what they count."""
import os
import re
import shutil
import socket
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
ZOOKEEPER = os.path.join(ROOT, "spec", "support", "zookeeper")
ROOM = 1 << 30  # for the data of a run


def directory(where):
    """A new directory, there, or in memory, if there is such a file system."""
    if where:
        return tempfile.mkdtemp(prefix="zklock-bench-", dir=where)
    where = "/dev/shm"
    if not (os.access(where, os.W_OK) and shutil.disk_usage(where).free > ROOM):
        where = None
    return tempfile.mkdtemp(prefix="zklock-bench-", dir=where)


def _answer(port, question):
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        connection.settimeout(10)
        connection.sendall(question)
        text = b""
        while True:
            part = connection.recv(65536)
            text += part
            if not part:
                return text.decode(errors="replace")


class ZooKeeper:
    asked = 0  # how often we have asked what it has received

    def __init__(self, directory, servers=1, log=None):
        """`log`: a directory for the transaction log, which is then synced."""
        self.directory = os.path.join(directory, "zookeeper")
        self.log = tempfile.mkdtemp(prefix="zookeeper-log-", dir=log) if log \
            else None
        config = ["tickTime=2000", "maxSessionTimeout=120000"]
        if self.log:
            config += [f"dataLogDir={self.log}/{{n}}", "forceSync=yes",
                       "preAllocSize=65536"]
        command = ["bash", ZOOKEEPER, "start", "--servers", str(servers),
                   "--dir", self.directory, "--detach",
                   "--owner", str(os.getpid())]
        for line in config:
            command += ["--config", line]
        # The support's own flags are for servers that begin quickly.
        for flag in ("-XX:TieredStopAtLevel=4", "-Xmx1g"):
            command += ["--jvm", flag]
        try:
            out = subprocess.run(command, stdout=subprocess.PIPE, text=True,
                                 start_new_session=True, check=True).stdout
            lines = dict(line.split("=", 1) for line in out.splitlines())
            self.hosts = lines["hosts"]
            self.pids = [int(pid) for pid in lines["pids"].split(",")]
            self.ports = [int(host.rsplit(":", 1)[1])
                          for host in self.hosts.split(",")]
        except BaseException:
            self.stop()
            raise

    def requests(self):
        """How many packets have been received; asking is not counted."""
        self.asked += 1
        total = -self.asked * len(self.ports)
        for port in self.ports:
            total += int(re.search(r"Received: (\d+)",
                                   _answer(port, b"srvr")).group(1))
        return total

    def version(self):
        found = re.search(r"version: ([^,]+),", _answer(self.ports[0], b"srvr"))
        return found.group(1) if found else "?"

    def stop(self):
        if os.path.exists(os.path.join(self.directory, "made-by-zklock")):
            subprocess.run(["bash", ZOOKEEPER, "stop", self.directory],
                           start_new_session=True, check=False)
        if self.log:
            shutil.rmtree(self.log, ignore_errors=True)
