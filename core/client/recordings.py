"""Recordings on a server: what neurons did while they wrote, under the names of ``core.recordings.facade``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from core.client.http import Http, path_of, values
from core.client.reading import PAGE, saved
from core.errors import InvalidInput
from core.model import Recording, RecordingPart
from core.model.codec import from_dict

ALL = RecordingPart()

Several = list[Recording]


class RemoteRecordings:
    """The recordings of a server that one sees."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(self) -> Several:
        """Return the recordings, newest first."""
        found: Several = []
        before: str | None = None
        while True:
            page = self._http.get(path_of("recordings"), limit=PAGE, before=before)
            found += values(Recording, page["recordings"])
            before = page["next"]
            if before is None:
                return found

    def get(self, recording_id: str) -> Recording:
        """Raises: ``NotFound``."""
        return from_dict(Recording, self._http.get(path_of("recordings", recording_id)))

    def disk_bytes(self) -> int:
        """Return the size of all of them."""
        return int(self._http.get(path_of("recordings"), limit=1)["size_bytes"])

    def rename(self, recording_id: str, name: str) -> Recording:
        """Raises: ``NotFound``, ``InvalidInput``."""
        path = path_of("recordings", recording_id)
        return from_dict(Recording, self._http.call("PATCH", path, json={"name": name}, again=True).json())

    def delete(self, recording_id: str) -> None:
        """Remove a recording and its file. Raises: ``NotFound``."""
        self._http.call("DELETE", path_of("recordings", recording_id))

    def import_file(self, name: str, source: Path | BinaryIO) -> Recording:
        """Send a file of spikes. Raises: ``UnreadableRecording``, ``TooLarge``, ``QuotaExceeded``, ``DiskFull``."""
        if isinstance(source, Path):
            with source.open("rb") as stream:
                return self.import_file(name, stream)
        files = {"file": ("recording.pt", source)}
        return from_dict(
            Recording, self._http.call("POST", path_of("recordings"), files=files, data={"name": name}).json()
        )

    def write(self, recording_id: str, target: Path, form: str = "pt", part: RecordingPart = ALL) -> Path:
        """Write the file of a recording (``pt``), or its spikes as ``csv``, ``neo`` or ``nwb``, to a file.

        Raises: ``NotFound``; ``InvalidInput`` for a form that the server cannot write, or a file that cannot be.
        """
        named = ("file",) if form == "pt" else ("export",)
        params = {} if form == "pt" else {"form": form, **_params(part)}
        try:
            saved(self._http, path_of("recordings", recording_id, *named), target, **params)
        except OSError as error:
            raise InvalidInput(f"The file “{target.name}” cannot be written: {error.strerror}.") from error
        return target

    def tokens(self, recording_id: str) -> dict[str, Any]:
        """Return what the network read and wrote, and its populations."""
        return self._told(recording_id, "tokens")

    def summary(self, recording_id: str, part: RecordingPart = ALL) -> dict[str, Any]:
        """Return rates, intervals and the table of populations."""
        return self._told(recording_id, "summary", _params(part))

    def heat_map(self, recording_id: str) -> dict[str, Any]:
        """Return the rate of every layer at every token."""
        return self._told(recording_id, "heat-map")

    def spikes(
        self, recording_id: str, population: str, part: RecordingPart = ALL
    ) -> tuple[bytes, tuple[int, int, int]]:
        """Return the excitatory plane of bits and behind it the inhibitory one, and K, S and n."""
        params = {"population": population} | _span(part)
        path = path_of("recordings", recording_id, "spikes")
        response = self._http.call("GET", path, params=params, headers={"Accept": "*/*"})
        steps, tokens, neurons = map(int, response.headers["X-Shape"].split(","))
        return response.content, (steps, tokens, neurons)

    def membrane(self, recording_id: str, population: str, part: RecordingPart = ALL) -> dict[str, Any]:
        """Return the membrane potentials of the traced neurons with their thresholds."""
        return self._told(recording_id, "membrane", {"population": population} | _span(part))

    def compare(self, recording_id: str, other_id: str) -> dict[str, Any]:
        """Return two recordings side by side. Raises: ``InvalidInput`` where they are of different models."""
        return self._told(recording_id, "compare", {"with": other_id})

    def _told(self, recording_id: str, what: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        path = path_of("recordings", recording_id, what)
        return dict(self._http.call("GET", path, params=dict(params or {})).json())


def _span(part: RecordingPart) -> dict[str, Any]:
    return {"from": part.first} | ({} if part.end is None else {"to": part.end})


def _params(part: RecordingPart) -> dict[str, Any]:
    layer = {} if part.layer is None else {"layer": part.layer}
    return layer | ({"kind": part.kind} if part.kind else {}) | _span(part)
