"""Starting the app for others, in this process, with the options that its configuration asks for."""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from ...machine.faults import keep_values_out_of_logs
from ...machine.installation import APP
from ...serving.door import Door, open_door
from ...serving.settings import Settings


def options(settings: Settings) -> dict[str, str]:
    """Streamlit's options, as variables of the environment, which overrule every file."""
    public = urlsplit(settings.public)
    said = {
        "SERVER_ADDRESS": settings.address,
        "SERVER_PORT": str(settings.port),
        "SERVER_ALLOWED_HOSTS": str(public.hostname),
        "SERVER_CORS_ALLOWED_ORIGINS": settings.public,
        "SERVER_ENABLE_CORS": "true",
        "SERVER_ENABLE_XSRF_PROTECTION": "true",
        "SERVER_ENABLE_WEBSOCKET_COMPRESSION": "true",
        "SERVER_ENABLE_STATIC_SERVING": "false",
        "SERVER_ENABLE_AGENT_API": "false",
        "SERVER_MAX_UPLOAD_SIZE": str(settings.limits.upload_megabytes),
        "SERVER_FILE_WATCHER_TYPE": "none",
        "SERVER_HEADLESS": "true",
        "RUNNER_POST_SCRIPT_GC": "false",  # core/ui/frame/parting.py does that, beside the clicks
        "BROWSER_SERVER_ADDRESS": str(public.hostname),
        "BROWSER_SERVER_PORT": str(public.port or (443 if settings.secure else 80)),
        "BROWSER_GATHER_USAGE_STATS": "false",
        "CLIENT_ALLOWED_ORIGINS": settings.public,
        "CLIENT_SHOW_ERROR_DETAILS": "none",
        "GLOBAL_DEVELOPMENT_MODE": "false",
        "LOGGER_ENABLE_RICH": "false",  # it prints the words of exceptions, which may quote values
    }
    if settings.sign_in is not None:
        said["SERVER_COOKIE_SECRET"] = settings.sign_in.cookie_secret
    return {f"STREAMLIT_{name}": value for name, value in said.items()}


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


def serve(door: Door, port: int) -> None:
    """Serve at a port until the process is told to end."""
    keep_values_out_of_logs()
    settings = replace(door.started, port=port)
    os.environ.update(options(settings))
    open_door(door)

    # Streamlit reads its options when it is loaded.
    import streamlit as st
    import uvicorn
    from starlette.middleware import Middleware

    from .guard import Guard
    from .journal import came, downloaded
    from .media import sessions_with

    # Of a sign-in that fails, what a provider has answered is in the traceback: a code, or the client's secret.
    logging.getLogger("streamlit.web.server.starlette.starlette_auth_routes").addFilter(_without_traceback)
    app = st.App(
        APP / "app.py",
        secrets=secrets_of(settings),
        middleware=[
            Middleware(Guard, door=door, downloaded=downloaded, came=came, sessions_with=sessions_with),
        ],
    )
    st.get_option("server.cookieSecret")  # read by now, so that no process that is started from here inherits it
    os.environ.pop("STREAMLIT_SERVER_COOKIE_SECRET", None)
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
