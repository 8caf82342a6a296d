#!/bin/sh
# Installs Frostglass for serving into a folder of its own, the same way in a container and without one:
#     serving/install.sh FOLDER     (FOLDER/bin/frostglass is the command)
# Libraries are exactly those of requirements-serve.txt, each held to its hash.
set -eu
umask 022  # whoever serves is another user than who installs
target=${1:?"Say into which folder: serving/install.sh FOLDER"}
source=$(cd "$(dirname "$0")/.." && pwd)

"${PYTHON:-python3}" -m venv "$target"
"$target/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --require-hashes \
    -r "$source/requirements-serve.txt"
# The wheel is built by setuptools, which is taken from the same kind of list.
"$target/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps "$source"
"$target/bin/frostglass" --version
