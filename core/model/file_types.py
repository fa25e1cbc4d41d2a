"""The one list of the types of files that are read, by kind; page, command line, API and documentation show it."""

from __future__ import annotations

from collections.abc import Mapping

KINDS: Mapping[str, tuple[str, ...]] = {
    "pdf": ("pdf",),
    "word": ("docx", "doc", "odt", "rtf"),
    "sheet": ("xlsx", "xls", "ods", "csv", "tsv"),
    "slides": ("pptx", "ppt", "odp"),
    "web": ("html", "htm", "gdoc"),
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
