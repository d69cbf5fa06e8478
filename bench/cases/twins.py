"""An example and its sequential twin, whole processes in turns.

    twins.py NAME TASKS SECONDS ARGUMENTS..."""
import os
import sys
import tempfile

from turns import EXAMPLES, print_times

name, tasks, seconds, arguments = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4:]
with tempfile.TemporaryDirectory(prefix="dome-twins.") as directory:
    print_times({"dome": [os.path.join(EXAMPLES, name), *arguments, "--dome-tasks", tasks],
                 "sequential": [os.path.join(EXAMPLES, "sequential", name), *arguments]}, seconds, directory)
