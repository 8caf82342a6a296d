"""What ships the served app: its parts agree with each other, and the steps without a container serve it."""

import os
import re
import socket
import subprocess
import time
import tomllib
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml

from core.ui.serving.settings import Role, read_settings

ROOT = Path(__file__).parents[3]
SERVING = ROOT / "serving"
COMPOSE = yaml.safe_load((SERVING / "compose.yaml").read_text(encoding="utf-8"))


def example(folder: Path, **changes: str) -> Path:
    """The example configuration, with its places moved into a folder."""
    (folder / "kept").mkdir()
    for name in ("client_secret", "cookie_secret"):
        (folder / name).write_text("0123456789abcdef" * 4, encoding="utf-8")
    text = (SERVING / "frostglass.toml").read_text(encoding="utf-8")
    text = text.replace("/run/secrets", str(folder)).replace("/var/lib/frostglass", str(folder / "kept"))
    for old, new in changes.values():
        assert old in text
        text = text.replace(old, new)
    (folder / "frostglass.toml").write_text(text, encoding="utf-8")
    return folder / "frostglass.toml"


def test_the_example_configuration_can_be_used(tmp_path):
    settings = read_settings(example(tmp_path))
    assert settings.secure and settings.ledger.startswith("postgresql://") and settings.approval.epsilon == 1
    assert all(settings.roles[role] for role in Role)


def test_only_the_proxy_is_reached_and_the_app_can_write_nothing_but_its_volume():
    services = COMPOSE["services"]
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    app, ledger = services["frostglass"], services["ledger"]
    assert app["read_only"] and app["cap_drop"] == ["ALL"] and "privileged" not in app
    assert ledger["networks"] == ["back"] and COMPOSE["networks"]["back"]["internal"]
    used = {name for service in services.values() for name in service.get("secrets", [])}
    assert used == set(COMPOSE["secrets"])


def test_container_service_and_configuration_name_the_same_places():
    dockerfile = (SERVING / "Dockerfile").read_text(encoding="utf-8")
    unit = (SERVING / "frostglass.service").read_text(encoding="utf-8")
    stated = tomllib.loads((SERVING / "frostglass.toml").read_text(encoding="utf-8"))
    folder, port = stated["server"]["folder"], stated["server"]["port"]
    assert f"VOLUME {folder}\n" in dockerfile and f"kept:{folder}" in COMPOSE["services"]["frostglass"]["volumes"]
    assert f"EXPOSE {port}\n" in dockerfile and f"127.0.0.1:{port}/" in dockerfile
    assert f"frostglass:{port}" in (SERVING / "Caddyfile").read_text(encoding="utf-8")
    assert "/etc/frostglass/frostglass.toml" in dockerfile and "/etc/frostglass/frostglass.toml" in unit
    assert re.search(r"^USER 10001", dockerfile, re.MULTILINE) and f"WorkingDirectory={folder}\n" in unit


def test_the_container_is_given_all_that_the_wheel_is_made_of():
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    given = [ROOT / line[1:] for line in lines if line.startswith("!")]
    assert lines[0] == "**" and all(path.exists() for path in given)
    setup = (ROOT / "setup.py").read_text(encoding="utf-8")
    patterns = re.findall(r'^    "([^"]+)",$', setup.partition("APP = (")[2].partition(")")[0], re.MULTILINE)
    needed = [path for pattern in patterns for path in ROOT.glob(pattern)]
    needed += [
        ROOT / "core" / "version.py",
        ROOT / "setup.py",
        ROOT / "pyproject.toml",
        ROOT / "README.md",
        ROOT / "LICENSE",
    ]
    assert len(patterns) > 5
    assert all(any(path == one or one in path.parents for one in given) for path in needed)


@pytest.mark.deep
def test_the_steps_without_a_container_serve_strangers_nothing(tmp_path):
    """Installed as docs/serving.md says, from the list of exact libraries; takes minutes and an index of packages."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    subprocess.run([SERVING / "install.sh", tmp_path / "app"], check=True)
    config = example(
        tmp_path,
        ledger=('ledger = "postgresql://frostglass@ledger/frostglass"', ""),
        port=("port = 8501", f"port = {port}"),
        address=('"0.0.0.0"', '"127.0.0.1"'),
    )
    command = [tmp_path / "app" / "bin" / "frostglass", "serve", "--config", config]
    subprocess.run([*command, "--check"], check=True)
    with subprocess.Popen(command, env=os.environ | {"HOME": str(tmp_path / "kept")}) as server:
        try:
            assert _answer(f"http://127.0.0.1:{port}/", "frostglass.example.org") == 401
            assert _answer(f"http://127.0.0.1:{port}/", "elsewhere.example.org") in (400, 403, 421)
        finally:
            server.terminate()
    assert server.returncode in (0, -15)


def _answer(address: str, host: str, seconds: float = 120.0) -> int:
    """The status that a server gives as soon as it answers."""
    end = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(urllib.request.Request(address, headers={"Host": host}), timeout=10) as answer:
                return answer.status
        except urllib.error.HTTPError as refused:
            return refused.code
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.5)
