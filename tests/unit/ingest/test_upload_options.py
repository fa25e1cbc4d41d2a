"""What people say about an upload is refused where it cannot be kept."""

from __future__ import annotations

from datetime import datetime

import pytest

from core.errors import InvalidInput
from core.ingest.upload_options import check_moment


@pytest.mark.parametrize("moment", ["9999-12-31T23:59:59-23:00", "0001-01-01T00:00:00+23:00", "2020-01-01T00:00:00Z"])
def test_a_moment_that_is_past_or_beyond_the_calendar_is_refused(moment: str) -> None:
    with pytest.raises(InvalidInput):
        check_moment(datetime.fromisoformat(moment))
