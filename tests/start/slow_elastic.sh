#!/bin/bash
# elastic.py with a thousand views in one program, and many losses. Arguments go there.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 -B "$(dirname "$0")/elastic.py" --many "$@"
