"""Documents are found by what people call them, among those that are shown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import core
from tests.builders import add


def test_documents_are_found_by_title_and_name_and_only_while_shown(kb: core.KnowledgeBase) -> None:
    kb.add_text("travel_policy.md", "One.")
    add(kb, "旅費規程", "Two.")
    naming = kb.catalog.naming

    def keys(*names: str) -> dict[str, list[str]]:
        return {name: [each.doc_key for each in found] for name, found in naming.called(names).items()}

    both = keys("travel policy", "travel_policy.md", "旅費規程", "policy")
    assert both == {
        "travel policy": ["travel_policy.md"],
        "travel_policy.md": ["travel_policy.md"],
        "旅費規程": ["旅費規程.txt"],
    }
    assert naming.called([]) == {}
    kb.delete("travel_policy.md")
    assert keys("travel policy") == {}


def test_parts_of_names_are_literal(kb: core.KnowledgeBase) -> None:
    kb.add_text("100%_rule", "One.")
    add(kb, "1000 rules", "Two.")
    naming = kb.catalog.naming
    assert naming.holding("100%", title_only=True) == [kb.document("100%_rule.txt").id]
    assert len(naming.holding("RULE", title_only=False)) == 2
    assert naming.holding("_x", title_only=False) == []


def test_what_changed_is_listed_and_counted(kb: core.KnowledgeBase) -> None:
    for number in range(3):
        add(kb, f"n{number}", f"text {number}")
    now = datetime.now(UTC)
    changed, total = kb.catalog.naming.updated_between(now - timedelta(hours=1), None, 2)
    assert (len(changed), total) == (2, 3)
    assert kb.catalog.naming.updated_between(None, now - timedelta(hours=1), 2) == ([], 0)
    assert kb.catalog.naming.updated(each.doc_id for each in changed).keys() == {each.doc_id for each in changed}
