"""The component ids that more than one module speaks of; each page keeps its own ids as ``<page>-<part>``."""

NOTICE = "notice"
"""Live region at the foot of the window; set with ``states.notify``."""

SHELL_PATH = "shell-path"

HOME_TICK = "home-tick"
HOME_STATE = "home-state"
HOME_LOAD_SAMPLE = "home-load-sample"
HOME_SAMPLE_RESULT = "home-sample-result"
