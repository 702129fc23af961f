"""A small load balancer: passes bytes between a caller and the next server that accepts a connection."""

import itertools
import socket
import threading

CONNECT_S = 1
CHUNK = 65536


class Balancer:
    def __init__(self, port, backends):
        """`backends`: ports of this machine."""
        self.turns = itertools.cycle(backends)
        self.count = len(backends)
        self.listener = socket.create_server(("127.0.0.1", port), backlog=128)
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self):
        self.listener.close()

    def _accept(self):
        while True:
            try:
                caller, _ = self.listener.accept()
            except OSError:
                return  # stopped
            threading.Thread(target=self._serve, args=(caller,), daemon=True).start()

    def _serve(self, caller):
        server = self._dial()
        if server is None:
            caller.close()
            return
        back = threading.Thread(target=_pump, args=(server, caller), daemon=True)
        back.start()
        _pump(caller, server)
        back.join()
        caller.close()
        server.close()

    def _dial(self):
        for _ in range(self.count):
            try:
                return socket.create_connection(("127.0.0.1", next(self.turns)), timeout=CONNECT_S)
            except OSError:
                continue
        return None


def _pump(source, sink):
    """Passes bytes until one end closes; then both are shut down, so that the other direction ends as well."""
    source.settimeout(None)
    try:
        while data := source.recv(CHUNK):
            sink.sendall(data)
    except OSError:
        pass
    for end in (source, sink):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
