"""The application: pages, REST routes and guards around one knowledge base."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import dash
import flask
from dash import Dash
from dash._pages import _path_to_page
from markupsafe import escape

from app import ASSETS, context, i18n, pages
from app.api import register_api
from app.api.documents.receiving import UploadRequest
from app.components.shared.states import report_callback_error
from app.components.shell.shell import shell, watch_navigation
from app.script_modules import ScriptModules, scripts_of
from app.security import protect
from app.set_up import set_up
from app.sign_in import entrance
from app.static_files import StaticFiles, without_grid, without_table

if TYPE_CHECKING:
    from core import EvoRAG, KnowledgeBase

HEAD_FILES = ("vendor/bootstrap/bootstrap.min.css", "vendor/bootstrap-icons/icons.css")
DASH_LOADING = "Loading..."
"""What Dash shows until its scripts have run."""
LOOKED_INTO = ("numpy", "pandas", "PIL.Image")
"""What Plotly's encoder looks into wherever it has been imported; it fails on what another thread is just importing."""
WINDOW = """<!DOCTYPE html>
<html lang="{lang}" data-bs-theme="light">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>{title}</title>
    <link rel="icon" type="image/svg+xml" href="{icon}">
    <meta name="evorag-grid" content="{grid}">
    <meta name="evorag-pages" content="{pages}">
    <script src="{boot}" data-incomplete="{incomplete}" data-slow="{slow}" data-again="{again}"></script>
    {links}
    {css}
    {modules}
  </head>
  <body>
    {app_entry}
    <noscript><p class="noscript">{noscript}</p></noscript>
    <footer>{config}{scripts}{renderer}</footer>
  </body>
</html>"""


class Window(Dash):
    """Dash with an index page in the language of the request; requests that come first together wait for its set-up."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self._setting_up = threading.Lock()
        self.static_files = StaticFiles(ASSETS)
        self.script_modules = ScriptModules(ASSETS / "modules")
        super().__init__(*given, **named)

    def _setup_server(self) -> None:
        # Dash lets the second request go on while the first is still setting up what both need.
        with self._setting_up:
            Dash._setup_server(self)

    def index(self, *given: Any, **named: Any) -> Any:
        """Return the window, with status 404 where no page is at the address; the window then says so."""
        html = Dash.index(self, *given, **named)
        return html if _path_to_page(self.strip_relative_path(flask.request.path) or "")[0] else (html, 404)

    def _tab_title(self) -> str:
        """The title of the page at the address, until its scripts set it again."""
        shown, values = self._page()
        return str(shown["title"](**values))

    def _page(self) -> tuple[Mapping[str, Any], Mapping[str, str]]:
        """The page at the address, and what its path names; the page that says so where there is none."""
        found, values = _path_to_page(self.strip_relative_path(flask.request.path) or "")
        return found or dash.page_registry["app.pages.not_found_404"], values or {}

    def interpolate_index(
        self,
        metas: str = "",
        title: str = "",
        css: str = "",
        config: str = "",
        scripts: str = "",
        app_entry: str = "",
        favicon: str = "",
        renderer: str = "",
    ) -> str:
        """Return the HTML that the browser loads first; the theme is set before anything is drawn."""
        app_entry = app_entry.replace(DASH_LOADING, i18n.t("state.loading_page"))
        scripts, grid = without_grid(without_table(scripts))
        modules, main = self.script_modules.tags(self._page()[0])
        links = "\n    ".join(
            f'<link rel="stylesheet" href="{self.static_files.address(name)}">' for name in HEAD_FILES
        )
        return WINDOW.format(
            lang=i18n.language(),
            icon=self.static_files.address("head/evorag.svg"),
            boot=self.static_files.address("head/boot.js"),
            links=links,
            grid=grid,
            pages=escape(scripts_of(dash.page_registry.values())),
            modules=modules,
            incomplete=escape(i18n.t("connection.incomplete")),
            slow=escape(i18n.t("connection.slow_page")),
            again=escape(i18n.t("connection.again")),
            noscript=i18n.t("shell.noscript"),
            title=escape(self._tab_title()),
            css=self.static_files.packed(css),
            app_entry=app_entry,
            config=config,
            scripts=scripts,
            renderer=main,
        )


def register_pages() -> None:
    """Run every module of ``app.pages`` anew, so that its page and its callbacks belong to the newest application.

    Dash's own search of a folder runs modules that ``sys.modules`` does not know yet, which dataclasses cannot bear.
    """
    dash.page_registry.clear()
    for found in pkgutil.walk_packages(pages.__path__, f"{pages.__name__}."):
        if found.ispkg or found.name.endswith((".form", ".view")):
            continue
        known = sys.modules.get(found.name)
        module = importlib.reload(known) if known else importlib.import_module(found.name)
        if found.name in dash.page_registry:
            dash.page_registry[found.name]["layout"] = module.layout


def create_app(kb: KnowledgeBase, rag: EvoRAG | None = None) -> Dash:
    """Return the application over ``kb``; its WSGI callable is ``.server``.

    ``rag`` answers the questions; without one, an extractive ``core.EvoRAG`` over ``kb`` is made.
    """
    for name in LOOKED_INTO:
        importlib.import_module(name)
    if rag is None:
        from core import EvoRAG

        rag = EvoRAG(kb=kb)
    app = Window(
        "app",
        title="EvoRAG",
        update_title=None,
        use_pages=True,
        pages_folder="",
        assets_folder=str(ASSETS),
        assets_path_ignore=["vendor", "head", "modules"],
        include_pages_meta=False,
        suppress_callback_exceptions=True,
        on_error=report_callback_error,
    )
    app.server.config[context.KB_KEY] = kb
    app.server.config[context.RAG_KEY] = rag
    app.server.request_class = UploadRequest
    register_pages()
    app.layout = shell
    watch_navigation(app)
    register_api(app.server)
    app.server.register_blueprint(entrance)
    app.server.register_blueprint(set_up)
    i18n.register(app.server)
    protect(app, kb)
    app.static_files.register(app.server)
    app.script_modules.register(app.server)
    return app
