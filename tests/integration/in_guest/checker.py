"""Runs inside the lab guest, as root, with Debian's Python alone: says how an installed product is; changes nothing.

It knows no code of the product. It asks `zpool`, the journals, the database, the pages and `nasadvisor doctor`.

    checker well COOKIE BEGAN PATIENCE    wait until all is well; how many seconds after BEGAN each thing was
    checker look                          pool, journals, and what the database holds
    checker page COOKIE PATH              status, seconds and text of one page
"""

import json
import re
import sqlite3
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

DATABASE = "file:/var/lib/nasadvisor/console/console.sqlite3?mode=ro"
JOURNALS = Path("/var/lib/nasadvisor/host/runs")
ADDRESS = "https://127.0.0.1:8843"
EXPECTED = "side is DEGRADED"
PAGE_S = 60
OK = 200


def rows(question: str, *values: object) -> list[tuple[Any, ...]]:
    """What the database answers."""
    connection = sqlite3.connect(DATABASE, uri=True, timeout=30)
    try:
        return connection.execute(question, values).fetchall()
    finally:
        connection.close()


def page(cookie: str, path: str) -> tuple[int, float, str]:
    """Status (0: no answer), seconds and text of a page."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    request = urllib.request.Request(ADDRESS + path, headers={"Cookie": cookie})
    began = time.monotonic()
    try:
        with urllib.request.urlopen(request, timeout=PAGE_S, context=context) as answer:
            status, body = answer.status, answer.read()
    except urllib.error.HTTPError as error:
        status, body = error.code, error.read()
    except OSError as error:
        status, body = 0, str(error).encode()
    text = re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", body.decode(errors="replace"), flags=re.DOTALL)
    return status, time.monotonic() - began, re.sub(r"\s+", " ", text)


def has_sample_since(began: float) -> bool:
    """Whether clock, Redis, host and worker have together brought a sample of a time after that."""
    return bool(rows("select 1 from console_storedsample where resolution = 0 and at - seconds > ? limit 1", began))


def doctor_is_content() -> bool:
    """Whether it finds nothing wrong but the pool of which the test itself took a side offline."""
    done = subprocess.run(["nasadvisor", "doctor", "--json"], capture_output=True, check=False)
    return all(answer["ok"] or answer["sentence"].startswith(EXPECTED) for answer in json.loads(done.stdout))


def well(cookie: str, began: float, patience: float) -> dict[str, float | None]:
    """When each was well again, in seconds after `began`; None if it was not in time."""
    waiting: dict[str, Callable[[], bool]] = {
        "page": lambda: page(cookie, "/")[0] == OK,
        "sample": lambda: has_sample_since(began),
    }
    found: dict[str, float | None] = dict.fromkeys((*waiting, "doctor"))
    while waiting and time.time() - began < patience:
        for name in [name for name, is_well in waiting.items() if is_well()]:
            found[name] = round(time.time() - began, 1)
            del waiting[name]
        time.sleep(0.5)
    while not waiting and found["doctor"] is None and time.time() - began < patience:
        if doctor_is_content():
            found["doctor"] = round(time.time() - began, 1)
    return found


def journals() -> dict[str, dict[str, Any]]:
    """Of each run: how many records, whether the last line is whole, and whether each line is one."""
    found = {}
    for path in JOURNALS.glob("*/journal.jsonl"):
        text = path.read_bytes()
        lines = text.splitlines()
        found[path.parent.name] = {"records": len(lines), "is_whole": text.endswith(b"\n")}
    return found


def look() -> dict[str, object]:
    """Everything at one moment."""
    status = json.loads(subprocess.run(["zpool", "status", "-j", "tank"], capture_output=True, check=False).stdout)
    pool = status["pools"]["tank"]
    text = subprocess.run(["zpool", "status", "-P", "tank"], capture_output=True, text=True, check=False).stdout
    return {
        "pool": pool["state"],
        "slices": text.count("/by-partuuid/"),
        "runs": dict(rows("select id, state from console_storedrun")),
        "journals": journals(),
        "samples": [at for (at,) in rows("select at from console_storedsample where resolution = 0 order by at")],
        "undelivered": rows("select count(*) from console_delivery where state not in ('sent', 'gave-up')")[0][0],
        "integrity": rows("pragma quick_check")[0][0],
    }


def main() -> None:
    what, *rest = sys.argv[1:]
    match what:
        case "well":
            answer: object = well(rest[0], float(rest[1]), float(rest[2]))
        case "page":
            answer = page(rest[0], rest[1])
        case _:
            answer = look()
    print(json.dumps(answer))


main()
