from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evidence.bench import kills, load
from evidence.bench.journal import Answered
from evidence.bench.load import Phase, Plan
from evidence.bench.people import Visit
from evidence.bench.site import Lost, Site, ended, scratch_folder

PAGES = 8


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, list[str]]]:
    """A site after a run, and what the run has said."""
    pages = tmp_path_factory.mktemp("pages")
    for number in range(PAGES):
        (pages / f"{number}.html").write_bytes(kills.page(number, 1))
    with scratch_folder("load") as folder:
        made = Site(folder, environment={"SPIRE_LOG": "json", "SPIRE_FILTER": "none"})
        with ended(made):
            # A job of one page is killed as soon as it was asked for, and of more only if it lasts.
            plan = Plan(documents=PAGES, changed=1, users=3, seconds=3, pause=0.5, kills=1)
            yield made, list(load.run(made, [pages], plan))


def test_people_ask_while_a_page_is_taken_in_again_and_the_worker_dies(loaded: tuple[Site, list[str]]) -> None:
    """A bench that fails by itself, or that says nothing of what it was for. (`manage.py bench load` does it at length.)"""
    _, lines = loaded
    assert "worker killed at 0 of 1" in lines
    assert lines[-1].endswith("nothing lost, nothing doubled; verify clean")
    table = {line.split("  ")[0]: line.split()[-2:] for line in lines}
    assert all(int(count) > 0 for count in table["questions"])
    assert any(line.startswith("memory at most: web ") for line in lines)


def test_a_page_that_is_not_as_it_was_sent_is_lost(loaded: tuple[Site, list[str]]) -> None:
    """A run that says that nothing is lost, whatever was."""
    made, _ = loaded
    page = made.pages / "0.html"
    kept = page.read_bytes()
    page.write_bytes(kept + b"<p>Not sent.</p>")
    with pytest.raises(Lost, match="of 8 pages, 7 are there as they are now"):
        load.check(made, [])
    page.write_bytes(kept)


def test_a_document_that_is_gone_is_lost(loaded: tuple[Site, list[str]]) -> None:
    """The same, of a page that is not there at all."""
    made, _ = loaded
    with made.connect() as connection:
        connection.execute("UPDATE evidence_document SET address = 'other.html' WHERE address = '1.html'")
    with pytest.raises(Lost, match="of 8 pages, 7 are there as they are now"):
        load.check(made, [])
    with made.connect() as connection:
        connection.execute("UPDATE evidence_document SET address = '1.html' WHERE address = 'other.html'")


def test_a_revision_that_is_there_twice_is_found(loaded: tuple[Site, list[str]]) -> None:
    """Two workers that both did the job."""
    made, _ = loaded
    columns = "document_id, content, content_hash, charset, format, parser, title, language, sentences, received"
    with made.connect() as connection:
        connection.execute(
            f"INSERT INTO evidence_revision (number, {columns}) SELECT number + 1, {columns} FROM evidence_revision"
            " WHERE document_id = (SELECT id FROM evidence_document WHERE address = '2.html')"
        )
    with pytest.raises(Lost, match="1 revisions are there twice"):
        load.check(made, [])
    with made.connect() as connection:
        connection.execute(
            "DELETE FROM evidence_revision WHERE number = 2"
            " AND document_id = (SELECT id FROM evidence_document WHERE address = '2.html')"
        )


def test_an_error_on_any_page_fails_the_run(tmp_path: Path) -> None:
    """Five hundred good answers that hide a bad one."""
    visits = [Visit("question", 0.0, 0.1), Visit("question", 1.0, 0.1, "question: is answered by 500")] * 2
    with pytest.raises(Lost, match="(?s)2 of 4 pages were errors:.*2 × question: is answered by 500"):
        load.check(Site(tmp_path), visits)


def test_a_fault_in_the_log_fails_the_run(tmp_path: Path) -> None:
    """A job that was tried again until it went well, over a fault that everybody meets later."""
    (tmp_path / "serve.log").write_text('{"level": "error", "message": "it broke", "traceback": "Traceback …"}\n')
    with pytest.raises(Lost, match="(?s)1 faults, the first:.*it broke"):
        load.check(Site(tmp_path), [])


def test_too_few_pages_are_told_before_anything_is_done(tmp_path: Path) -> None:
    """A load that is not the one that was asked for."""
    (tmp_path / "a.html").write_text("<h2>A</h2><p>One.</p>")
    with pytest.raises(Lost, match="there are 1 pages of HTML: give more folders, or --documents 1"):
        load.fill(Site(tmp_path / "site"), [tmp_path], Plan(documents=2, changed=1))


def test_the_table_tells_questions_from_other_pages() -> None:
    """Quick pages that make slow answers look quick."""
    visits = [Visit("question", 0, 0.2), Visit("question", 1, 0.4), Visit("document", 2, 0.01)]
    answered = [Answered("/", 1.0, 150.0, {"search": 30.0})]
    table = load.table_of(Phase("alone", 0, 10, visits, answered), Phase("beside an ingest", 10, 20))
    rows = {name.strip(): cells for name, *cells in table.rows}
    assert rows["questions"] == ["2", "0"]
    assert rows["a second"] == ["0.2", "0.0"]
    assert [cells for name, *cells in table.rows if name == "  p50, ms"] == [["400", "0"], ["10", "0"]]
    assert rows["search"] == ["30", "0"]
