from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from citewell.core.errors import InferenceError
from citewell.inference.onnx_folder import load_folder
from citewell.inference.onnx_writer import GraphWriter

VOCABULARY = {"[UNK]": 0, "grey": 1, "heron": 2, "ask": 3, "say": 4}
# One direction per token, so that a vector shows which tokens it came from.
TABLE = np.eye(len(VOCABULARY), dtype=np.float32)


def write_folder(folder: Path, *, pooling: str = "mean", model_file: str = "model.onnx") -> Path:
    """A model that looks each token up in TABLE, with its tokenizer and settings."""
    writer = GraphWriter()
    table = writer.constant("table", TABLE)
    output = writer.node("Gather", [table, "input_ids"])
    model = writer.to_bytes(
        inputs={"input_ids": (1, "tokens")},
        outputs={output: (1, "tokens", len(VOCABULARY))},
        input_type="int64",
    )
    (folder / model_file).parent.mkdir(parents=True, exist_ok=True)
    (folder / model_file).write_bytes(model)
    tokenizer = Tokenizer(models.WordLevel(VOCABULARY, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    write_json(folder / "1_Pooling/config.json", {"pooling_mode_cls_token": pooling == "first"})
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 4})
    return folder


def write_json(path: Path, content: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def test_a_mean_pooled_model_averages_its_tokens(tmp_path: Path) -> None:
    model = load_folder(write_folder(tmp_path))

    expected = [0, 0.5**0.5, 0.5**0.5, 0, 0]
    assert np.allclose(model.embed_passage("grey heron"), expected)


def test_a_first_token_model_keeps_only_the_first(tmp_path: Path) -> None:
    model = load_folder(write_folder(tmp_path, pooling="first"))

    assert model.embed_passage("grey heron").tolist() == [0, 1, 0, 0, 0]


def test_the_models_prompts_are_put_before_queries_and_passages(tmp_path: Path) -> None:
    write_folder(tmp_path, pooling="first")
    prompts = {"prompts": {"query": "ask ", "document": "say "}}
    write_json(tmp_path / "config_sentence_transformers.json", prompts)
    model = load_folder(tmp_path)

    assert model.embed_query("heron").tolist() == [0, 0, 0, 1, 0]
    assert model.embed_passage("heron").tolist() == [0, 0, 0, 0, 1]


def test_a_text_longer_than_the_model_is_cut(tmp_path: Path) -> None:
    model = load_folder(write_folder(tmp_path))

    assert model.embed_passage("heron " * 4 + "grey " * 400).tolist() == [0, 0, 1, 0, 0]


def test_a_model_in_the_onnx_subfolder_is_found(tmp_path: Path) -> None:
    model = load_folder(write_folder(tmp_path, model_file="onnx/model.onnx"))

    assert model.embed_query("heron").tolist() == [0, 0, 1, 0, 0]


def test_an_empty_folder_is_an_inference_error(tmp_path: Path) -> None:
    with pytest.raises(InferenceError, match=r"needs model\.onnx and tokenizer\.json"):
        load_folder(tmp_path)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "sentence_bert_config.json"])
def test_a_damaged_file_is_an_inference_error(tmp_path: Path, name: str) -> None:
    (write_folder(tmp_path) / name).write_bytes(b"{damaged")

    with pytest.raises(InferenceError):
        load_folder(tmp_path)
