"""Molecular dynamics: examples/md and LAMMPS over the same 500 steps of the same 4000 particles, whole processes in turns.

    md.py TASKS [SECONDS]"""
import os
import shutil
import sys
import tempfile

from turns import EXAMPLES, print_times

tasks = int(sys.argv[1])
budget = float(sys.argv[2]) if len(sys.argv) > 2 else 3
source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
data = os.path.join(source, "examples", "data", "lj-melt-4000.data")
md = os.path.join(EXAMPLES, "md")
script = """units lj
atom_style atomic
read_data %s
mass 1 1.0
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
timestep 0.005
thermo 50
run 500
""" % data

with tempfile.TemporaryDirectory(prefix="dome-md.") as directory:
    path = os.path.join(directory, "in.melt")
    with open(path, "w") as f:
        f.write(script)
    rivals = {"md": [md, "--steps", "500", "--thermo", "50", data, "--dome-tasks", str(tasks)]}
    if shutil.which("lmp"):
        rivals["lammps"] = ["lmp", "-in", path, "-log", "none", "-echo", "none"]
        if tasks > 1:
            rivals["lammps"][:0] = ["mpirun", "--oversubscribe", "-n", str(tasks)]
            if os.geteuid() == 0:
                rivals["lammps"].insert(1, "--allow-run-as-root")
    print_times(rivals, budget, directory)
