"""Ways to damage a file: bytes, JSON documents, lines of text, archives, and packed arrays with a digest made anew.

Every function takes a `random.Random` and returns the damaged content and a few words on what was done, so that a
mutant follows from the seed and its number alone.
"""

from __future__ import annotations

import copy
import io
import json
import re
import struct
import zipfile
from collections.abc import Callable
from hashlib import sha256
from random import Random
from typing import Any

import numpy as np

__all__ = ["MUTATIONS"]

Mutant = tuple[bytes, str]

# Numbers at the edges of types and of what a model may claim, and values of other types.
NUMBERS: list[Any] = [-1, 0, 1, 2, 3, 7, 63, 64, 65, 255, -2, -(2**31), 2**31 - 1, 2**31, 2**32, 2**32 + 1, 2**63 - 1]
NUMBERS += [2**63, -(2**63), 2**64, 10**30, 10**7, 10**9, 0.5, -0.5, 1e-300, 1e308, -1e308]
NUMBERS += [float("nan"), float("inf"), float("-inf")]
OTHERS: list[Any] = [None, True, False, "", "x", "-1", "1e9", "nan", "1000000000", "99999999999999999999"]
OTHERS += [[], {}, [[]], [[1]], {"a": 1}, ["x"], [None], [1, 2, 3], "A" * 100_000, "\0", "\U0001f600", "</script>"]
EVIL = NUMBERS + OTHERS
TEXTS = ["", "-1", "0", "1", "2", "3", "10000000", "1000000000", "4294967296", "nan", "inf", "1E40", "-1E40", "1_0"]
TEXTS += ["[1,2]", "[", "x", "1.5", " 1", "\uff11", "9" * 5000]
TOKENS = ["nan", "inf", "-inf", "1e308", "1e400", "-1", "0", "2147483648", "4294967296", "4294967297", "x", "", "1.5"]
TOKENS += ["9223372036854775808", "9" * 23, "1000000000", "0x10", "1_0", "[0:1e300]", "0:5:1000000000", "-5:3", "none"]
TOKENS += ["\u00e9", "\uff11", "1e9", "[nan:1]", "+1", "1e-400", "9" * 5000]

AGAIN, NEST = "@again@", "@nest {}@"  # marks of what JSON writers do not write: a name twice, and deep nesting
DEPTHS = [50, 500, 2_000, 100_000]


# ------------------------------------------------------------------------------------------------------ bytes


def _cut(rng: Random, data: bytearray) -> None:
    del data[rng.randrange(len(data)) :]


