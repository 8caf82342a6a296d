"""A class answers a poll: how many answers a second one server takes from many clients at once, and that none is lost.

    python -m benchmarks.poll [--clients 50] [--answers 3000]

Server and clients share this computer's processors, each in a process of its own. Clients open the page, send a report,
and send it again, as phones do that did not hear the answer.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from core.local.poll_server import PollServer
from core.local.poll_store import Polls
from core.local.survey import Survey

ANSWERS = ("Never", "Once or twice", "More often", "I would rather not say")


def serve(path: str, port: multiprocessing.Queue, done: multiprocessing.Queue, spent: multiprocessing.Queue) -> None:
    """The server, until it is told to end; then the processor seconds that it took."""
    with PollServer(Polls(Path(path)), "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port.put(server.listens[1])
        done.get()
        spent.put(process_time())
        server.shutdown()


def answer(port: int, poll: str, place: int, report: list[str]) -> bool:
    """One phone: the page, the report, and the report again. Whether it was counted once."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", f"/p/{poll}")
    page = connection.getresponse()
    fine = page.status == 200 and b"answers" in page.read()
    new = []
    for _ in range(2):
        body = json.dumps({"token": f"token-{place:06d}", "report": report})
        connection.request("POST", f"/p/{poll}/report", body, {"Content-Type": "application/json"})
        new.append(json.loads(connection.getresponse().read())["new"])
    connection.close()
    return fine and new == [True, False]


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--answers", type=int, default=3000)
    asked = parser.parse_args()
    survey = Survey.of("Did you copy homework?", ANSWERS, "ss", 1)
    reports = survey.oracle.privatise(np.arange(asked.answers) % len(ANSWERS))
    with tempfile.TemporaryDirectory() as folder:
        polls = Polls(Path(folder, "polls.sqlite"))
        poll = polls.make(survey).id
        port, done, spent = (multiprocessing.Queue() for _ in range(3))
        server = multiprocessing.Process(target=serve, args=(str(polls.path), port, done, spent))
        server.start()
        number = port.get()
        start, begin = perf_counter(), process_time()
        with ThreadPoolExecutor(asked.clients) as clients:
            words = [[str(word) for word in np.atleast_1d(report)] for report in reports]
            fine = list(clients.map(lambda place: answer(number, poll, place, words[place]), range(asked.answers)))
        took, theirs = perf_counter() - start, process_time() - begin
        done.put(None)
        ours = spent.get()
        server.join()
        kept = polls.reports(poll)
        lost = asked.answers - len(kept)
        same = sorted(kept.reshape(-1).tolist()) == sorted(reports.reshape(-1).tolist())
    print(
        f"{asked.answers:,} answers of {asked.clients} clients at once: {asked.answers / took:,.0f} a second "
        f"({took:.1f} s; processor: server {ours:.1f} s, clients {theirs:.1f} s); lost {lost}, counted once "
        f"{sum(fine):,}, stored as they were sent: {'yes' if same else 'no'}."
    )


if __name__ == "__main__":
    main()
