#!/bin/bash
# options prints the same as its sequential twin, for any number of tasks, also for fewer paths than tasks.
. "$(dirname "$0")/../support/programs.bash"
twins options '^price [0-9.]+, standard error [0-9.]+$' "3 2" "1000 3"

run self options 0
refused "no paths" 1 "usage: options"
finish
