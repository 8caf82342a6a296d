"""`serve` checks the whole configuration, and then becomes the server."""

import os
import sys

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
