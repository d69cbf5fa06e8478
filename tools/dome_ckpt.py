#!/usr/bin/env python3
"""Reads Dome's checkpoints (docs/checkpoint-format.md) without Dome. Needs Python 3.9 and NumPy.

    dome_ckpt.py ls DIRECTORY
    dome_ckpt.py show FILE
    dome_ckpt.py verify FILE...
    dome_ckpt.py export FILE OBJECT OUT.npy

As a module:

    ckpt = Checkpoint("ckpt-00000003.dckpt")
    x = ckpt.array("x")                      # checked; big-endian, a structured array for struct types
"""
import math
import os
import re
import struct
import sys
from collections import namedtuple

import numpy as np

MAGIC = b"\x89DOME\r\n\x1a"
HEADER = 64
BASIC = [("i8", "i1"), ("i16", ">i2"), ("i32", ">i4"), ("i64", ">i8"), ("u8", "u1"), ("u16", ">u2"), ("u32", ">u4"),
         ("u64", ">u8"), ("f32", ">f4"), ("f64", ">f8"), ("c64", ">c8"), ("c128", ">c16")]
DISTRIBUTIONS = ["dynamic", "block", "whole"]


class Damaged(Exception):
    """A checkpoint cannot be read; str() is one line."""


# ---- XXH3, 128 bits, seed 0 ----

P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
MASK = (1 << 64) - 1
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")


def le64(data, at):
    return int.from_bytes(data[at:at + 8], "little")


