"""`app` hands over to Streamlit, with the pages beside the library."""

import os
import sys

from core.machine.installation import APP, PROGRAM


def test_the_app_of_this_installation_is_opened(command, monkeypatch):
    started = []
    monkeypatch.setattr(os, "execv", lambda program, arguments: started.append((program, arguments)))
    assert command("app", "--port", "8765", "--headless").exit_code == 0
    ((program, arguments),) = started
    assert program == arguments[0] == sys.executable and arguments[1:5] == ["-P", "-m", "streamlit", "run"]
    assert arguments[5:] == [str(APP / "app.py"), "--server.port=8765", "--server.headless=true"]
    assert (APP / "app.py").is_file() and PROGRAM == "python -m core"


def test_no_port_beyond_the_last(command):
    assert command("app", "--port", "65536").exit_code == 2
