"""Starting the app for others, with the options that its configuration asks for; its log, and its files in memory.

`frostglass serve` checks the configuration and then becomes this.
"""

import logging
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ...errors import RequestError
from ...privacy.ledger.ledger import Ledger
from ...privacy.ledger.log import Did, Log
from ...runtime.environment import APP
from ...runtime.faults import keep_values_out_of_logs
from .door import Person, SessionManager, open_door, the_door
from .settings import Settings

COOKIE_SECRET = "STREAMLIT_SERVER_COOKIE_SECRET"


def options(settings: Settings) -> dict[str, Any]:
    """Streamlit's options, which overrule every file."""
    public = urlsplit(settings.public)
    return {
        "server.address": settings.address,
        "server.port": settings.port,
        "server.allowedHosts": [public.hostname],
        "server.corsAllowedOrigins": [settings.public],
        "server.enableCORS": True,
        "server.enableXsrfProtection": True,
        "server.enableWebsocketCompression": True,
        "server.enableStaticServing": False,
        "server.enableAgentApi": False,
        "server.maxUploadSize": settings.limits.upload_megabytes,
        "server.fileWatcherType": "none",
        "server.headless": True,
        "runner.postScriptGC": False,  # core/ui/frame/session.py does that, beside the clicks
        "browser.serverAddress": public.hostname,
        "browser.serverPort": public.port or (443 if settings.secure else 80),
        "browser.gatherUsageStats": False,
        "client.allowedOrigins": [settings.public],
        "client.showErrorDetails": "none",
        "global.developmentMode": False,
        "logger.enableRich": False,  # it prints the words of exceptions, which may quote values
    }


def secrets_of(settings: Settings) -> dict[str, Any]:
    """What `st.login` needs to know, handed over in memory."""
    if settings.sign_in is None:
        return {}
    sign_in = settings.sign_in
    return {
        "auth": {
            "redirect_uri": f"{settings.public}/oauth2callback",
            "cookie_secret": sign_in.cookie_secret,
            "client_id": sign_in.client,
            "client_secret": sign_in.client_secret,
            "server_metadata_url": sign_in.provider,
        }
    }


def serve(door: SessionManager, port: int) -> None:
    """Serve at a port until the process is told to end."""
    keep_values_out_of_logs()
    settings = replace(door.started, port=port)
    open_door(door)

    import streamlit as st
    import uvicorn
    from starlette.middleware import Middleware
    from streamlit.web.bootstrap import load_config_options

    from .guard import Guard

    # Of a sign-in that fails, what a provider has answered is in the traceback: a code, or the client's secret.
    logging.getLogger("streamlit.web.server.starlette.starlette_auth_routes").addFilter(_without_traceback)
    keep_uploads_in_memory()
    app = st.App(
        APP / "app.py",
        secrets=secrets_of(settings),
        middleware=[Middleware(Guard, door=door, downloaded=downloaded, came=came, sessions_with=sessions_with)],
    )
    # Not by variables of the environment: of those Streamlit reads what is secret, and only `streamlit run` the others.
    if settings.sign_in is not None:
        os.environ[COOKIE_SECRET] = settings.sign_in.cookie_secret
    load_config_options(options(settings))  # behind what the app's own file says, which is known by now
    os.environ.pop(COOKIE_SECRET, None)  # it is read, and no process that is started from here inherits it
    # The address of whoever connects is that of the connection, whatever a header says.
    uvicorn.run(
        app,
        host=settings.address,
        port=settings.port,
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_level="warning",
        ws="websockets-sansio",
        ws_max_size=settings.limits.upload_megabytes * 2**20,
        ws_per_message_deflate=True,
        timeout_graceful_shutdown=10,
    )


def _without_traceback(record: logging.LogRecord) -> bool:
    record.exc_info = record.exc_text = None
    return True


def came(person: Person) -> None:
    """Somebody has opened a page: written down once a sign-in, as far as this process remembers."""
    if the_door().first_time(person):
        log().write(person.name, Did.SIGNED_IN)


def downloaded(name: str, file: str) -> None:
    """Somebody is about to get a file; RequestError when that cannot be written down, and they must not then."""
    log().write(name, Did.DOWNLOADED, {"file": file})


def log() -> Log:
    """The log of the served app, in its ledger."""
    settings = the_door().started
    return Ledger(settings.ledger_place, settings.witness).log


def sessions_with(file: str) -> list[str]:
    """The sessions whose pages show or offer a file, by the name that its address has.

    Streamlit names files by a hash of their content and gives them to whoever asks by that name. It keeps count of
    which session shows which, so as to forget them, and that is read here.
    """
    from streamlit.runtime import get_instance

    manager = get_instance().media_file_mgr
    with manager._lock:
        shown = {session: set(files.values()) for session, files in manager._files_by_session_and_coord.items()}
    return [session for session, files in shown.items() if file in files]


def keep_uploads_in_memory() -> None:
    """Let no upload touch the disk while it comes: above a megabyte Starlette writes it to a temporary file.

    It is in memory as soon as it is whole, and Streamlit bounds how large one may be.
    """
    from starlette.formparsers import MultiPartParser

    MultiPartParser.spool_max_size = sys.maxsize


if __name__ == "__main__":
    try:
        serve(SessionManager(Path(sys.argv[1])), int(sys.argv[2]))
    except RequestError as problem:
        sys.exit(f"{problem}")
