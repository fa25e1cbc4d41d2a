"""The commands of training: a model from a text file, listed, chosen, deleted."""

import json

from tests.trained import TEXT, begun, trained

SMALL = ("--steps", 20, "--layers", 1, "--width", 32, "--window", 32, "--vocabulary", 400)


def test_model_is_trained_on_a_file_and_listed(evorag, data_dir, tmp_path):
    (tmp_path / "hours.txt").write_text(TEXT, "utf-8")
    options = ("--artifact-name", "small", "--texts", tmp_path / "hours.txt", "--privacy-level", "public")
    status, out, err = evorag("train", *options, *SMALL, "--json")
    assert status == 0, err
    assert json.loads(out)["state"] == "done" and json.loads(out)["loss"] < 6
    status, out, _ = evorag("models", "list", "--json")
    (model,) = json.loads(out)["models"]
    assert status == 0 and model["is_chosen"] and model["manifest"]["privacy_level"] == "public"


def test_models_are_chosen_and_deleted_and_trainings_discarded(evorag, data_dir):
    trained(data_dir / "models", steps=2)
    begun(data_dir / "models", "left")
    assert evorag("models", "choose", "small")[0] == 0
    status, out, _ = evorag("models", "list")
    assert status == 0 and "chosen" in out and "left" in out
    assert evorag("models", "delete", "small")[0] == 0 and evorag("models", "discard", "left")[0] == 0
    assert json.loads(evorag("models", "list", "--json")[1]) == {"models": [], "unfinished": []}


def test_odd_options_are_explained(evorag, data_dir, tmp_path):
    (tmp_path / "x.bin").write_bytes(b"\xff\xfe\x00")
    for options in (
        ("--artifact-name", "../x"),
        ("--artifact-name", "x", "--precision", "fp8"),
        ("--artifact-name", "x", "--texts", tmp_path / "x.bin"),
        ("--artifact-name", "x"),
        ("--artifact-name", "x", "--resume"),
    ):
        status, _, err = evorag("train", *options)
        assert status == 1 and ("invalid_input" in err or "not_found" in err), options
    assert evorag("models", "choose", "nothing")[0] == 1
