"""What a client and its workers say to each other: frames over a local socket, and values as JSON with tags.

Nothing is pickled. Each side proves first that it knows the secret that lies in the client's own folder.
"""
import builtins
import hashlib
import hmac
import json
import os
import socket
import struct
import types

from dome import dtypes

HEAD = struct.Struct("<III")  # length of the text, number of blobs, total length of the blobs
MARK = "dome-worker-failed: "  # begins a line of a worker's standard error that is for the client
LARGEST = 1 << 30  # a text of more bytes is no message of ours


class Closed(ConnectionError):
    """The other side has gone."""


class Ref:
    """An array of the workers in a message: its number, and what is known of it."""

    __slots__ = ("number", "dtype", "shape")

    def __init__(self, number, dtype=None, shape=None):
        self.number, self.dtype, self.shape = number, dtype, shape


class Values:
    """The values of an array in a message."""

    __slots__ = ("dtype", "shape", "data")

    def __init__(self, dtype, shape, data):
        self.dtype, self.shape, self.data = dtype, tuple(shape), data


# ---- frames ----

def send(connection, text, blobs=()):
    data = text if isinstance(text, bytes) else json.dumps(text).encode()
    sizes = b"".join(struct.pack("<Q", len(blob)) for blob in blobs)
    connection.sendall(HEAD.pack(len(data), len(blobs), 0) + sizes + data)
    for blob in blobs:
        connection.sendall(blob)


def receive_exactly(connection, count):
    room = bytearray(count)
    view, at = memoryview(room), 0
    while at < count:
        got = connection.recv_into(view[at:])
        if not got:
            raise Closed("the connection has ended")
        at += got
    return room


def receive(connection):
    """A frame: its text, not yet decoded, and its blobs."""
    length, count, _ = HEAD.unpack(receive_exactly(connection, HEAD.size))
    if length > LARGEST or count > LARGEST // 8:
        raise Closed("this is no message of a client or of its workers")
    sizes = struct.unpack(f"<{count}Q", receive_exactly(connection, 8 * count))
    text = bytes(receive_exactly(connection, length))
    return text, [receive_exactly(connection, size) for size in sizes]


# ---- who is there ----

def proof(secret, who, nonce):
    return hmac.new(secret, who + nonce, hashlib.sha256).digest()


def same_user(connection):
    _, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    return user == os.getuid()


def prove(connection, secret, me, other):
    """Both sides show that they know the secret. Raises Closed if the other does not."""
    mine = os.urandom(32)
    connection.sendall(mine)
    theirs = bytes(receive_exactly(connection, 32))
    connection.sendall(proof(secret, me, theirs))
    if not hmac.compare_digest(bytes(receive_exactly(connection, 32)), proof(secret, other, mine)):
        raise Closed("the other side does not know the secret")


# ---- values ----

def encode(value, blobs, array=None):
    """A value as what JSON has. `array` makes a Ref or Values of an object that this module does not know."""
    kind = type(value)
    if value is None or kind in (builtins.bool, int, float, str):
        return value
    if kind is list:
        return [encode(one, blobs, array) for one in value]
    if kind is tuple:
        return {"t": [encode(one, blobs, array) for one in value]}
    known = array(value) if array else value
    if isinstance(known, Ref):
        return {"h": [known.number, known.dtype, list(known.shape)]} if known.dtype else {"h": known.number}
    if isinstance(known, Values):
        blobs.append(known.data)
        return {"v": [known.dtype, list(known.shape), len(blobs) - 1]}
    return _encode_other(value, blobs, array)


def _encode_other(value, blobs, array):
    if isinstance(value, complex):
        return {"c": [value.real, value.imag]}
    if isinstance(value, slice):
        return {"s": [encode(one, blobs, array) for one in (value.start, value.stop, value.step)]}
    if value is Ellipsis:
        return {"e": 0}
    if isinstance(value, dtypes.DType):
        return {"d": value.name}
    if isinstance(value, (bytes, bytearray)):
        blobs.append(value)
        return {"b": len(blobs) - 1}
    if isinstance(value, dict):
        return {"m": [[encode(k, blobs, array), encode(v, blobs, array)] for k, v in value.items()]}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"f": [type(value).__name__, list(value._fields), [encode(one, blobs, array) for one in value]]}
    if isinstance(value, range):
        return [*value]
    if isinstance(value, (builtins.bool, int, float, str)):  # of a subclass, such as numpy.float64
        base = next(base for base in (builtins.bool, int, float, str) if isinstance(value, base))
        return base(value)
    if value in (builtins.bool, int, float, complex):
        return {"d": value.__name__}
    if type(value).__name__ in ("finfo", "iinfo"):
        return {"o": [type(value).__name__, {k: encode(v, blobs, array) for k, v in vars(value).items()}]}
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        return encode(value.item(), blobs, array)
    raise TypeError(f"a value of the type {type(value).__name__} cannot go between a client and its workers: numbers, "
                    "texts, arrays, lists, tuples and dictionaries can")


_PYTHON_TYPES = {"complex": complex, "int": int, "float": float}
_tuples = {}


def named_tuple(name, fields):
    from collections import namedtuple
    key = (name, tuple(fields))
    if key not in _tuples:
        _tuples[key] = namedtuple(name, fields)
    return _tuples[key]


def decode(value, blobs, array=None):
    """The inverse. `array` makes an object of a Ref or of Values."""
    if isinstance(value, list):
        return [decode(one, blobs, array) for one in value]
    if not isinstance(value, dict):
        return value
    (tag, inner), = value.items()
    if tag == "h":
        ref = Ref(*inner[:2], tuple(inner[2])) if isinstance(inner, list) else Ref(inner)
        return array(ref) if array else ref
    if tag == "v":
        values = Values(inner[0], inner[1], blobs[inner[2]])
        return array(values) if array else values
    if tag == "t":
        return tuple(decode(one, blobs, array) for one in inner)
    if tag == "s":
        return slice(*(decode(one, blobs, array) for one in inner))
    if tag == "m":
        return {decode(k, blobs, array): decode(v, blobs, array) for k, v in inner}
    if tag == "f":
        return named_tuple(inner[0], inner[1])(*(decode(one, blobs, array) for one in inner[2]))
    if tag == "o":
        return types.SimpleNamespace(**{k: decode(v, blobs, array) for k, v in inner[1].items()})
    if tag == "d":
        return _PYTHON_TYPES.get(inner) or dtypes.as_dtype(inner)
    return {"c": lambda: complex(*inner), "e": lambda: Ellipsis, "b": lambda: bytes(blobs[inner])}[tag]()
