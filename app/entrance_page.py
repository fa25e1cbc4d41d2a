"""The plain HTML of what is shown before the pages: it needs no script, and loads the files that are open to all."""

from __future__ import annotations

from markupsafe import Markup

from app.i18n import LANGUAGES, language, t
from app.security.public_paths import ASSETS, ICON, SCRIPT, STYLES

PAGE = Markup(
    """<!DOCTYPE html>
<html lang="{lang}" data-bs-theme="light">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>{title} · EvoRAG</title>
    <link rel="icon" type="image/svg+xml" href="{icon}">
    <script src="{script}"></script>
    {styles}
  </head>
  <body class="entrance">
    <main class="entrance-card">
      <p class="entrance-brand"><span class="entrance-mark" aria-hidden="true">E</span>EvoRAG</p>
      <h1 class="entrance-title">{title}</h1>
      {said}
      {content}
      {below}
    </main>
    <nav class="entrance-languages" aria-label="{languages_label}">{languages}</nav>
  </body>
</html>
"""
)
FORM = Markup(
    """<form method="post" action="{action}">
        <input type="hidden" name="next" value="{after}">
        {fields}
        <button class="btn {look} entrance-button" type="submit">{button}</button>
      </form>"""
)
STYLE = Markup('<link rel="stylesheet" href="{}">')
ERROR = Markup('<p class="entrance-said entrance-error" id="said" role="alert">{}</p>')
LANGUAGE = Markup('<a href="{}" lang="{}" hreflang="{}"{}>{}</a>')
HERE = Markup(' aria-current="true"')
EMPTY = Markup("")


def entrance_page(title: str, content: Markup, address: str, *, said: Markup = EMPTY, below: Markup = EMPTY) -> str:
    """Return a page; ``address`` is its own, to which the links to other languages lead."""
    return PAGE.format(
        lang=language(),
        title=title,
        icon=ASSETS + ICON,
        script=ASSETS + SCRIPT,
        styles=Markup("\n    ").join(STYLE.format(ASSETS + style) for style in STYLES),
        said=said,
        content=content,
        below=below,
        languages_label=t("shell.language"),
        languages=Markup(" ").join(_language_link(code, word, address) for code, word in LANGUAGES.items()),
    )


def entrance_form(action: str, after: str, fields: Markup, button: str, look: str = "btn-primary") -> Markup:
    """Return a form that leads to ``after`` in the end."""
    return FORM.format(action=action, after=after, fields=fields, button=button, look=look)


def error_said(text: str) -> Markup:
    """Return an error as the page says it."""
    return ERROR.format(text)


def _language_link(code: str, word: str, address: str) -> Markup:
    address += ("&" if "?" in address else "?") + f"lang={code}"
    return LANGUAGE.format(address, code, code, HERE if code == language() else EMPTY, word)
