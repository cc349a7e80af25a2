"""CityHash64 against the hashes that CatBoost itself writes into a model file."""

from __future__ import annotations

import json

import numpy as np
import pytest

from glasswood.models.readers._cityhash import cityhash64

catboost = pytest.importorskip("catboost")


def catboost_hashes(texts, folder):
    """CatBoost's 32-bit hash of each text: a model saved together with its pool lists them."""
    pool = catboost.Pool([[text] for text in texts], label=list(range(len(texts))), cat_features=[0])
    model = catboost.CatBoost({"iterations": 1, "depth": 1, "verbose": 0, "allow_writing_files": False}).fit(pool)
    model.save_model(str(folder / "model.json"), format="json", pool=pool)
    features = json.loads((folder / "model.json").read_bytes())["features_info"]
    return {entry["value"]: entry["hash"] for entry in features["cat_features_hash"]}


def test_texts_of_every_length_have_the_hashes_of_catboost(tmp_path):
    rng = np.random.default_rng(0)
    letters = list("ab 01-Zé日😀\x00\n")
    texts = sorted({"".join(rng.choice(letters[:count], length)) for length in range(200) for count in (6, 12)})
    theirs = catboost_hashes(texts, tmp_path)
    encoded = [text.encode() for text in texts]
    ours = cityhash64(encoded).astype(np.uint32)
    assert {len(text) for text in encoded} >= set(range(200))  # every branch of the hash, and all its borders
    assert theirs == dict(zip(texts, ours.tolist(), strict=True))


def test_the_order_of_texts_does_not_matter():
    texts = [b"", b"a", b"bb", b"ccc", b"dddd", b"e" * 20, b"f" * 40, b"g" * 100]
    together = cityhash64(texts)
    np.testing.assert_array_equal(together, [cityhash64([text])[0] for text in texts])
    np.testing.assert_array_equal(together[::-1], cityhash64(texts[::-1]))


def test_no_text_has_no_hash():
    assert cityhash64([]).shape == (0,)
