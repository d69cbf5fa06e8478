"""Right uses of the package, all of which type checkers accept; interface.py has mypy read them with --strict. Nobody runs this."""
import pathlib

import dome as dm

x = dm.zeros((3, 4), dtype=dm.float32) + 1.0
total: float = float(x.sum())
rows: int = x.shape[0] * dm.size()
y = dm.where(x > 0, x, -x) @ x.T
near: bool = dm.allclose(y, 2 * y)
same = float((x == y).sum()) + int((x != 0).sum())
indices: tuple[dm.Array, ...] = dm.where(x > 0)
generator = dm.random.default_rng(5)
for step in dm.loop("steps", 3):
    y[0] = generator.random((3,))
    y[:, 1] += dm.linalg.norm(y, axis=1)
    dm.print("turn", step + 1, end="\n")
values, vectors = dm.linalg.eigh(y)
decomposed = dm.linalg.svd(y)
largest: dm.Array = decomposed.S[0]
links = dm.sparse.coo_matrix(([1.0], ([0], [1])), shape=(2, 2))
entries: int = links.nnz
product: dm.Array = links @ dm.ones(2)
state = dm.named("state", product, dtype="float64")
with state.pinned() as part:
    first: int = part.first
    part[:] = 0
with dm.catch():
    text = pathlib.Path("settings").read_text()
dm.save(pathlib.Path("x.npy"), x)
dm.abort(ValueError("an object is printed as its text"))
try:
    counts, edges = dm.histogram(x, 10, (0.0, 1.0))
except dm.errors.RangeError as error:
    status: str = error.status
except dm.Error:
    raise
everywhere: list[object] = dm.tasks.allgather(dm.rank())
client = dm.Client(n=4)
with client:
    remote = client.arange(10)
    workers: int = client.n
kind: dm.dtypes.DType = dm.result_type(dm.float32, x)
eps: float = dm.finfo(kind).eps
