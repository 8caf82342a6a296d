"""What `make` installs comes from where pip is told to look, and by pip where there is no uv."""

import subprocess
from pathlib import Path

import pytest

import install_libraries
from install_libraries import fetch_uv, main, settings_for_uv, uv_alone

LISTED = """\
:env:.cert='/env.pem'
:env:.find-links='/one /two'
global.cert='/file.pem'
global.extra-index-url='file:///a\\nfile:///b'
global.index-url='https://index.example/simple'
global.timeout='9'
install.trusted-host='index.example'
"""


def test_uv_looks_where_pip_looks_and_trusts_whom_it_trusts():
    told = settings_for_uv(LISTED)
    assert told["UV_DEFAULT_INDEX"] == "https://index.example/simple"
    assert told["UV_INDEX"] == "file:///a file:///b" and told["UV_FIND_LINKS"] == "/one,/two"
    assert told["SSL_CERT_FILE"] == "/env.pem"  # what the shell says is stronger than a file
    assert told["UV_INSECURE_HOST"] == "index.example" and told["UV_HTTP_TIMEOUT"] == "9"
    assert told["UV_INDEX_STRATEGY"] == "unsafe-best-match"  # as pip does, which the hashes make safe
    assert not any("INDEX" in name for name in settings_for_uv("") if name != "UV_INDEX_STRATEGY")


def test_uv_itself_is_held_to_its_hashes():
    text = (Path(install_libraries.HERE) / "requirements-dev.txt").read_text(encoding="utf-8")
    first, *hashes = uv_alone(text).splitlines()
    assert first.startswith("uv==") and len(hashes) > 10
    assert all(line.strip().startswith("--hash=sha256:") for line in hashes)


@pytest.fixture
def commands(monkeypatch):
    """The commands that would be run, and the codes that they end with, by a word in them."""
    ran, codes = [], {}

    def run(command, **options):
        ran.append(" ".join(map(str, command)))
        code = next((code for word, code in codes.items() if word in ran[-1]), 0)
        return subprocess.CompletedProcess(command, code, stdout="")

    monkeypatch.setattr(install_libraries.subprocess, "run", run)
    monkeypatch.setattr(install_libraries.sys, "argv", ["install_libraries.py", "list.txt"])
    monkeypatch.setattr(install_libraries, "UV", Path(__file__))
    return ran, codes


def test_every_library_is_held_to_its_hashes_whoever_installs_it(commands):
    ran, codes = commands
    assert main() == 0 and len(ran) == 3
    codes[str(Path(__file__))] = 2
    assert main() == 0
    installs = [command for command in ran if " install " in command]
    assert len(installs) == 5 and all("--require-hashes" in command for command in installs)


def test_where_there_is_no_uv_pip_installs_and_says_so(commands, capsys, monkeypatch):
    ran, codes = commands
    codes["uv.txt"] = 1
    assert main() == 0 and ran[-1].endswith("install --quiet --require-hashes -r list.txt")
    assert "pip does it" in capsys.readouterr().out
    codes["list.txt"] = 1
    assert main() == 1
    codes.clear()
    monkeypatch.setattr(install_libraries, "UV", Path(__file__).with_name("absent"))
    assert not fetch_uv()
