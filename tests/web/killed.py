"""Servers that are killed while somebody labels: ``python -m tests.web.killed TIMES STORE...``.

Prints the requests that were confirmed, as JSON. Everything is imported once and each server is a
fork; nothing here may use polars before, whose threads no fork takes along.
"""

import http.client
import json
import os
import random
import signal
import sys
import threading

import uvicorn

from calipers.web.app import listen, make_app
from calipers.web.guard import Doors
from calipers.web.sources import WebSources
from tests.web.served import Visitor

LONGEST = 0.1
"""Seconds that a server may live, from its first answer or from its first label."""


def main(store: str, times: int) -> dict[str, object]:
    chance = random.Random(7)
    confirmed: list[str] = []
    sent = 0
    for turn in range(times):
        listening = listen(port=0)
        doors = Doors("me")
        token = doors.invite("me")
        child = os.fork()
        if child == 0:
            config = uvicorn.Config(
                make_app(WebSources(store), listening.address, doors),
                log_level="critical",
                access_log=False,
                lifespan="off",
                ws="none",
            )
            uvicorn.Server(config).run(sockets=[listening.socket])
            os._exit(0)
        listening.socket.close()
        visitor = Visitor(listening.address.host)
        visitor.enter(f"/enter?token={token}")
        killer = threading.Timer(chance.uniform(0, LONGEST), os.kill, (child, signal.SIGKILL))
        n = 0
        try:
            while True:
                # Some die while they open the pool, the others while they write to it.
                if n == (turn % 4 > 0):
                    killer.start()
                name = f"turn{turn:03}-{n:04}"
                label = {"request": name, "item": sent % 8, "grade": sent % 4}
                sent += 1
                n += 1
                if visitor.post("/api/v1/pools/1/labels", label).status == 200:
                    confirmed.append(name)
        except (OSError, http.client.HTTPException):
            pass
        killer.join()
        os.waitpid(child, 0)
    return {"confirmed": confirmed, "sent": sent}


if __name__ == "__main__":
    times, *stores = sys.argv[1:]
    sys.stdout.write(json.dumps([main(store, int(times)) for store in stores]))