def _flip(rng: Random, data: bytearray) -> None:
    for _ in range(rng.choice([1, 1, 8])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _byte(rng: Random, data: bytearray) -> None:
    data[rng.randrange(len(data))] = rng.randrange(256)


def _insert(rng: Random, data: bytearray) -> None:
    at = rng.randrange(len(data))
    data[at:at] = rng.randbytes(rng.choice([1, 4, 100]))


def _delete(rng: Random, data: bytearray) -> None:
    at = rng.randrange(len(data))
    del data[at : at + rng.choice([1, 4, 100])]


def _repeat(rng: Random, data: bytearray) -> None:
    at = rng.randrange(len(data))
    data[at:at] = data[at : at + rng.choice([1, 16, 200])]


def _fill(rng: Random, data: bytearray) -> None:
    at = rng.randrange(len(data))
    size = min(rng.choice([1, 4, 8, 64]), len(data) - at)
    data[at : at + size] = rng.choice([b"\0", b"\xff"]) * size


def _word(rng: Random, data: bytearray) -> None:
    """Write a number of four or eight bytes: a count, an index, a length."""
    size, kind = rng.choice([(4, "i"), (8, "q")])
    order = rng.choice("<<>")
    number = rng.choice([-1, 0, 1, 2, 3, 7, 100, 10**6, 10**9, 2**31 - 1, *((2**40, 2**62) if size == 8 else ())])
    at = rng.randrange(max(1, len(data) - size)) // 4 * 4
    data[at : at + size] = struct.pack(order + kind, number)


def _swap(rng: Random, data: bytearray) -> None:
    one, two = rng.randrange(len(data)), rng.randrange(len(data))
    data[one : one + 16], data[two : two + 16] = data[two : two + 16], data[one : one + 16]


def _add(rng: Random, data: bytearray) -> None:
    data += rng.choice([b"\0", b"\n", b" ", b"}", bytes(data[:50])])


BYTE_EDITS = [_cut, _flip, _flip, _byte, _insert, _delete, _repeat, _fill, _word, _word, _swap, _add]


def bytes_mutation(rng: Random, content: bytes) -> Mutant:
    """Damage a few bytes, or cut the end off."""
    data, done = bytearray(content), []
    for _ in range(rng.choice([1, 1, 1, 2])):
        if data:
            edit = rng.choice(BYTE_EDITS)
            edit(rng, data)
            done.append(edit.__name__.removeprefix("_"))
    return bytes(data), "bytes: " + ", ".join(done)


# ------------------------------------------------------------------------------------------------------ JSON


def json_mutation(rng: Random, document: Any) -> tuple[Any, str]:
    """Change a few values of a document, wherever they are."""
    document, done = copy.deepcopy(document), []
    for _ in range(rng.choice([1, 1, 1, 1, 2, 3])):
        places = list(_places(document))
        if not places:
            break
        parent, key, path = rng.choice(places)
        value = parent[key]
        numbers = isinstance(value, list) and (not value or isinstance(value[0], int | float))
        if numbers and rng.random() < 0.85:
            how = _change_list(rng, parent, key)
        elif isinstance(value, str) and rng.random() < 0.5:
            parent[key], how = rng.choice(TEXTS), "text"
        else:
            how = _change_value(rng, parent, key)
        done.append(f"{path}: {how}")
    return document, "; ".join(done)


def _places(value: Any, path: str = "") -> Any:
    """Yield each place of a document: what holds it, its key, and its path. Lists of numbers are one place."""
    if isinstance(value, dict):
        for key in value:
            yield value, key, f"{path}/{key}"[-60:]
            yield from _places(value[key], f"{path}/{key}")
    elif isinstance(value, list) and not all(isinstance(item, int | float) for item in value):
        for index, item in enumerate(value):
            yield value, index, f"{path}/{index}"[-60:]
            yield from _places(item, f"{path}/{index}")


def _change_list(rng: Random, parent: Any, key: Any) -> str:
    values: list[Any] = parent[key]
    how = rng.choice(["evil"] * 4 + ["small"] * 3 + ["cut", "extend", "swap", "double", "negate", "empty"])
    if not values or how == "extend":
        values.extend(rng.choice([[0], [1, 2], [0] * 100, [-1], [1e9], ["x"], [None]]))
        return "extend"
    at = rng.randrange(len(values))
    if how == "evil":
        values[at] = rng.choice(NUMBERS) if rng.random() < 0.8 else _evil(rng)
    elif how == "small":
        values[at] = rng.randrange(-3, len(values) + 3)
    elif how == "cut":
        del values[at:]
    elif how == "swap":
        other = rng.randrange(len(values))
        values[at], values[other] = values[other], values[at]
    else:
        negated = [-value if isinstance(value, int | float) else value for value in values]
        parent[key] = {"double": values + values, "negate": negated, "empty": []}[how]
    return how


def _evil(rng: Random) -> Any:
    """Return an odd value: a copy, because it may be changed later, and must not end up within itself."""
    return copy.deepcopy(rng.choice(EVIL))


def _change_value(rng: Random, parent: Any, key: Any) -> str:
    how = rng.choice(["remove", "evil", "evil", "again", "nest", "long"])
    if how == "remove":
        del parent[key]
    elif how == "again" and isinstance(parent, dict):
        parent[key + AGAIN] = _evil(rng)
    elif how == "nest":
        parent[key] = NEST.format(rng.choice(DEPTHS))
    elif how == "long":
        parent[key] = "A" * rng.choice([10, 10**5, 3 * 10**6])
    else:
        parent[key] = _evil(rng)
    return how


def dump_json(document: Any) -> bytes:
    """Return a document as JSON text, with names that are there twice and deep nesting where it is marked."""
    text = json.dumps(document).replace(AGAIN, "")
    nested = re.sub(r'"@nest (\d+)@"', lambda found: "[" * int(found[1]) + "]" * int(found[1]), text)
    return nested.encode()


def _deep(rng: Random) -> Mutant:
    opening = rng.choice(['{"learner":', '{"oblivious_trees":', '{"a":'])
    return (opening + rng.choice("[{") * rng.choice(DEPTHS)).encode(), "nothing but brackets"


# ------------------------------------------------------------------------------------------------------ XGBoost


def _forest(document: Any) -> Any:
    booster = document["learner"]["gradient_booster"]
    return booster.get("gbtree", booster)["model"]


def xgboost_trees(rng: Random, document: Any) -> tuple[Any, str]:
    """Change the arrays of a tree: entries, lengths, cycles, huge categories."""
    document, done = copy.deepcopy(document), []
    tree = rng.choice(_forest(document)["trees"])
    for _ in range(rng.choice([1, 1, 2, 3])):
        name = rng.choice([key for key, value in tree.items() if isinstance(value, list) and value])
        how = rng.choice(["small", "small", "evil", "append", "remove", "swap", "cycle", "island", "category"])
        _change_tree(rng, tree, name, how)
        done.append(f"{name}: {how}")
    return document, "tree: " + "; ".join(done)


def _change_tree(rng: Random, tree: Any, name: str, how: str) -> None:
    values = tree[name]
    at = rng.randrange(len(values))
    inner = [node for node, child in enumerate(tree["left_children"]) if isinstance(child, int) and child >= 0]
    if how == "small":
        values[at] = rng.randrange(-2, len(values) + 2)
    elif how == "evil":
        values[at] = rng.choice(NUMBERS)
    elif how == "append":
        values.append(rng.choice(NUMBERS))
    elif how == "remove" and len(values) > 1:
        values.pop(at)
    elif how == "swap":
        other = rng.randrange(len(values))
        values[at], values[other] = values[other], values[at]
    elif how == "cycle" and inner:
        side = tree[rng.choice(["left_children", "right_children"])]
        side[rng.choice([node for node in inner if node < len(side)] or [0])] = rng.choice(inner)
    elif how == "island":
        _add_island(tree)
    elif how == "category" and tree.get("categories"):
        categories = tree["categories"]
        categories[rng.randrange(len(categories))] = rng.choice([64, 1000, 10**6, 2**24, 10**8, -1, 2**31])


def _add_island(tree: Any) -> None:
    """Add a node that is its own child, and a leaf: two nodes that the root does not lead to."""
    n = len(tree["left_children"])
    new = {"left_children": [n, -1], "right_children": [n + 1, -1], "parents": [n, n], "split_conditions": [0.5, 0.1]}
    for name, values in tree.items():
        if isinstance(values, list) and len(values) == n:
            values += new.get(name, [0, 0])
    tree["tree_param"]["num_nodes"] = str(n + 2)


def xgboost_json(rng: Random, content: bytes) -> Mutant:
    """Damage an XGBoost model in JSON."""
    chance = rng.random()
    if chance < 0.25:
        return bytes_mutation(rng, content)
    if chance < 0.27:
        return _deep(rng)
    edit = json_mutation if chance < 0.6 else xgboost_trees
    document, how = edit(rng, json.loads(content))
    return dump_json(document), how


# ------------------------------------------------------------------------------------------------------ UBJSON


class Typed(list[Any]):
    """The numbers of a typed array, with the mark of their type."""

    mark = "l"


NUMBER_MARKS = {"i": "b", "U": "B", "I": "h", "l": "i", "L": "q", "d": "f", "D": "d"}
CONSTANTS = {"Z": None, "T": True, "F": False}


def xgboost_ubj(rng: Random, content: bytes) -> Mutant:
    """Damage an XGBoost model in Universal Binary JSON."""
    chance = rng.random()
    if chance < 0.4:
        return bytes_mutation(rng, content)
    if chance < 0.5:
        return _ubjson_claim(rng, content)
    if chance < 0.52:
        return b"{L" + struct.pack(">q", 7) + b"learner" + b"[" * rng.choice(DEPTHS), "nothing but brackets"
    document, _ = from_ubjson(content, 0)
    document, how = (json_mutation if chance < 0.75 else xgboost_trees)(rng, document)
    return to_ubjson(document), how


def _ubjson_claim(rng: Random, binary: bytes) -> Mutant:
    """Change a length."""
    data = bytearray(binary)
    at = data.find(b"#L", rng.randrange(len(data)))
    if at > 0:
        data[at + 2 : at + 10] = struct.pack(">q", rng.choice([10**9, 10**12, 2**62, -1, 0, 1, 2**63 - 1]))
    return bytes(data), "claimed length"


def from_ubjson(data: bytes, at: int) -> tuple[Any, int]:
    """Return the value that begins at a place, as XGBoost writes it, and where the next one begins."""
    mark = chr(data[at])
    if mark in NUMBER_MARKS:
        kind = struct.Struct(">" + NUMBER_MARKS[mark])
        return kind.unpack_from(data, at + 1)[0], at + 1 + kind.size
    if mark == "S":
        return _text_at(data, at + 1)
    if mark == "{":
        members, at = {}, at + 1
        while data[at] != ord("}"):
            name, at = _text_at(data, at)
            members[name], at = from_ubjson(data, at)
        return members, at + 1
    if mark == "[":
        return _list_at(data, at + 1)
    return CONSTANTS[mark], at + 1


def _text_at(data: bytes, at: int) -> tuple[str, int]:
    size, at = from_ubjson(data, at)
    return data[at : at + size].decode(), at + size


def _list_at(data: bytes, at: int) -> tuple[Any, int]:
    if data[at] == ord("$"):
        mark = chr(data[at + 1])
        size, at = from_ubjson(data, at + 3)
        kind = struct.Struct(f">{size}{NUMBER_MARKS[mark]}")
        numbers = Typed(kind.unpack_from(data, at))
        numbers.mark = mark
        return numbers, at + kind.size
    values: list[Any] = []
    size = None
    if data[at] == ord("#"):
        size, at = from_ubjson(data, at + 1)
    while len(values) != size and data[at] != ord("]"):
        value, at = from_ubjson(data, at)
        values.append(value)
    return values, at if size is not None else at + 1


def to_ubjson(value: Any) -> bytes:
    """Return a document as Universal Binary JSON, as XGBoost writes it: arrays of numbers have a type."""
    if value is None or isinstance(value, bool):
        return {None: b"Z", True: b"T", False: b"F"}[value]
    if isinstance(value, int):
        return b"L" + struct.pack(">q", max(-(2**63), min(value, 2**63 - 1)))
    if isinstance(value, float):
        return b"D" + struct.pack(">d", value)
    if isinstance(value, str):
        nested = re.fullmatch(r"@nest (\d+)@", value)
        return b"[" * int(nested[1]) + b"]" * int(nested[1]) if nested else b"S" + _ubjson_text(value)
    if isinstance(value, dict):
        members = (_ubjson_text(str(key).replace(AGAIN, "")) + to_ubjson(item) for key, item in value.items())
        return b"{" + b"".join(members) + b"}"
    return _ubjson_list(value)


def _ubjson_text(text: str) -> bytes:
    content = text.encode("utf-8", "surrogatepass")
    return to_ubjson(len(content)) + content


def _ubjson_list(values: list[Any]) -> bytes:
    """Return a list in its type, in a wider one if some number does not fit, and otherwise value by value."""
    for mark in [values.mark, "L", "D"] if isinstance(values, Typed) else []:
        try:
            packed = struct.pack(f">{len(values)}{NUMBER_MARKS[mark]}", *values)
        except (struct.error, OverflowError):
            continue
        return b"[$" + mark.encode() + b"#" + to_ubjson(len(values)) + packed
    return b"[#" + to_ubjson(len(values)) + b"".join(map(to_ubjson, values))


# ------------------------------------------------------------------------------------------------------ LightGBM


def lightgbm_text(rng: Random, content: bytes) -> Mutant:
    """Damage a LightGBM model: bytes, or entries of lines. LightGBM itself reads the lines if tree_sizes is gone."""
    if rng.random() < 0.25:
        return bytes_mutation(rng, content)
    lines, done = content.decode().split("\n"), []
    if rng.random() < 0.85:
        lines = [line for line in lines if not line.startswith("tree_sizes=")]
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        end = next((k for k, line in enumerate(lines) if line.startswith("end of trees")), len(lines))
        among = range(end if rng.random() < 0.9 else len(lines))
        at = rng.choice([k for k in among if "=" in lines[k] or rng.random() < 0.02] or [0])
        done.append(_change_line(rng, lines, at))
    return "\n".join(lines).encode(), "lines: " + "; ".join(done)


def _change_line(rng: Random, lines: list[str], at: int) -> str:
    key, equals, value = lines[at].partition("=")
    how = rng.choice(["small"] * 3 + ["evil"] * 2 + ["remove", "append", "swap", "no line", "twice", "cycle", "empty"])
    if not equals or how == "no line":
        del lines[at]
        return f"no {key[:30]}"
    if how == "twice":
        lines.insert(at, lines[at])
    elif how == "cycle":
        _make_cycle(rng, lines)
    else:
        lines[at] = f"{key}={' '.join(_change_tokens(rng, value.split(' '), how))}"
    return f"{key[:30]}: {how}"


def _change_tokens(rng: Random, tokens: list[str], how: str) -> list[str]:
    at = rng.randrange(len(tokens))
    if how == "small":
        tokens[at] = str(rng.randrange(-len(tokens) - 2, len(tokens) + 2))
    elif how == "evil":
        tokens[at] = rng.choice(TOKENS)
    elif how == "remove":
        tokens.pop(at)
    elif how == "append":
        tokens.append(str(rng.randrange(-5, 5)))
    elif how == "swap":
        other = rng.randrange(len(tokens))
        tokens[at], tokens[other] = tokens[other], tokens[at]
    else:
        return []
    return tokens


def _make_cycle(rng: Random, lines: list[str]) -> None:
    children = [k for k, line in enumerate(lines) if line.startswith(("left_child=", "right_child="))]
    if children:
        at = rng.choice(children)
        key, _, value = lines[at].partition("=")
        tokens = value.split(" ")
        tokens[rng.randrange(len(tokens))] = str(rng.randrange(len(tokens)))
        lines[at] = f"{key}={' '.join(tokens)}"


# ------------------------------------------------------------------------------------------------------ CatBoost


def catboost_json(rng: Random, content: bytes) -> Mutant:
    """Damage a CatBoost model in JSON, mostly its trees, features and tables of categories."""
    chance = rng.random()
    if chance < 0.2:
        return bytes_mutation(rng, content)
    if chance < 0.22:
        return _deep(rng)
    document = json.loads(content)
    if chance < 0.26 and document.get("oblivious_trees"):
        tree = rng.choice(document["oblivious_trees"])
        tree["splits"] = (tree["splits"] * 30)[: rng.choice([20, 27, 30, 40, 70])]
        return dump_json(document), f"{len(tree['splits'])} splits in a tree"
    parts = ("oblivious_trees", "trees", "features_info", "ctr_data", "scale_and_bias")
    known = [part for part in parts if document.get(part)]
    if chance < 0.7 and known:
        part = rng.choice(known)
        changed, how = json_mutation(rng, {part: document[part]})
        document.pop(part)
        return dump_json(document | changed), how
    document, how = json_mutation(rng, document)
    return dump_json(document), how


# ------------------------------------------------------------------------------------------------------ archives


def skops_archive(rng: Random, content: bytes) -> Mutant:
    """Damage a skops archive: its schema, the bytes of a member, or entries of its arrays."""
    chance = rng.random()
    if chance < 0.1:
        return bytes_mutation(rng, content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    arrays = sorted(name for name in members if name.endswith(".npy"))
    if chance < 0.35 or not arrays:
        document, how = json_mutation(rng, json.loads(members["schema.json"]))
        members["schema.json"] = dump_json(document)
    elif chance < 0.5:
        name = rng.choice(arrays)
        members[name], how = bytes_mutation(rng, members[name])
    else:
        how = _change_array(rng, members, arrays)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for name, member in members.items():
            archive.writestr(zipfile.ZipInfo(name), member)
    return packed.getvalue(), how


TREE_FIELDS = {"left_child", "right_child", "feature", "threshold", "left", "right", "feature_idx", "bitset_idx"}
TREE_FIELDS |= {"is_leaf", "is_categorical", "num_threshold", "value", "missing_go_to_left"}


def _change_array(rng: Random, members: dict[str, bytes], names: list[str]) -> str:
    """Change entries of an array, of a tree's nodes if it can be."""
    for _ in range(20):
        name = rng.choice(names)
        array = np.load(io.BytesIO(members[name]), allow_pickle=False).copy()
        if array.dtype.names or array.size > 1:
            break
    done = [f"{name} {array.dtype.kind}"]
    if array.size and array.dtype.kind in "fiubV":
        done += [_change_entry(rng, array.reshape(-1)) for _ in range(rng.choice([1, 1, 2]))]
    if rng.random() < 0.1 and array.ndim and len(array):
        array = array[: rng.randrange(len(array))]
        done.append("short")
    packed = io.BytesIO()
    np.save(packed, array, allow_pickle=False)
    members[name] = packed.getvalue()
    return "; ".join(done)


def _change_entry(rng: Random, array: Any) -> str:
    at = rng.randrange(array.size)
    field = ""
    if array.dtype.names:
        field = rng.choice([name for name in array.dtype.names if name in TREE_FIELDS] or list(array.dtype.names))
        array = array[field]
    number = rng.choice([-1, -2, 0, 1, 2, 3, 5, 10, 100, 10**5, 10**6, 2**31 - 1, 2**40, rng.randrange(array.size)])
    number = rng.choice([number] * 4 + [float("nan"), float("inf"), float("-inf")])
    try:
        array[at] = number
    except (OverflowError, ValueError):
        return f"{field}[{at}] kept"
    return f"{field}[{at}] = {number}"


# ------------------------------------------------------------------------------------------------------ own formats


def own_format(rng: Random, content: bytes) -> Mutant:
    """Damage a file of packed arrays; "forged" ones get a digest that is right."""
    line, newline, rest = content.partition(b"\n")
    if rng.random() < 0.4 or not line.startswith(b"glasswood ") or not newline:
        return bytes_mutation(rng, content)
    size = int.from_bytes(rest[:8], "little")
    header, vectors = json.loads(rest[8 : 8 + size]), rest[8 + size : -32]
    how = rng.choice(["header", "header", "vectors", "length", "layout", "deep", "bytes"])
    text = json.dumps(header).encode()
    claimed = len(text)
    if how == "header":
        document, what = json_mutation(rng, header)
        text = dump_json(document)
        claimed, how = len(text), f"header: {what}"
    elif how == "layout" and header["arrays"]:
        entry = rng.choice(header["arrays"])
        entry[rng.randrange(len(entry))] = rng.choice([*EVIL, "<i8", "<f8", "|u1", "|O", "<i4", 10**12])
        text = json.dumps(header).encode()
        claimed = len(text)
    elif how == "length":
        claimed = rng.choice([0, 1, 2**40, 2**63, claimed - 1, claimed + 1])
    elif how == "deep":
        text = b"[" * rng.choice(DEPTHS)
        claimed = len(text)
    elif how == "vectors":
        vectors, what = bytes_mutation(rng, vectors or b"\0")
        how = f"vectors: {what}"
    body = line + b"\n" + claimed.to_bytes(8, "little") + text + vectors
    if how == "bytes":
        body, _ = bytes_mutation(rng, body)
    return body + sha256(body).digest(), f"forged {how}"


MUTATIONS: dict[str, Callable[[Random, bytes], Mutant]] = {
    "xgboost-json": xgboost_json,
    "xgboost-ubj": xgboost_ubj,
    "lightgbm": lightgbm_text,
    "catboost-json": catboost_json,
    "catboost-cbm": bytes_mutation,
    "skops": skops_archive,
    "treelite": bytes_mutation,
    "background": own_format,
    "checkpoint": own_format,
    "partial": own_format,
}
