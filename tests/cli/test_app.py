"""`app` hands over to the server of one computer, with the pages beside the library."""

import os
import sys
import tomllib

from core.machine.environment import APP, PROGRAM


def test_the_app_of_this_installation_is_opened(command, monkeypatch):
    started = []
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # which the command sets where nobody has: put back after the test
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    monkeypatch.setattr(os, "execv", lambda program, arguments: started.append((program, arguments)))
    result = command("app", "--port", "8765", "--headless")
    assert result.exit_code == 0 and "http://127.0.0.1:8765" in result.stderr
    ((program, arguments),) = started
    assert program == arguments[0] == sys.executable and arguments[1:3] == ["-P", "-c"]
    assert "'core.ui.serving.alone'" in arguments[3] and arguments[4:] == ["8765", "headless"]
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
    assert (APP / "app.py").is_file() and PROGRAM == "python -m core"


def test_no_port_beyond_the_last(command):
    assert command("app", "--port", "65536").exit_code == 2


def test_nothing_of_streamlit_itself_is_offered_in_front_of_home():
    """It offers files for coding agents where it finds one on the computer, unless its welcome is hidden."""
    settings = tomllib.loads((APP / ".streamlit" / "config.toml").read_text())
    assert settings["logger"]["hideWelcomeMessage"] is True
