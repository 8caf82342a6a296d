#!/bin/sh
# The browser tests drive a real Chromium. Where none is installed and we may install one, take Debian's.
set -eu
command -v chromium >/dev/null 2>&1 && exit 0
[ "$(id -u)" = 0 ] || { echo "No chromium found: the browser tests need it (apt-get install chromium)." >&2; exit 1; }
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null
