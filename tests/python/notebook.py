"""The notebook of examples/python, run by nbclient: three workers, of which one is killed; it prints what it printed before.

    notebook.py [--write]       with --write, the notebook gets its outputs"""

import json
import os
import subprocess
import sys

import harness
from harness import BUILD, SOURCE, check

PYTHON = os.environ.get("DOME_PYTHON", "/usr/bin/python3")
NOTEBOOK = os.path.join(SOURCE, "examples", "python", "client.ipynb")
RUN = """
import sys
import nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=120, kernel_name="dome-test", resources={"metadata": {"path": sys.argv[3]}}).execute()
nbformat.write(notebook, sys.argv[2])
"""


def execute(folder):
    """The notebook after its cells have been run, in a kernel of this Python and with settings of its own."""
    kernel = os.path.join(folder, "share", "kernels", "dome-test")
    os.makedirs(kernel)
    with open(os.path.join(kernel, "kernel.json"), "w") as f:
        json.dump({"argv": [PYTHON, "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "Python", "language": "python"}, f)
    env = harness.clean_environment()
    env.update(PYTHONPATH=os.path.join(os.path.abspath(BUILD), "python"), PYTHONDONTWRITEBYTECODE="1", HOME=folder,
               JUPYTER_PATH=os.path.join(folder, "share"), JUPYTER_RUNTIME_DIR=os.path.join(folder, "run"),
               JUPYTER_CONFIG_DIR=os.path.join(folder, "config"), IPYTHONDIR=os.path.join(folder, "ipython"))
    after = os.path.join(folder, "after.ipynb")
    done = subprocess.run([PYTHON, "-c", RUN, NOTEBOOK, after, folder], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300)
    check(done.returncode == 0, done.stdout.decode())
    with open(after) as f:
        return json.load(f)


def shown(cell):
    """What a cell has printed, and its value; not what is on standard error, which names hosts."""
    kept = []
    for output in cell.get("outputs", []):
        if output["output_type"] == "stream" and output["name"] == "stdout":
            kept.append("".join(output["text"]))
        elif output["output_type"] == "execute_result":
            kept.append("".join(output["data"]["text/plain"]))
    return "".join(kept)


def write(notebook, result):
    for cell, after in zip(notebook["cells"], result["cells"]):
        if cell["cell_type"] == "code":
            cell["execution_count"] = after["execution_count"]
            cell["outputs"] = [one for one in after["outputs"] if one.get("name") != "stderr"]
    with open(NOTEBOOK, "w") as f:
        json.dump(notebook, f, indent=1)
        f.write("\n")


def main():
    for module in "nbclient", "nbformat", "ipykernel", "numpy":
        if subprocess.run([PYTHON, "-c", "import " + module], stderr=subprocess.DEVNULL).returncode:
            harness.skip("python3-%s is not installed" % module)
    with open(NOTEBOOK) as f:
        notebook = json.load(f)
    with harness.temporary_directory() as folder:
        result = execute(folder)
    if sys.argv[1:] == ["--write"]:
        write(notebook, result)
        return
    for cell, after in zip(notebook["cells"], result["cells"]):
        if cell["cell_type"] == "code":
            check(shown(cell) == shown(after), "%s\nprints %r instead of %r" % ("".join(cell["source"]), shown(after), shown(cell)))
    text = json.dumps(result)
    check("healed from checkpoint" in text, "the notebook does not tell of the loss")


try:
    main()
except harness.Failure as failure:
    sys.exit("notebook: %s" % failure)
