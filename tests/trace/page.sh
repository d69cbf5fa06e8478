#!/bin/bash
# The page of dome view in a headless Chromium: page.py.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
    { echo "skipped: chromium is not installed"; exit 77; }
exec python3 -B "$(dirname "$0")/page.py" "$@"
