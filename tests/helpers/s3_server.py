"""An S3 server for tests: moto behind a log of requests, in a process of its own. Signatures are checked.

It runs on a Python that has moto, see `helpers.s3`, and imports nothing of Glasswood. Its first line
has its port and its keys; then each request is a line of JSON.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Any

os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "0"

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.iam.models import iam_backends
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

ALLOWED = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}


def say(facts: dict[str, Any]) -> None:
    """Print facts as a line."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


class Logged:
    """An application whose requests are printed, with the times of their beginning and end."""

    def __init__(self, app: Any, delay: float) -> None:
        self.app, self.delay, self.lock = app, delay, threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> list[bytes]:
        request: dict[str, Any] = {"method": environ["REQUEST_METHOD"], "path": environ["PATH_INFO"]}
        request |= {"query": environ["QUERY_STRING"], "range": environ.get("HTTP_RANGE"), "begin": time.time()}
        time.sleep(self.delay)

        def start(status: str, headers: Any, *rest: Any) -> Any:
            request["status"] = int(status.split()[0])
            return start_response(status, headers, *rest)

        body = b"".join(self.app(environ, start))
        request |= {"bytes": len(body), "end": time.time()}
        with self.lock:
            say(request)
        return [body]


class Silent(WSGIRequestHandler):  # type: ignore[misc]
    """Requests are logged by the application."""

    protocol_version = "HTTP/1.1"

    def log(self, *_: Any) -> None:
        """Nothing."""


def main(delay: float) -> None:
    """Serve until the process is ended."""
    users = iam_backends[DEFAULT_ACCOUNT_ID]["aws"]
    users.create_user("us-east-1", "tests", None, None)
    users.put_user_policy("tests", "all", json.dumps(ALLOWED))
    key = users.create_access_key("tests")
    app = Logged(DomainDispatcherApplication(create_backend_app), delay)
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Silent)
    say({"port": server.port, "key": key.access_key_id, "secret": key.secret_access_key})
    server.serve_forever()


if __name__ == "__main__":
    main(float(sys.argv[1]))
