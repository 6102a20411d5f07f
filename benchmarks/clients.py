"""Browsers that look at pages all the time. Knows no Django, so that it runs in a process of its own."""

import http.client
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain

PAUSE_S = 10.0
"""How long somebody looks at a page on average before they open the next one."""

PATIENCE_S = 60.0


@dataclass(frozen=True)
class Answer:
    """To one request; `error` is what was wrong about it, "" if nothing was."""

    path: str
    seconds: float
    error: str


def browse(port: int, cookies: list[str], paths: list[str], seconds: float) -> list[Answer]:
    """One client for each cookie, each opening pages in an order of its own until the time is over."""
    until = time.monotonic() + seconds
    with ThreadPoolExecutor(len(cookies)) as clients:
        tasks = [clients.submit(_client, port, cookie, paths, until) for cookie in cookies]
        return list(chain.from_iterable(task.result() for task in tasks))


def _client(port: int, cookie: str, paths: list[str], until: float) -> list[Answer]:
    chance = random.Random(threading.get_ident())
    found: list[Answer] = []
    time.sleep(chance.uniform(0, min(PAUSE_S, until - time.monotonic())))
    while time.monotonic() < until:
        found.append(_get(port, cookie, chance.choice(paths)))
        time.sleep(chance.uniform(0, 2 * PAUSE_S))
    return found


def _get(port: int, cookie: str, path: str) -> Answer:
    """With a connection of its own: the server ends one that is silent for five seconds."""
    began = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        connection.request("GET", path, headers={"Cookie": cookie})
        response = connection.getresponse()
        response.read()
        error = "" if response.status == http.HTTPStatus.OK else str(response.status)
    except (OSError, http.client.HTTPException) as problem:
        error = f"{type(problem).__name__}: {problem}"
    finally:
        connection.close()
    return Answer(path, time.perf_counter() - began, error)
