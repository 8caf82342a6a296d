"""`app` hands over to the server of one computer, with the pages beside the library.

`serve` checks the whole configuration, and then becomes the server.
"""

import os
import sys
import tomllib

from core.runtime.environment import APP, PROGRAM


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


FILE = """
[server]
public = "https://frostglass.example.org"
folder = "{folder}"
[proxy]
addresses = ["127.0.0.1"]
email_header = "X-Forwarded-Email"
[roles]
owner = ["ann@example.org"]
"""


def test_a_configuration_is_checked_and_handed_over(command, monkeypatch, tmp_path):
    started = []
    monkeypatch.setattr(os, "execv", lambda program, arguments: started.append(arguments))
    path = tmp_path / "serving.toml"
    path.write_text(FILE.format(folder=tmp_path))
    assert command("serve", "--config", str(path), "--check").exit_code == 0 and not started
    result = command("serve", "--config", str(path))
    assert result.exit_code == 0 and "https://frostglass.example.org" in result.stderr
    ((program, alone, _, begin, *given),) = started
    assert (program, alone, given) == (sys.executable, "-P", [str(path), "8501"]) and "core.ui.serving" in begin
    assert command("serve", "--config", str(path), "--port", "8502").exit_code == 0
    assert started[1][-2:] == [str(path), "8502"]  # one of several processes


def test_what_is_wrong_with_it_is_one_sentence(command, tmp_path):
    path = tmp_path / "serving.toml"
    for text in (FILE.replace("owner", "owners"), "", "["):
        path.write_text(text.replace("{folder}", str(tmp_path)))
        result = command("serve", "--config", str(path))
        assert result.exit_code == 2 and result.stderr.count("\n") == 1
    assert command("serve", "--config", str(tmp_path / "none.toml")).exit_code == 2
