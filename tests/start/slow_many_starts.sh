#!/bin/bash
# A thousand starts and ends.
exec "$(dirname "$0")/many_starts.sh" 1000
