#!/bin/sh
# Instructions of the hot paths beside figures that were committed. --update writes new ones.
set -eu
command -v python3 > /dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 "$(dirname "$0")/hot_paths.py" "$@"
