"""A request to an ASGI application in this process."""

from typing import Any


async def asked(app: Any, path: str = "/v1/search", method: str = "GET") -> Any:
    """The first message of the answer; None if there is none."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    await app({"type": "http", "method": method, "path": path, "headers": []}, None, send)
    return sent[0] if sent else None


def answering(status: int) -> Any:
    """An application that answers each request with this status."""

    async def answer(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": status, "headers": []})

    return answer
