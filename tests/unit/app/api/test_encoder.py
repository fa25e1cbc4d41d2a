"""Plotly's encoder looks only into modules that are whole."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

LOOKED_INTO = """
import json, sys, tempfile
from pathlib import Path
from unittest.mock import patch
import plotly.io._json as encoder
from app.main import create_app
from tests.builders import knowledge_base

with tempfile.TemporaryDirectory() as folder, knowledge_base(Path(folder)) as kb:
    create_app(kb)
loaded = set(sys.modules)
with patch.object(encoder, "get_module") as get:
    encoder.to_json_plotly({})
names = [call.args[0] for call in get.call_args_list if not call.kwargs.get("should_load", True)]
print(json.dumps({name: name in loaded for name in names}))
"""


def test_whatever_the_encoder_looks_into_is_imported_before_the_first_request() -> None:
    """Who imports it later does so in a thread, and a page that is encoded meanwhile would fail.

    The compared images of two versions did just that with Pillow.
    """
    root = Path(__file__).parents[4]
    ran = subprocess.run([sys.executable, "-c", LOOKED_INTO], cwd=root, capture_output=True, text=True, check=True)
    looked_into = json.loads(ran.stdout)
    assert {"pandas", "PIL.Image"} <= set(looked_into)
    there = {name for name in looked_into if find_spec(name.partition(".")[0])}
    assert {name for name in there if not looked_into[name]} == set()
