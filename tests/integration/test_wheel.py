"""What is installed is all that a checkout has, and knows its files wherever it runs."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests import wheels

REPORT = """
import json, app, core
from app.components.shared.design_tokens import tokens
print(json.dumps({"core": core.__file__, "app": app.__file__, "assets": str(app.ASSETS), "accent": tokens()["accent"]}))
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheels.checkout(tmp_path_factory.mktemp("checkout"))


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheels.build_wheel(source, tmp_path_factory.mktemp("wheel"))


def packed(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}


def test_wheel_holds_every_file_of_the_packages_and_of_the_assets(wheel: Path) -> None:
    wanted = {}
    for top in wheels.PACKED:
        for path in (wheels.ROOT / top).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                name = path.relative_to(wheels.ROOT).as_posix()
                wanted["app/" + name if top == "assets" else name] = path.read_bytes()
    assert sum(name.startswith("app/assets/") for name in wanted) > 50
    found = packed(wheel)
    assert sorted(found) == sorted(wanted)
    assert found == wanted


def test_wheel_made_from_the_source_distribution_is_the_same(source: Path, wheel: Path, tmp_path: Path) -> None:
    archive = wheels.build_sdist(source, tmp_path)
    assert packed(wheels.build_wheel(archive, tmp_path / "wheel")) == packed(wheel)


def test_installed_package_finds_its_own_files(wheel: Path, tmp_path: Path) -> None:
    programs = wheels.install(wheel, tmp_path / "installed")
    done = subprocess.run(
        [programs / "python", "-c", REPORT], cwd=tmp_path, env=wheels.environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told.pop("accent").startswith("#")
    packages = next((tmp_path / "installed").glob("lib/python*/site-packages"))
    assert {Path(place).is_relative_to(packages) for place in told.values()} == {True}, told
