"""The component ids that more than one module speaks of; each page keeps its own ids as ``<page>-<part>``."""

NOTICE = "notice"
"""Live region at the foot of the window; set with ``states.notify``."""

SHELL_PATH = "shell-path"
SCRIPT_TEXTS = "script-texts"
"""Holds the messages that scripts show."""

LOAD_SAMPLE = "load-sample"
"""Loads the sample documents, on the start page and beside uploads."""

UPLOAD_TAGS = "upload-tags"
