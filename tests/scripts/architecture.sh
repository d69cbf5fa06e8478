#!/bin/bash
# Calls and includes between the folders of src point where docs/architecture.md lets them: architecture.py.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
command -v nm >/dev/null || { echo "skipped: nm is not installed"; exit 77; }
exec python3 -B "$(dirname "$0")/architecture.py" "${DOME_BUILD_DIR:?}" "${DOME_SOURCE_DIR:?}"
