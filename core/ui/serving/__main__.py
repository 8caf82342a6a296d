"""The process of a served app: `frostglass serve` checks the configuration and then becomes this."""

import sys
from pathlib import Path

from ...errors import RequestError
from ...serving.door import SessionManager
from .app_server import serve

if __name__ == "__main__":
    try:
        serve(SessionManager(Path(sys.argv[1])), int(sys.argv[2]))
    except RequestError as problem:
        sys.exit(f"{problem}")
