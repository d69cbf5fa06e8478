"""declared.py HEADER...: prints the public functions that the headers declare, in order of their names."""
import re
import sys

names = set()
for path in sys.argv[1:]:
    with open(path) as file:
        text = file.read()
    # Comments and macros taken out, names that stand before a bracket at the beginning of a statement.
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"\\\n", " ", text)
    text = re.sub(r"(?m)^\s*#.*$", "", text)
    names.update(re.findall(r"(?m)^[A-Za-z_][\w \t]*?[ *]+((?:dome|dvec|dscalar|dsparse)_\w+)\(", text))
print("\n".join(sorted(name for name in names if not name.endswith("_"))))  # the others are parts of macros
