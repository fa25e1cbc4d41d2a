"""The one list of the types of files that are read, by kind; page, command line, API and documentation show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

KINDS: Mapping[str, tuple[str, ...]] = {
    "pdf": ("pdf",),
    "word": ("docx", "doc", "odt", "rtf", "docm", "dotx", "dotm", "ott"),
    "sheet": ("xlsx", "xls", "ods", "csv", "tsv", "xlsm", "xltx", "xltm", "ots"),
    "slides": ("pptx", "ppt", "odp", "ppsx", "pps", "pptm", "ppsm", "potx", "potm", "otp"),
    "web": ("html", "htm", "xhtml", "gdoc"),
    "markdown": ("md", "markdown"),
    "text": ("txt", "log"),
    "book": ("epub",),
    "image": ("png", "jpg", "jpeg", "tif", "tiff", "webp"),
    "mail": ("eml", "msg"),
    "data": ("json", "jsonl", "xml"),
    "code": (
        "py", "js", "mjs", "cjs", "ts", "jsx", "tsx", "css", "scss", "java", "kt", "scala", "groovy", "c", "h", "cc",
        "cpp", "cxx", "hpp", "cs", "go", "rs", "swift", "rb", "php", "pl", "pm", "lua", "r", "jl", "hs", "ml", "ex",
        "exs", "erl", "clj", "lisp", "el", "vb", "pas", "f90", "sql", "sh", "bash", "zsh", "ps1", "bat", "cmd", "vim",
        "cmake", "proto", "graphql", "tf", "yaml", "yml", "toml", "ini", "cfg", "conf", "properties", "diff", "patch",
    ),
}  # fmt: skip
"""The extensions of each kind, without dots, those that people meet most first."""

READ_AS: Mapping[str, str] = {
    **dict.fromkeys(("docm", "dotx", "dotm"), "docx"),
    **dict.fromkeys(("xlsm", "xltx", "xltm"), "xlsx"),
    **dict.fromkeys(("ppsx", "pptm", "ppsm", "potx", "potm"), "pptx"),
    **{"pps": "ppt", "ott": "odt", "ots": "ods", "otp": "odp", "xhtml": "html"},
}
"""Templates, shows and documents with macros: kept as the type that their bytes are in, whose macros nobody runs."""
EXTENSIONS = tuple(extension for extensions in KINDS.values() for extension in extensions)
KIND_OF = {extension: kind for kind, extensions in KINDS.items() for extension in extensions}
CALLED_BY_STEM = tuple(extension for extension in EXTENSIONS if KIND_OF[extension] not in ("code", "data"))
"""Types of documents that people call by their names without the extension: “the handbook”, hardly “the main”."""
ARCHIVES: Mapping[str, str] = {
    "zip": "zip",
    "tar": "tar",
    "tar.gz": "gz",
    "tgz": "gz",
    "tar.bz2": "bz2",
    "tbz2": "bz2",
    "tar.xz": "xz",
    "txz": "xz",
}
"""How names of archives end whose members become documents, and how each is packed."""


def kept_as(extensions: Iterable[str]) -> tuple[str, ...]:
    """Return the types as which documents of these extensions are kept, each once."""
    return tuple(dict.fromkeys(READ_AS.get(extension, extension) for extension in extensions))