def xxh64_avalanche(h):
    h = (h ^ h >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32


def avalanche(h):
    h = (h ^ h >> 37) * 0x165667919E3779F9 & MASK
    return h ^ h >> 32


def fold(a, b):
    product = a * b
    return (product ^ product >> 64) & MASK


def short_sum(d):
    """Up to 240 bytes: (high, low)."""
    n, s = len(d), SECRET
    if n == 0:
        return xxh64_avalanche(le64(s, 80) ^ le64(s, 88)), xxh64_avalanche(le64(s, 64) ^ le64(s, 72))
    if n < 4:
        low = d[0] << 16 | d[n >> 1] << 24 | d[n - 1] | n << 8
        swapped = int.from_bytes(low.to_bytes(4, "little"), "big")
        high = (swapped << 13 | swapped >> 19) & 0xFFFFFFFF
        key = struct.unpack_from("<4I", s)
        return xxh64_avalanche(high ^ key[2] ^ key[3]), xxh64_avalanche(low ^ key[0] ^ key[1])
    if n <= 8:
        value = int.from_bytes(d[:4], "little") | int.from_bytes(d[n - 4:], "little") << 32
        m = (value ^ le64(s, 16) ^ le64(s, 24)) * (P1 + (n << 2) & MASK)
        low, high = m & MASK, m >> 64
        high = high + (low << 1) & MASK
        low ^= high >> 3
        low = (low ^ low >> 35) * 0x9FB21C651E98DF25 & MASK
        return avalanche(high), low ^ low >> 28
    if n <= 16:
        first, last = le64(d, 0), le64(d, n - 8)
        m = (first ^ last ^ le64(s, 32) ^ le64(s, 40)) * P1
        low, high = (m & MASK) + ((n - 1) << 54) & MASK, m >> 64
        last ^= le64(s, 48) ^ le64(s, 56)
        high = high + last + (last & 0xFFFFFFFF) * (P32_2 - 1) & MASK
        low ^= int.from_bytes(high.to_bytes(8, "little"), "big")
        m = low * P2
        return avalanche((m >> 64) + high * P2 & MASK), avalanche(m & MASK)

    low, high = n * P1 & MASK, 0

    def mix(one, two, key):
        nonlocal low, high
        low = low + fold(le64(d, one) ^ le64(s, key), le64(d, one + 8) ^ le64(s, key + 8)) & MASK
        low ^= le64(d, two) + le64(d, two + 8) & MASK
        high = high + fold(le64(d, two) ^ le64(s, key + 16), le64(d, two + 8) ^ le64(s, key + 24)) & MASK
        high ^= le64(d, one) + le64(d, one + 8) & MASK

    if n <= 128:
        for i in range((n - 1) // 32, -1, -1):
            mix(16 * i, n - 16 * (i + 1), 32 * i)
    else:
        for i in range(4):
            mix(32 * i, 32 * i + 16, 32 * i)
        low, high = avalanche(low), avalanche(high)
        for i in range(4, n // 32):
            mix(32 * i, 32 * i + 16, 3 + 32 * (i - 4))
        mix(n - 16, n - 32, 103)
    return -avalanche(low * P1 + high * P4 + n * P2 & MASK) & MASK, avalanche(low + high & MASK)


def key_lanes(at, stripes=1):
    return np.array([[le64(SECRET, at + 8 * (k + i)) for i in range(8)] for k in range(stripes)], np.uint64)


def accumulate(stripes, keys):
    """The sum over stripes (axis -2) of what they add to the 8 lanes."""
    mixed = stripes ^ keys
    mixed = (mixed & np.uint64(0xFFFFFFFF)) * (mixed >> np.uint64(32))
    lanes = stripes.sum(axis=-2, dtype=np.uint64)
    return mixed.sum(axis=-2, dtype=np.uint64) + lanes[..., [1, 0, 3, 2, 5, 4, 7, 6]]


def long_sums(rows):
    """Of equally long rows of more than 240 bytes: pairs (high, low)."""
    count, n = rows.shape
    chunks = (n - 1) // 1024
    acc = np.tile(np.array([P32_3, P1, P2, P3, P4, P32_2, P5, P32_1], np.uint64), (count, 1))

    def stripes(begin, end, shape):
        part = np.ascontiguousarray(rows[:, begin:end])
        return part.view("<u8").astype(np.uint64, copy=False).reshape((count,) + shape)

    scramble = key_lanes(128)[0]
    batch = max(1, (1 << 22) // (1024 * count))
    for begin in range(0, chunks, batch):
        end = min(chunks, begin + batch)
        added = accumulate(stripes(1024 * begin, 1024 * end, (end - begin, 16, 8)), key_lanes(0, 16))
        for k in range(end - begin):
            acc += added[:, k]
            acc ^= acc >> np.uint64(47)
            acc ^= scramble
            acc *= np.uint64(P32_1)
    left = (n - 1 - 1024 * chunks) // 64
    if left:
        acc += accumulate(stripes(1024 * chunks, 1024 * chunks + 64 * left, (left, 8)), key_lanes(0, left))
    acc += accumulate(stripes(n - 64, n, (1, 8)), key_lanes(121))

    def merge(lanes, at, start):
        for i in range(4):
            start += fold(lanes[2 * i] ^ le64(SECRET, at + 16 * i), lanes[2 * i + 1] ^ le64(SECRET, at + 16 * i + 8))
        return avalanche(start & MASK)

    return [(merge(a, 117, ~(n * P2) & MASK), merge(a, 11, n * P1 & MASK)) for a in acc.tolist()]


def checksums(data, length):
    """Checksums of the rows of `length` bytes that data consists of, 16 bytes each."""
    if length <= 240:
        pairs = [short_sum(data[i:i + length]) for i in range(0, len(data), length)] if length else [short_sum(b"")]
    else:
        pairs = long_sums(np.frombuffer(data, np.uint8).reshape(-1, length))
    return [struct.pack(">QQ", high, low) for high, low in pairs]


def checksum(data):
    return checksums(bytes(data), len(data))[0]


# ---- the directory ----

class Xdr:
    """Reads XDR (RFC 4506) from bytes."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if count > len(self.data) - self.at:
            raise Damaged("its directory ends too early")
        self.at += count
        return self.data[self.at - count:self.at]

    def u32(self):
        return struct.unpack(">I", self.take(4))[0]

    def u64(self):
        return struct.unpack(">Q", self.take(8))[0]

    def name(self):
        count = self.u32()
        text = self.take(count)
        if any(self.take(-count % 4)):
            raise Damaged("its directory is not in canonical form")
        return text.decode("utf-8", "surrogateescape")

    def items(self, read):
        count = self.u32()
        if count > len(self.data) - self.at:
            raise Damaged("its directory ends too early")
        return [read() for _ in range(count)]


Earlier = namedtuple("Earlier", "number file_bytes sum")
Struct = namedtuple("Struct", "name fields")
Field = namedtuple("Field", "name type count")
Object = namedtuple("Object", "name kind type length width distribution block_size blocks fixed first_entry")
ENTRY = np.dtype([("source", ">u8"), ("offset", ">u8"), ("length", ">u8"), ("sum", "V16")])
WINDOW = np.dtype([("object", ">u8"), ("window", ">u8"), ("bytes", ">u8"), ("sum", "V16"), ("result", "V16")])


# ---- deltas ----

class Records:
    """Reads numbers and bytes of a window, and records of a delta."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if count > len(self.data) - self.at:
            raise Damaged("its deltas make no sense")
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value


def patch(block, records, unit):
    """Writes the values of a delta into a block."""
    r, group = Records(records), 0
    while r.at < len(records):
        tag = r.take(1)[0]
        kind, gap = tag & 3, tag >> 2
        group += gap if gap < 63 else 63 + r.number()
        groups = 1
        if kind == 3:
            groups = int.from_bytes(r.take(4), "little")
            units = range(64 * groups)
        elif kind == 2:
            bits = int.from_bytes(r.take(8), "little")
            units = [k for k in range(64) if bits >> k & 1]
        else:
            first = r.take(1)[0]
            units = range(first, first + (r.take(1)[0] + 1 if kind == 1 else 1))
        values = r.take(len(units) * unit)
        for n, k in enumerate(units):
            at = (64 * group + k) * unit
            if at + unit > len(block):
                raise Damaged("its deltas make no sense")
            block[at:at + unit] = values[n * unit:(n + 1) * unit]
        group += groups


class Checkpoint:
    def __init__(self, path, alone=False):
        self.path = path
        self.others = {}
        try:
            self.file = open(path, "rb")
        except OSError as e:
            raise Damaged(f"checkpoint '{path}' cannot be opened: {e.strerror}") from None
        try:
            self.read_head()
            self.chain, self.patched = [], None
            if self.windows is not None and not alone:
                self.read_chain()
        except Damaged as e:
            raise Damaged(f"checkpoint '{path}': {e}") from None

    def read_head(self):
        size = os.fstat(self.file.fileno()).st_size
        header = self.file.read(HEADER)
        if header[:8] != MAGIC or len(header) < HEADER:
            raise Damaged("is not a checkpoint, or is damaged at its beginning")
        version, self.piece, self.pieces, directory, head_bytes, file_bytes, entries = struct.unpack(">IIIIQQQ", header[8:48])
        if file_bytes != size:
            raise Damaged(f"has {size} bytes, its header says {file_bytes}")
        if not HEADER <= head_bytes <= size:
            raise Damaged("has a damaged header")
        head = header + self.file.read(head_bytes - HEADER)
        self.sum = checksum(head[:48] + bytes(16) + head[64:])
        if self.sum != head[48:64]:
            raise Damaged("is damaged in its header, directory or table (checksum differs)")
        if version not in (1, 2):
            raise Damaged(f"has version {version} of the format, this program reads versions 1 and 2")
        row = WINDOW if version == 2 else ENTRY
        if HEADER + directory + entries * row.itemsize != head_bytes:
            raise Damaged("has a wrong header")
        self.head_bytes, self.file_bytes, self.windows = head_bytes, file_bytes, None
        self.read_directory(Xdr(head[HEADER:HEADER + directory]))
        rows = np.frombuffer(head, row, entries, HEADER + directory)
        if version == 2:
            self.read_windows(rows)
            return
        self.table = rows
        if sum(o.blocks for o in self.objects) != entries:
            raise Damaged("has a wrong directory")
        self.check_table()

    def read_directory(self, xdr):
        self.program, self.number, self.loop = xdr.name(), xdr.u64(), xdr.u64()
        self.earlier = {e.number: e for e in xdr.items(lambda: Earlier(xdr.u64(), xdr.u64(), xdr.take(16)))}
        self.counters = dict(xdr.items(lambda: (xdr.name(), xdr.u64())))
        self.structs = xdr.items(lambda: Struct(xdr.name(), xdr.items(lambda: Field(xdr.name(), xdr.u32(), xdr.u64()))))
        self.objects, entry = [], 0
        for o in xdr.items(lambda: (xdr.name(), xdr.name(), xdr.u32(), xdr.u64(), xdr.u64(), xdr.u32(), xdr.u64(), xdr.u64(),
                                    xdr.u32())):
            self.objects.append(Object(*o, entry))
            entry += o[7]
        if xdr.at != len(xdr.data):
            raise Damaged("has a wrong directory")
        self.read_shapes()

    def read_shapes(self):
        """Counters "shape O.D": dimension D of object O. They are no counters to who reads the file with this class."""
        self.shapes, last = {}, -1
        for name in [n for n in self.counters if n.startswith("shape ")]:
            match = re.fullmatch(r"shape (0|[1-9][0-9]*)\.(0|[1-9][0-9]*)", name)
            if not match:
                raise Damaged("has a wrong directory")
            o, d = int(match[1]), int(match[2])
            if o < last or o >= len(self.objects) or d != len(self.shapes.get(self.objects[o].name, [])):
                raise Damaged("has a wrong directory")
            last = o
            self.shapes.setdefault(self.objects[o].name, []).append(self.counters.pop(name))
        for o in self.objects:
            if o.name in self.shapes and math.prod(self.shapes[o.name]) != o.length * o.width:
                raise Damaged("has a wrong directory")

    def window_blocks(self, o):
        """The number of blocks of a window: as many as have 2^20 bytes, a power of two."""
        if not o.fixed or o.block_size == 0 or o.blocks == 0:
            return 1
        length = min(o.block_size, o.length) * o.width * self.dtype(o.type).itemsize
        blocks = 1
        while length and 2 * blocks * length <= 1 << 20:
            blocks *= 2
        return blocks

    def read_windows(self, rows):
        """The windows by object and number: (offset, bytes, sum, result)."""
        self.windows, end, last = {}, self.head_bytes, (-1, -1)
        for r in rows:
            key, length = (int(r["object"]), int(r["window"])), int(r["bytes"])
            if key <= last or key[0] >= len(self.objects):
                raise Damaged("has a wrong directory")
            o = self.objects[key[0]]
            if key[1] * self.window_blocks(o) >= o.blocks:
                raise Damaged("has a wrong directory")
            self.windows[key] = (end, length, r["sum"].tobytes(), r["result"].tobytes())
            end, last = end + length, key
        if end != self.file_bytes or self.pieces or not self.earlier:
            raise Damaged("has a wrong directory")

    def read_chain(self):
        """Takes the table of the last checkpoint that has one; self.chain: the files of deltas behind it, and this one."""
        numbers, at = list(self.earlier), self
        while at.windows is not None:
            if not numbers:
                raise Damaged("has deltas and no checkpoint before them")
            before = self.holder(numbers.pop())
            kept = [self.earlier[n] for n in numbers]
            if list(before.earlier.values()) != kept or before.objects != self.objects or before.structs != self.structs:
                raise Damaged(f"has deltas that do not belong to '{before.path}'")
            self.chain.insert(0, at)
            at = before
        self.table = at.table.copy()
        self.patched = np.zeros(len(self.table), bool)
        for c in self.chain:
            for (number, window), (offset, length, total, _) in c.windows.items():
                o = self.objects[number]
                first, step = o.first_entry + window * self.window_blocks(o), self.window_blocks(o)
                if o.fixed:
                    self.patched[first:min(first + step, o.first_entry + o.blocks)] = True
                else:
                    self.table[first] = (c.number, offset, length, np.void(total))

    def deltas(self, o, window):
        """What this file has for a window: {block: records}, checked."""
        key = (self.objects.index(o), window)
        if key not in self.windows:
            return {}
        if getattr(self, "last", (None, None))[0] != key:
            offset, length, total, _ = self.windows[key]
            self.file.seek(offset)
            data = self.file.read(length)
            r, sums, found = Records(data), [], {}
            while r.at < len(data):
                begin = r.at
                block = r.number()
                found[window * self.window_blocks(o) + block] = r.take(r.number())
                sums.append(checksum(data[begin:r.at]))
            if checksum(b"".join(sums)) != total:
                raise Damaged(f"(in '{self.path}'): its deltas are damaged (checksum differs)")
            self.last = key, found
        return self.last[1]

    def up_to_date(self, o, first, count, data):
        """Blocks that lie one behind the other, with what the chain says of them."""
        if self.patched is None or not self.patched[o.first_entry + first:o.first_entry + first + count].any():
            return data
        data, step = bytearray(data), len(data) // count
        unit = math.gcd(self.dtype(o.type).itemsize, 8)
        for k in range(count):
            block = data[k * step:(k + 1) * step]
            for c in self.chain:
                try:
                    records = c.deltas(o, (first + k) // self.window_blocks(o)).get(first + k)
                    if records:
                        patch(block, records, unit)
                except Damaged as e:
                    raise Damaged(f"checkpoint '{self.path}': object '{o.name}', block {first + k} {e}") from None
            data[k * step:(k + 1) * step] = block
        return bytes(data)

    def check_results(self):
        """Blocks with their deltas are what they were when these were written."""
        name = blocks = None
        for (number, window), (_, _, _, result) in (self.windows or {}).items():
            o = self.objects[number]
            if o.fixed:
                if name != o.name:
                    name, blocks = o.name, self.blocks(o.name)
                sums = b"".join(checksum(blocks[b]) for b in sorted(self.deltas(o, window)))
                if checksum(sums) != result:
                    raise Damaged(f"checkpoint '{self.path}': object '{o.name}', window {window}: is not what it was")

    def check_table(self):
        """Data lie one behind the other up to the end of the file."""
        own = self.table[self.table["source"] == self.number]
        ends = self.head_bytes + np.cumsum(own["length"].astype(np.uint64))
        begins = np.concatenate([[self.head_bytes], ends]).astype(np.uint64)
        if (own["offset"] != begins[:-1]).any() or int(begins[-1]) != self.file_bytes:
            raise Damaged("has a wrong table")
        if set(self.table["source"].tolist()) - {self.number} - ({0} if self.pieces else set()) != set(self.earlier):
            raise Damaged("has a wrong table")

    def object(self, name):
        for o in self.objects:
            if o.name == name:
                return o
        raise Damaged(f"checkpoint '{self.path}' has no object '{name}'")

    def type_name(self, number):
        return "none" if number == 0 else BASIC[number - 1][0] if number <= 12 else self.structs[number - 13].name

    def dtype(self, number):
        if number <= 12:
            return np.dtype(BASIC[number - 1][1])
        return np.dtype([(f.name, self.dtype(f.type)) if f.count == 1 else (f.name, self.dtype(f.type), (f.count,))
                         for f in self.structs[number - 13].fields])

    def holder(self, source):
        """The checkpoint that holds the bytes of a block."""
        if source == self.number:
            return self
        if source not in self.others:
            e = self.earlier[source]
            of = f".{self.piece}of{self.pieces}" if self.pieces else ""
            other = Checkpoint(os.path.join(os.path.dirname(self.path), f"ckpt-{source:08}{of}.dckpt"), alone=True)
            if (other.file_bytes, other.sum) != (e.file_bytes, e.sum):
                raise Damaged(f"checkpoint '{other.path}' is another one than was there before")
            self.others[source] = other
        return self.others[source]

    def runs(self, o):
        """Runs of blocks of an object that lie together and are equally long: (block, count, entry). Of 16 MB at most."""
        rows = self.table[o.first_entry:o.first_entry + o.blocks]
        first = 0
        while first < o.blocks:
            e, count = rows[first], 1
            length = int(e["length"])
            most = max(1, (1 << 24) // max(length, 1)) if length and e["source"] else 1
            while (first + count < o.blocks and count < most and rows[first + count]["source"] == e["source"] and
                   int(rows[first + count]["length"]) == length and
                   int(rows[first + count]["offset"]) == int(e["offset"]) + count * length):
                count += 1
            yield first, count, e
            first += count

    def pieces_of(self, o):
        """The bytes of an object, checked: (block, count, data); data is None for what is not in this piece."""
        for first, count, e in self.runs(o):
            if e["source"] == 0:
                yield first, count, None
                continue
            length, other = int(e["length"]), self.holder(int(e["source"]))
            other.file.seek(int(e["offset"]))
            data = other.file.read(count * length)
            if len(data) < count * length:
                raise Damaged(f"checkpoint '{other.path}' is truncated")
            for k, value in enumerate(checksums(data, length)):
                if value != self.table[o.first_entry + first + k]["sum"].tobytes():
                    raise Damaged(f"checkpoint '{self.path}': object '{o.name}', block {first + k} (in '{other.path}'): "
                                  "is damaged (checksum differs)")
            yield first, count, self.up_to_date(o, first, count, data)

    def blocks(self, name):
        """The bytes of each block."""
        result = []
        for _, count, data in self.pieces_of(self.object(name)):
            step = len(data) // count if data is not None else 0
            result += [data and data[k * step:(k + 1) * step] for k in range(count)] if step else [data] * count
        return result

    def array(self, name):
        """All values of an object of fixed blocks: of its shape, or (length,), or (length, width) where the width is not 1."""
        o = self.object(name)
        if not o.fixed:
            raise Damaged(f"checkpoint '{self.path}': object '{name}' of kind '{o.kind}' has no common type")
        parts = [data for _, _, data in self.pieces_of(o)]
        if None in parts:
            raise Damaged(f"checkpoint '{self.path}': not all blocks of object '{name}' are in this piece")
        values = np.frombuffer(b"".join(parts), self.dtype(o.type))
        default = [o.length] if o.width == 1 else [o.length, o.width]
        return values.reshape(self.shapes.get(name, default))

    def verify(self):
        for number in self.earlier:
            self.holder(number)
        for o in self.objects:
            for _ in self.pieces_of(o):
                pass
        self.check_results()


# ---- the command ----

def shown(text):
    return "".join(c if c.isprintable() else "?" for c in text)


def show(path):
    c = Checkpoint(path)
    piece = f", piece {c.piece} of {c.pieces}" if c.pieces else ""
    print(f"program {shown(c.program)}, checkpoint {c.number}{piece}, loop {c.loop}, {c.file_bytes} bytes")
    for name, value in c.counters.items():
        print(f"counter {shown(name)} = {value}")
    if c.windows is not None:
        print(f"deltas, number {len(c.chain)} of their chain")
    for e in c.earlier.values():
        print(f"needs checkpoint {e.number} of {e.file_bytes} bytes, {e.sum.hex()}")
    for o in c.objects:
        rows = c.table[o.first_entry:o.first_entry + o.blocks]
        here = int(rows["length"][rows["source"] == c.number].sum())
        here += sum(w[1] for key, w in (c.windows or {}).items() if c.objects[key[0]] is o and o.fixed)
        shape = ", shape " + " x ".join(map(str, c.shapes[o.name])) if o.name in c.shapes else ""
        print(f"{shown(o.name)}: {shown(o.kind)} of {shown(c.type_name(o.type))}, {o.length} x {o.width}{shape}, "
              f"{DISTRIBUTIONS[o.distribution]}, {o.blocks} blocks, {int(rows['length'].sum())} bytes, {here} of them here")


def list_directory(directory):
    for name in sorted(os.listdir(directory), key=lambda n: (len(n), n)):
        if not re.fullmatch(r"ckpt-\d{8,}(\.\d+of\d+)?\.dckpt", name):
            continue
        try:
            c = Checkpoint(os.path.join(directory, name))
            print(f"{name}: {shown(c.program)}, loop {c.loop}, {c.file_bytes} bytes, {len(c.objects)} objects")
        except Damaged as e:
            print(f"{name}: {e}")


def main(arguments):
    command, rest = (arguments[0], arguments[1:]) if arguments else (None, [])
    if command == "ls" and len(rest) == 1:
        list_directory(rest[0])
    elif command == "show" and len(rest) == 1:
        show(rest[0])
    elif command == "verify" and rest:
        for path in rest:
            Checkpoint(path).verify()
            print(f"{path}: whole")
    elif command == "export" and len(rest) == 3:
        np.save(rest[2], Checkpoint(rest[0]).array(rest[1]))
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (Damaged, OSError) as error:
        print(f"dome_ckpt.py: {error}", file=sys.stderr)
        sys.exit(1)
