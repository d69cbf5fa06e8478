#!/bin/bash
# The documents and the man page show the table of options as it is.
set -u
exec "${DOME_SOURCE_DIR:?}/scripts/option-tables" --check
