"""docker-compose.yml names what there is: settings, secrets and files; its services are guarded and looked after."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from core.settings import Settings
from tests import programs

ROOT = Path(__file__).parent.parent.parent
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()
SETTINGS = {f"EVORAG_{name.upper()}" for name in Settings.model_fields} | {"EVORAG_SECRETS_DIR"}
OURS = ("app", "web", "worker")


def secrets_of(service: dict[str, Any]) -> set[str]:
    return {each if isinstance(each, str) else each["source"] for each in service.get("secrets", ())}


def test_default_is_the_app_alone_and_scale_is_all_that_serves_several_machines() -> None:
    profiles = {profile for service in SERVICES.values() for profile in service["profiles"]}
    assert profiles == {"default", "scale"}
    assert [name for name, service in SERVICES.items() if "default" in service["profiles"]] == ["app"]
    assert SERVICES["web"]["deploy"]["replicas"] == 2


@pytest.mark.parametrize("name", OURS)
def test_every_variable_is_a_setting(name: str) -> None:
    written = {variable for variable in SERVICES[name]["environment"] if variable.startswith("EVORAG_")}
    assert written
    assert written <= SETTINGS


def test_every_secret_is_a_file_that_the_manual_makes() -> None:
    used = set[str]().union(*map(secrets_of, SERVICES.values()))
    assert used == set(COMPOSE["secrets"])
    for secret in COMPOSE["secrets"].values():
        assert Path(secret["file"]).name in OPERATIONS


@pytest.mark.parametrize("name", OURS)
def test_every_secret_of_ours_is_a_setting(name: str) -> None:
    assert {secret.upper() for secret in secrets_of(SERVICES[name])} <= SETTINGS


def test_no_password_stands_in_the_environment() -> None:
    variables = {name for service in SERVICES.values() for name in service.get("environment", ())}
    assert not [name for name in variables if "PASSWORD" in name and not name.endswith("_FILE")]


def test_nothing_runs_as_root_but_what_gives_volumes_away() -> None:
    """The images of EvoRAG, nginx, Elasticsearch and etcd name a user of their own."""
    roots = [name for name, service in SERVICES.items() if service.get("user") == "root"]
    assert roots == ["volumes"]
    assert {name for name, service in SERVICES.items() if "user" in service} == {
        *("volumes", "postgres", "redis", "milvus", "objects")
    }
    assert "\nUSER 10001\n" in (ROOT / "Dockerfile").read_text()


@pytest.mark.parametrize("name", [name for name in SERVICES if name != "volumes"])
def test_every_service_is_limited_and_comes_back(name: str) -> None:
    service = SERVICES[name]
    assert service["mem_limit"]
    assert service["restart"] == "unless-stopped"
    assert service["cap_drop"] == ["ALL"]
    assert name in OURS or "test" in service["healthcheck"]


def test_only_loopback_addresses_are_published_and_stores_reach_nothing_outside() -> None:
    ports = [port for service in SERVICES.values() for port in service.get("ports", ())]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)
    assert COMPOSE["networks"]["stores"]["internal"]
    stores = ("postgres", "redis", "elasticsearch", "milvus", "etcd", "objects")
    assert all(SERVICES[name]["networks"] == ["stores"] for name in stores)


def test_every_named_volume_and_file_is_there() -> None:
    mounts = [mount.split(":")[0] for service in SERVICES.values() for mount in service.get("volumes", ())]
    assert {mount for mount in mounts if "/" not in mount} == set(COMPOSE["volumes"])
    assert all((ROOT / mount).is_file() for mount in mounts if "/" in mount)


def test_docker_takes_the_file(tmp_path: Path) -> None:
    commands = (["docker", "compose"], ["docker-compose"])
    for command in commands:
        if programs.find(command[0]) is None:
            continue
        if subprocess.run([*command, "version"], capture_output=True, check=False).returncode == 0:
            break
    else:
        pytest.skip("Docker Compose is not installed")
    checked = subprocess.run(
        [*command, "--profile", "default", "--profile", "scale", "config"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr


def test_hadolint_finds_nothing_in_the_dockerfile() -> None:
    program = programs.find("hadolint")
    if program is None:
        pytest.skip("hadolint is not installed")
    checked = subprocess.run([program, "Dockerfile"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
