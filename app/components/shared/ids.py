"""The component ids that more than one module speaks of; each page keeps its own ids as ``<page>-<part>``."""

NOTICE = "notice"
"""Live region at the foot of the window; set with ``states.notify``."""

SHELL_PATH = "shell-path"
SCRIPT_TEXTS = "script-texts"
"""Holds the messages that scripts show."""

HOME_TICK = "home-tick"
HOME_EMPTY = "home-empty"
HOME_FIRST = "home-first"
HOME_STATE = "home-state"
HOME_QUESTION = "home-question"
HOME_LOAD_SAMPLE = "home-load-sample"

UPLOAD_TAGS = "upload-tags"
