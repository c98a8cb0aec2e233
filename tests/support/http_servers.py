"""HTTP servers on loopback in this process, for what a test asks of another program."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def send(request: BaseHTTPRequestHandler, status: int, body: bytes, content_type: str = "") -> None:
    """Send all of an answer."""
    request.send_response(status)
    if content_type:
        request.send_header("Content-Type", content_type)
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)


@contextmanager
def serving(
    respond: Callable[[BaseHTTPRequestHandler], None], address: str = "127.0.0.1", port: int = 0
) -> Iterator[ThreadingHTTPServer]:
    """A server that answers GET and POST by `respond`, each in a thread of its own, and logs nothing, for the
    time of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            respond(self)

        def do_POST(self) -> None:
            respond(self)

        def log_message(self, format: str, *args: object) -> None:
            """Silence."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 64  # clients may come all at once

    server = Server((address, port), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
