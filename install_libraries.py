"""Installs a list of exact versions, each held to its hashes: `.venv/bin/python install_libraries.py requirements.txt`.

Beside the interpreter that runs this, by uv, which takes a tenth of pip's time; pip fetches it, in the version and with
the hashes of requirements-dev.txt, and hands on where it looks for packages and whose certificates it trusts. Where
there is no uv to be had, or it fails, pip does it all.
"""

from __future__ import annotations

import ast
import os
import re
import ssl
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
UV = Path(sys.executable).with_name("uv.exe" if os.name == "nt" else "uv")
SECTIONS = ("global", "install", ":env:")
"""Of pip's settings, the stronger ones last."""
SAME = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "no-index": ("UV_NO_INDEX", " "),
    "no-cache-dir": ("UV_NO_CACHE", " "),
    "default-timeout": ("UV_HTTP_TIMEOUT", " "),
    "timeout": ("UV_HTTP_TIMEOUT", " "),
    "proxy": ("ALL_PROXY", " "),
    "cert": ("SSL_CERT_FILE", " "),
    "client-cert": ("SSL_CLIENT_CERT", " "),
}
"""What uv calls a setting of pip, and what parts its values."""


def settings_for_uv(listed: str) -> dict[str, str]:
    """The variables that make uv look where pip looks.

    Parameters
    ----------
    listed : str
        What `pip config list` prints.
    """
    found: dict[str, dict[str, str]] = {}
    for section, name, value in re.findall(r"^([\w:]+)\.([\w-]+)=(.*)$", listed, re.MULTILINE):
        found.setdefault(section, {})[name] = ast.literal_eval(value)
    settings = {name: value for section in SECTIONS for name, value in found.get(section, {}).items()}
    # Of several places pip takes the best version of all, and so does uv then; hashes say that it is the right file.
    told = {"UV_INDEX_STRATEGY": "unsafe-best-match"}
    trusted = ssl.get_default_verify_paths()
    if trusted.cafile or (trusted.capath and any(Path(trusted.capath).iterdir())):
        told["UV_SYSTEM_CERTS"] = "true"
    for name, (variable, between) in SAME.items():
        if name in settings:
            told[variable] = between.join(settings[name].split())
    return told


def uv_alone(versions: str) -> str:
    """What a list of exact versions says of uv."""
    found = re.search(r"^uv==(?:.*\\\n)*.*\n", versions, re.MULTILINE)
    return found[0] if found else ""


def fetch_uv() -> bool:
    """Have uv in the environment; False where that cannot be."""
    wanted = uv_alone((HERE / "requirements-dev.txt").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        alone = Path(folder, "uv.txt")
        alone.write_text(wanted, encoding="utf-8")
        fetch = [*PIP, "install", "-qq", "--no-deps", "--require-hashes", "-r", str(alone)]
        return subprocess.run(fetch).returncode == 0 and UV.exists()


def install_by_uv(file: str) -> bool:
    """Whether uv has installed the list."""
    if not fetch_uv():
        return False
    listed = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True).stdout
    command = [str(UV), "pip", "install", "--quiet", "--python", sys.executable, "--require-hashes", "-r", file]
    return subprocess.run(command, env=os.environ | settings_for_uv(listed)).returncode == 0


def main() -> int:
    """Install the list that the command names."""
    file = sys.argv[1]
    if install_by_uv(file):
        return 0
    print("No uv here can install the libraries, so pip does it, which takes a minute or two.", flush=True)
    return subprocess.run([*PIP, "install", "--quiet", "--require-hashes", "-r", file]).returncode


if __name__ == "__main__":
    sys.exit(main())
