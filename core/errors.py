"""Every error that EvoRAG raises on purpose.

    EvoRAGError
    ├── InvalidInput          400  the request itself is wrong
    │   ├── BadFilename            bad_filename
    │   ├── BadFilter              bad_filter
    │   └── QueryTooLong           query_too_long
    ├── Unauthorized          401  unauthorized (nobody knows who asks)
    │   ├── CodeNeeded             code_needed (the password was right, and a code of the second factor is wanted)
    │   ├── FactorNeeded           factor_needed (the password was right, and a second factor has to be set up)
    │   └── WrongCode              wrong_code (of the second factor)
    ├── Forbidden             403  forbidden (it is known who asks, and that is not enough)
    │   └── PasswordNeeded         password_needed (who asks gave their password too long ago)
    ├── NotFound              404  not_found
    │   ├── Purged            410  purged (it was there, and was removed for good)
    │   ├── Damaged                damaged (it is there, and its bytes are not what they were)
    │   └── UploadExpired     410  upload_expired
    ├── Conflict              409  conflict
    │   └── OffsetConflict         offset_conflict (a part begins where the upload does not end)
    ├── TooLarge              413  too_large
    │   └── QuotaExceeded          quota_exceeded
    ├── ChecksumMismatch      460  checksum_mismatch (the tus protocol's own status)
    ├── RateLimited           429  rate_limited
    ├── DiskFull              507  disk_full
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
    ├── BadBundle             422  bad_bundle (an archive of a whole knowledge base that cannot be taken in)
    ├── UnreadableRecording   422  unreadable_recording (no file of spikes, or one that holds more than plain tensors)
    ├── DiffLimit             503  diff_limit (even a coarse comparison took too much)
    ├── StoreUnavailable      503  store_unavailable
    │   └── CatalogDamaged         catalog_damaged (its file is: a snapshot has to take its place)
    ├── ModelUnavailable      503  model_unavailable
    ├── GenerationFailed      502  generation_failed (the generator ended with an error)
    │   ├── GenerationTimedOut 504 generation_timed_out
    │   └── NothingWritten         nothing_written
    ├── DataFolderInUse       503  data_folder_in_use
    ├── ServerUnreachable     503  server_unreachable (the client: nobody answers at that address)
    ├── WrongIndex            503  wrong_index (another embedder or analyser built it)
    ├── WrongCatalog          503  wrong_catalog (data folder and catalogue are of different knowledge bases)
    └── Cancelled             499  cancelled

Each carries a ``code`` that the API and the pages show, and a ``remedy`` that tells a person what to do next.
"""

from __future__ import annotations

