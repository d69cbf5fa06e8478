"""Wrong uses of the package: type checkers refuse each line that ends in a code of mypy, and no other. Nobody runs this."""
import dome as dm

x = dm.ones((2, 3))
dm.zeros()  # call-arg
dm.zeros("three")  # arg-type
dm.ones(3, dtype=5)  # arg-type
dm.size() + "x"  # operator
x.no_such_method()  # attr-defined
dm.no_such_function(x)  # attr-defined
dm.sum(x, axes=1)  # call-arg
dm.sum(x, axis="rows")  # arg-type
dm.sum(x=x)  # call-arg
x.shape = (6,)  # misc
x.shape + 1  # operator
x + print  # operator
dm.sqrt(None)  # arg-type
dm.sqrt(object())  # arg-type
dm.where(x > 0, x)  # call-overload
size: str = x.size  # assignment
name: int = dm.host()  # assignment
table: dm.Array = dm.allclose(x, x)  # assignment
pair: dm.Array = dm.topk(x, 2)  # assignment
for step in dm.loop("steps"):  # call-arg
    pass
for step in dm.loop(5, 5):  # arg-type
    pass
dm.random.random((3,))  # call-arg
dm.random.default_rng("seed")  # arg-type
dm.random.default_rng(1).shuffle(x)  # attr-defined
dm.linalg.eigh(x).vectors  # attr-defined
dm.sparse.load(5)  # arg-type
dm.tasks.send(1)  # call-arg
with dm.catch(5):  # call-arg
    pass
with x.pinned(write="yes") as part:  # arg-type
    part.first.upper()  # attr-defined
dm.Client(n="4")  # arg-type
dm.Client(tasks=4)  # call-arg
dm.init(3)  # call-arg
dm.reshape(x)  # call-arg
dm.save("x.npy")  # call-arg
