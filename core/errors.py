"""Every error that EvoRAG raises on purpose.

    EvoRAGError
    ├── InvalidInput          400  the request itself is wrong
    │   ├── BadFilename            bad_filename
    │   ├── BadFilter              bad_filter
    │   └── QueryTooLong           query_too_long
    ├── NotFound              404  not_found
    │   └── Purged            410  purged (it was there, and was removed for good)
    ├── Conflict              409  conflict
    ├── TooLarge              413  too_large
    ├── UnsupportedType       415  unsupported_type, type_mismatch
    ├── UnreadableDocument    422  the bytes are stored by nobody: no text can be had from them
    │   ├── EmptyDocument          empty_document
    │   ├── Undecodable            undecodable
    │   ├── ArchiveLimit           archive_limit
    │   ├── XmlForbidden           xml_forbidden
    │   ├── Encrypted              encrypted
    │   ├── ParserLimit            parser_limit (time, memory or output)
    │   ├── ParserFailed           parser_failed
    │   └── ConverterMissing       converter_missing
    ├── DiffLimit             503  diff_limit (even a coarse comparison took too much)
    ├── StoreUnavailable      503  store_unavailable
    ├── ModelUnavailable      503  model_unavailable, model_loading
    ├── DataFolderInUse       503  data_folder_in_use
    ├── WrongIndex            503  wrong_index (another embedder or analyser built it)
    └── Cancelled             499  cancelled

Each carries a ``code`` that the API and the pages show, and a ``remedy`` that tells a person what to do next.
"""

from __future__ import annotations

from typing import Any, ClassVar


class EvoRAGError(Exception):
    """An error that says what happened, to what, and what to do next."""

    code: str = "error"
    status: ClassVar[int] = 500
    remedy: str = "Try again; if it happens again, look at the job's log."

    def __init__(self, message: str, *, remedy: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if remedy is not None:
            self.remedy = remedy
        if code is not None:
            self.code = code

    def as_dict(self) -> dict[str, Any]:
        """The error as plain data, without a stack trace."""
        return {"code": self.code, "message": self.message, "remedy": self.remedy, "status": self.status}


class InvalidInput(EvoRAGError):
    code = "invalid_input"
    status = 400
    remedy = "Correct the value and send it again."


class BadFilename(InvalidInput):
    code = "bad_filename"
    remedy = "Rename the file with ordinary letters and an extension, then upload it again."


class BadFilter(InvalidInput):
    code = "bad_filter"
    remedy = "Remove the filter or choose one of the offered values."


class QueryTooLong(InvalidInput):
    code = "query_too_long"
    remedy = "Shorten the question to at most 4,000 characters."


class NotFound(EvoRAGError):
    code = "not_found"
    status = 404
    remedy = "Look it up in the list of documents; it may have been renamed or deleted."


class Purged(NotFound):
    code = "purged"
    status = 410
    remedy = "Its text was removed for good; only who has the original file can upload it again."


class Conflict(EvoRAGError):
    code = "conflict"
    status = 409
    remedy = "Reload the page to see the present state, then decide again."


class TooLarge(EvoRAGError):
    code = "too_large"
    status = 413
    remedy = "Split the file, or raise EVORAG_MAX_UPLOAD_BYTES."


class UnsupportedType(EvoRAGError):
    code = "unsupported_type"
    status = 415
    remedy = "Convert the file to one of the accepted types (PDF, Word, Excel, PowerPoint, HTML, Markdown, text, CSV)."


class TypeMismatch(UnsupportedType):
    code = "type_mismatch"
    remedy = "The content is not what the extension says: rename the file to its real type or export it again."


class UnreadableDocument(EvoRAGError):
    code = "unreadable_document"
    status = 422
    remedy = "Open the file in its own program, save it again and upload the new copy."


class EmptyDocument(UnreadableDocument):
    code = "empty_document"
    remedy = "The file holds no text. If it is a scan, run text recognition (OCR) first."


class Undecodable(UnreadableDocument):
    code = "undecodable"
    remedy = "Save the text as UTF-8 and upload it again."


class ArchiveLimit(UnreadableDocument):
    code = "archive_limit"
    remedy = "The file unpacks to far more than it should. Save it again from its own program."


class XmlForbidden(UnreadableDocument):
    code = "xml_forbidden"
    remedy = "The file holds XML constructs that are never needed in documents. Save it again from its own program."


class Encrypted(UnreadableDocument):
    code = "encrypted"
    remedy = "Remove the password in the file's own program and upload it again."


class ParserLimit(UnreadableDocument):
    code = "parser_limit"
    remedy = "Split the document into smaller ones, or raise the parser limits in the settings."


class ParserFailed(UnreadableDocument):
    code = "parser_failed"


class ConverterMissing(UnreadableDocument):
    code = "converter_missing"
    remedy = "Install LibreOffice on the server, or save the file as docx, xlsx or pptx."


class DiffLimit(EvoRAGError):
    code = "diff_limit"
    status = 503
    remedy = "Compare smaller documents, or raise EVORAG_DIFF_TIMEOUT_S and EVORAG_DIFF_MEMORY_BYTES."


class StoreUnavailable(EvoRAGError):
    code = "store_unavailable"
    status = 503
    remedy = "The store does not answer. Nothing is lost: work waits in the outbox and goes on when it is back."


class ModelUnavailable(EvoRAGError):
    code = "model_unavailable"
    status = 503
    remedy = "Check the model's name or folder in the settings."


class ModelLoading(ModelUnavailable):
    code = "model_loading"
    remedy = "The model is still loading; try again in a few seconds."


class DataFolderInUse(EvoRAGError):
    code = "data_folder_in_use"
    status = 503
    remedy = "Stop the other process, or choose another folder with EVORAG_DATA_DIR."


class WrongIndex(EvoRAGError):
    code = "wrong_index"
    status = 503
    remedy = (
        "Start with what built the index, or choose another folder with EVORAG_DATA_DIR and add the documents there."
    )


class Cancelled(EvoRAGError):
    code = "cancelled"
    status = 499
    remedy = "Upload the file again if it was cancelled by mistake."
