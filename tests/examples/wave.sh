#!/bin/bash
# wave prints the same as its sequential twin, for any number of tasks, also for fewer planes than tasks.
. "$(dirname "$0")/../support/programs.bash"
twins wave '^after [0-9]+ steps: sum of squares [0-9.e-]+, largest [0-9.e-]+$' "3 2" "20 0" "24 30"

run self wave 2
refused "a side of 2" 1 "usage: wave"
finish
