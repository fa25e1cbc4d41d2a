"""What a group of settings is, and the groups of the process that serves: where it listens, and who gets in."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self, cast

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, SecretStr, field_validator


class Group(BaseModel):
    """Settings that belong together; a part of the program is handed those that concern it."""

    model_config = ConfigDict(frozen=True, populate_by_name=True, allow_inf_nan=False)

    @classmethod
    def of(cls, settings: Group) -> Self:
        """Return this group of ``settings``, which are checked."""
        return cast(Self, cls.model_construct(**{name: getattr(settings, name) for name in cls.model_fields}))


class ServerSettings(Group):
    """The process that serves, and where its data are; what the command line talks to."""

    data_dir: Path = Field(Path("data"), description="Folder of the catalogue, the original files and both indexes.")

    @field_validator("data_dir")
    @classmethod
    def _absolute(cls, folder: Path) -> Path:
        return folder.expanduser().absolute()

    test_mode: bool = Field(
        False,
        validation_alias=AliasChoices("EVOSPIKENET_TEST_MODE", "EVORAG_TEST_MODE"),
        description="Keep both indexes in memory and embed by hashing, for tests.",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] = Field(
        "INFO", description="Log level; user text is logged at DEBUG only."
    )

    @field_validator("log_level", mode="before")
    @classmethod
    def _upper_case(cls, level: object) -> object:
        return level.upper() if isinstance(level, str) else level

    log_format: Literal["text", "json"] = Field(
        "text", description="Lines of the log: `text`, or `json`, one object a line for collectors of logs."
    )
    url: str = Field("", description="Server that the command line uses instead of the data folder.")
    key: SecretStr = Field(SecretStr(""), description="API key that the command line sends to that server.")
    host: str = Field("127.0.0.1", description="Address the server listens on.")
    port: int = Field(8050, ge=0, le=65535, description="Port the server listens on.")
    server_threads: int = Field(32, ge=1, description="Threads that answer requests; as many again read large bodies.")
    header_timeout_s: float = Field(
        10.0, gt=0, description="Time limit for receiving the headers of a request, in seconds."
    )
    body_rate_bytes: int = Field(1024, ge=1, description="Minimum rate of a request body, in bytes per second.")
    stream_limit: int = Field(200, ge=0, description="Maximum number of clients that follow jobs at the same time.")


class SecuritySettings(Group):
    """Who gets in, from where, and how often."""

    access: Literal["auto", "keys", "open"] = Field(
        "auto",
        description="`auto`: open on loopback while there are no users, otherwise sign-in or keys; `keys`: always "
        "sign-in or keys; `open`: everyone who reaches the server is an administrator.",
    )
    trusted_proxies: str = Field(
        "", description="Comma-separated addresses or networks of proxies whose X-Forwarded headers are trusted."
    )
    public_names: str = Field(
        "", description="Comma-separated host names of the server besides localhost; empty: any, but on loopback none."
    )
    session_hours: float = Field(12.0, gt=0, description="Idle time after which a session ends, in hours.")
    confirm_minutes: float = Field(
        15.0,
        ge=0,
        description="Minutes after a sign-in in which keys, users and backups need no new password; 0: no limit.",
    )
    second_factor: Literal["auto", "required", "optional"] = Field(
        "auto",
        description="Second factor at sign-in: `required` of all, `optional`, or `auto`: as administrators choose.",
    )
    rate_limit: int = Field(
        1200,
        ge=0,
        description="Requests per minute of one user, of all keys of one user, or of one address; 0: no limit.",
    )
    sign_in_limit: int = Field(
        10, ge=1, description="Failed sign-ins per minute, per name and per address; fewer the longer it goes on."
    )
