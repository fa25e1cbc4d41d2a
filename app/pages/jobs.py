"""jobs."""

import dash

from app.components.frame import named_page, tab_title
from app.components.states import shows_errors

dash.register_page(__name__, path="/jobs", title=tab_title("jobs.title"))


@shows_errors
def layout(**_):
    return named_page("jobs", "soon")
