"""Universal Binary JSON is decoded into the same document as XGBoost's JSON, and broken bytes are refused."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
import xgboost as xgb

from glasswood.errors import UnsupportedModelError
from glasswood.models.readers._ubjson import decode

VALUES = {
    "null": (b"Z", None),
    "true": (b"T", True),
    "false": (b"F", False),
    "int8": (b"i\xff", -1),
    "uint8": (b"U\xff", 255),
    "int16": (b"I\xff\x00", -256),
    "int32": (b"l\x00\x01\x00\x00", 65536),
    "int64": (b"L" + struct.pack(">q", -(2**40)), -(2**40)),
    "float32": (b"d" + struct.pack(">f", 0.1), float(np.float32(0.1))),
    "float64": (b"D" + struct.pack(">d", 0.1), 0.1),
    "text": (b"SU\x03\xc3\xa9!", "é!"),
    "empty text": (b"SU\x00", ""),
    "array with an end": (b"[i\x01TSU\x01a]", [1, True, "a"]),
    "array with a count": (b"[#U\x02i\x01Z", [1, None]),
    "object with an end": (b"{U\x01ai\x01U\x01b{}}", {"a": 1, "b": {}}),
    "object with a count": (b"{#i\x01U\x01ai\x01", {"a": 1}),
    "nested": (b"[[#i\x01[]{i\x01xZ}]", [[[]], {"x": None}]),
}


@pytest.mark.parametrize("name", VALUES)
def test_values(name):
    data, expected = VALUES[name]
    assert decode(data) == expected


KINDS = {"i": ">i1", "U": ">u1", "I": ">i2", "l": ">i4", "L": ">i8", "d": ">f4", "D": ">f8"}


@pytest.mark.parametrize("mark", KINDS)
def test_typed_arrays_are_not_copied(mark):
    numbers = np.array([0, 1, 100], dtype=KINDS[mark])
    data = b"{U\x01a[$" + mark.encode() + b"#U\x03" + numbers.tobytes() + b"U\x01bT}"
    decoded = decode(data)
    assert decoded["b"] is True
    assert decoded["a"].dtype == numbers.dtype
    np.testing.assert_array_equal(decoded["a"], numbers)
    assert not decoded["a"].flags.owndata


def test_empty_typed_arrays():
    decoded = decode(b"[[$d#U\x00[$l#L" + bytes(8) + b"]")
    assert [part.dtype for part in decoded] == [np.dtype(">f4"), np.dtype(">i4")]
    assert [part.size for part in decoded] == [0, 0]


BROKEN = {
    "nothing": b"",
    "half a number": b"l\x00\x00",
    "no such type": b"[x]",
    "a length that is not a number": b"SZ",
    "a negative length": b"Si\xff",
    "text cut short": b"SU\x05abc",
    "text that is not UTF-8": b"SU\x01\xff",
    "array without an end": b"[i\x01i\x02",
    "array with too few elements": b"[#U\x03i\x01",
    "typed array without a count": b"[$d]",
    "typed array of negative count": b"[$d#i\xff",
    "typed array cut short": b"[$d#U\x02\x00\x00\x00\x00",
    "typed array of texts": b"[$S#U\x01U\x01a",
    "object without an end": b"{U\x01ai\x01",
    "object with a key that is not a text": b"{Z",
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_bytes_are_refused(name):
    with pytest.raises(UnsupportedModelError, match="not Universal Binary JSON, or ends early"):
        decode(BROKEN[name])


def test_a_model_cut_at_any_byte_is_refused():
    X = np.arange(20.0).reshape(10, 2)
    data = bytes(xgb.train({"max_depth": 1, "nthread": 1}, xgb.DMatrix(X, X[:, 0]), 1).save_raw("ubj"))
    for size in range(len(data)):
        with pytest.raises(UnsupportedModelError):
            decode(data[:size])


@pytest.mark.parametrize("booster", [{}, {"booster": "dart", "rate_drop": 0.5}], ids=["gbtree", "dart"])
def test_a_model_is_the_same_document_as_in_text(booster):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), rng.integers(3, size=200)
    model = xgb.train({"objective": "multi:softprob", "num_class": 3, "nthread": 1} | booster, xgb.DMatrix(X, y), 5)
    assert_same(decode(bytes(model.save_raw("ubj"))), json.loads(model.save_raw("json")), "model")


def assert_same(binary, text, path):
    assert isinstance(text, dict) == isinstance(binary, dict), path
    if isinstance(text, dict):
        assert binary.keys() == text.keys(), path
        for name, part in text.items():
            assert_same(binary[name], part, f"{path}.{name}")
    elif isinstance(binary, np.ndarray):
        # Both are float32 numbers: JSON has as many digits as tell them apart.
        np.testing.assert_array_equal(binary, np.array(text, dtype=binary.dtype), err_msg=path)
    elif isinstance(text, list):
        assert len(binary) == len(text), path
        for part, other in zip(binary, text, strict=True):
            assert_same(part, other, path)
    elif isinstance(text, float):
        assert np.float32(binary) == np.float32(text), path
    else:
        assert binary == text, path
