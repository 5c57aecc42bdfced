"""A way to a server that can be cut."""
import socket
import threading


class Forwarder:
    """Listens on loopback, and passes on what comes to the first of `hosts`."""

    def __init__(self, hosts):
        host, _, port = hosts.split(",")[0].rpartition(":")
        self._server = host, int(port)
        self._sockets = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.hosts = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread(self._listen)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.close()
        self.cut()

    @staticmethod
    def _thread(target, *arguments):
        threading.Thread(target=target, args=arguments, daemon=True).start()

    def _listen(self):
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._server)
            except OSError:  # it was closed
                return
            for one, other in (client, server), (server, client):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._sockets.append(one)
                self._thread(self._pass_on, one, other)

    @staticmethod
    def _pass_on(one, other):
        try:
            while data := one.recv(1 << 16):
                other.sendall(data)
        except OSError:  # cut
            pass
        for end in one, other:
            end.close()

    def cut(self):
        """Ends all connections; who comes again is let through."""
        sockets, self._sockets = self._sockets, []
        for one in sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:  # its ends have gone already
                pass