import errno
from typing import Any, ClassVar

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Numbers of the errors by which the system says that there is no room for a write."""


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


NO_SUCH_VERSION = "Choose one of the versions that the document has."


class Purged(NotFound):
    code = "purged"
    status = 410
    remedy = "Its text was removed for good; only who has the original file can upload it again."


class Damaged(NotFound):
    code = "damaged"
    remedy = "Upload the same file again: its right bytes take the place of the damaged ones, in every version."


class UploadExpired(NotFound):
    code = "upload_expired"
    status = 410
    remedy = "Start the upload anew."


class Unauthorized(EvoRAGError):
    code = "unauthorized"
    status = 401
    remedy = "Sign in, or send a valid key in the header “Authorization: Bearer …”."


class CodeNeeded(Unauthorized):
    """The password was right, and a code of the second factor is wanted; with ``ticket`` it is enough alone."""

    code = "code_needed"
    remedy = "Give the code that your app shows, or one of your recovery codes."

    def __init__(self, message: str, *, ticket: str = "") -> None:
        super().__init__(message)
        self.ticket = ticket


class FactorNeeded(Unauthorized):
    code = "factor_needed"
    remedy = "Sign in on the page and set up a second factor (/second-factor); keys of programs go on without one."


class WrongCode(Unauthorized):
    code = "wrong_code"
    remedy = "Wait for the next code of your app, and type that one."


class Forbidden(EvoRAGError):
    code = "forbidden"
    status = 403
    remedy = "Ask an administrator for the role that this needs."


class PasswordNeeded(Forbidden):
    code = "password_needed"
    remedy = (
        "Sign in again with your password (/sign-in?again=1), then do it within the time of EVORAG_CONFIRM_MINUTES."
    )


class ChecksumMismatch(EvoRAGError):
    code = "checksum_mismatch"
    status = 460
    remedy = "What arrived is not what was sent: send it again."


class RateLimited(EvoRAGError):
    code = "rate_limited"
    status = 429
    remedy = "Wait a moment, then go on more slowly."


class DiskFull(EvoRAGError):
    code = "disk_full"
    status = 507
    remedy = "Free space on the disk of the data folder; nothing that was acknowledged is lost."


class Conflict(EvoRAGError):
    code = "conflict"
    status = 409
    remedy = "Reload the page to see the present state, then decide again."


class TooLarge(EvoRAGError):
    code = "too_large"
    status = 413
    remedy = "Split the file, or raise EVORAG_MAX_UPLOAD_BYTES."


class OffsetConflict(Conflict):
    code = "offset_conflict"
    remedy = "Ask how much has arrived (HEAD), and go on from there."


class QuotaExceeded(TooLarge):
    code = "quota_exceeded"
    remedy = "Purge documents that are not needed any more, or ask an administrator for more room."


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


class RecognitionMissing(UnreadableDocument):
    code = "ocr_missing"
    remedy = "Have EVORAG_OCR=auto in the settings, or add the text as a document of its own."


class UnreadableRecording(EvoRAGError):
    code = "unreadable_recording"
    status = 422
    remedy = (
        "Choose a .pt file that EvoRAG wrote, or one with spikes of -1, 0 and 1, with or without membrane_potential."
    )


class BadBundle(EvoRAGError):
    """An archive of a whole knowledge base that is damaged, forged or of another kind; nothing of it is kept."""

    code = "bad_bundle"
    status = 422
    remedy = "Nothing was taken in. Choose an archive that `evorag export` or `evorag backup` wrote, or make it anew."


class DiffLimit(EvoRAGError):
    code = "diff_limit"
    status = 503
    remedy = "Compare smaller documents, or raise EVORAG_DIFF_TIMEOUT_S and EVORAG_DIFF_MEMORY_BYTES."


class StoreUnavailable(EvoRAGError):
    code = "store_unavailable"
    status = 503
    remedy = "The store does not answer. Nothing is lost: work waits in the outbox and goes on when it is back."


class IndexLost(StoreUnavailable):
    """A store answers, and what was written to it is gone: emptying it makes it anew, its rows are in the catalogue."""

    remedy = "Have the store written anew: evorag reindex. Nothing is lost: its rows are in the catalogue."


class CatalogUnavailable(StoreUnavailable):
    """The server of the catalogue does not answer, which is nothing that a job can fail of: it waits in the ledger."""


class CatalogDamaged(StoreUnavailable):
    """The file of the catalogue, or its disk, does not give what was written to it."""

    code = "catalog_damaged"
    remedy = (
        "Stop EvoRAG and run `evorag recover`, which puts the newest sound snapshot in its place and brings back the"
        " documents that came since; or put catalog.db back from a copy of the data folder."
    )


class ModelUnavailable(EvoRAGError):
    """A model that cannot be used; ``reason`` names the page's text that says so, ``values`` fill it."""

    code = "model_unavailable"
    status = 503
    remedy = "Check the model's name or folder in the settings."

    def __init__(
        self, message: str, *, remedy: str | None = None, code: str | None = None, reason: str = "", **values: str
    ) -> None:
        super().__init__(message, remedy=remedy, code=code)
        self.reason = reason
        self.values = values


class GenerationFailed(EvoRAGError):
    """A generator ended with an error; the extracted answer is given instead."""

    code = "generation_failed"
    status = 502
    remedy = "See that its server or program works, and ask again; the page Ask tells how each generator is."


class GenerationTimedOut(GenerationFailed):
    """A generator wrote for longer than it may."""

    code = "generation_timed_out"
    status = 504
    remedy = "Set EVORAG_GENERATION_TIMEOUT_S higher, or choose another generator."


class NothingWritten(GenerationFailed):
    """A generator ended without an error and without a word."""

    code = "nothing_written"


class DataFolderInUse(EvoRAGError):
    code = "data_folder_in_use"
    status = 503
    remedy = "Stop the other process, or choose another folder with EVORAG_DATA_DIR."


class ServerUnreachable(EvoRAGError):
    code = "server_unreachable"
    status = 503
    remedy = "Check the address and the network, and that the server runs; then try again."


class WrongIndex(EvoRAGError):
    code = "wrong_index"
    status = 503
    remedy = (
        "Start with what built the index, or choose another folder with EVORAG_DATA_DIR and add the documents there."
    )


class WrongCatalog(EvoRAGError):
    code = "wrong_catalog"
    status = 503
    remedy = (
        "Nothing was changed. Name this folder's own catalogue with EVORAG_CATALOG_URL, or put its catalog.db back"
        " (`evorag recover` has snapshots of it); or"
        " choose another folder with EVORAG_DATA_DIR. If the catalogue is lost, import a backup into a new folder."
    )


class Cancelled(EvoRAGError):
    code = "cancelled"
    status = 499
    remedy = "Upload the file again if it was cancelled by mistake."


def is_for_want_of_room(error: BaseException | None) -> bool:
    """Tell whether a disk or quota that is full, or a file that may not grow, is at the bottom of an error."""
    seen: set[int] = set()
    # Errors may have each other as their cause.
    while error is not None and id(error) not in seen:
        if isinstance(error, DiskFull) or (isinstance(error, OSError) and error.errno in NO_ROOM):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False
