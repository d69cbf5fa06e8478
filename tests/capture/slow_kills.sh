#!/bin/bash
exec "$(dirname "$0")/kills.sh" 200 "${1:-7}"
