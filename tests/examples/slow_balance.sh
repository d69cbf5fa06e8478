#!/bin/bash
# The same as balance.sh with more numbers of tasks.
exec "$(dirname "$0")/balance.sh" 1 2 4 5 7
