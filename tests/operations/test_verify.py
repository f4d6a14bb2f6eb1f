from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from evidence import migrations
from evidence.configured import pipeline
from evidence.ingest import documents
from evidence.ingest.rebuild import build
from evidence.models import Collection, Document
from evidence.operations import trees
from evidence.operations.verify import verify as findings_of
from evidence.store import indexes
from tests.conftest import WordEmbedder
from tests.handbook import GATE, collection_of, page, take_in
from tests.operations.conftest import Sql

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("site")]

# Rights and counts hang on triggers and keys, which damage of a disk or of a careless hand does not ask.
UNASKED = "SET LOCAL session_replication_role = replica;"


def verify(*arguments: str) -> str:
    """What the command writes; that of a failing one ends with its error."""
    out = io.StringIO()
    try:
        call_command("verify", *arguments, verbosity=0, stdout=out)
    except CommandError as error:
        return f"{out.getvalue()}{error}\n" if error.returncode == 1 else ""
    return out.getvalue()


def test_a_whole_site_is_called_whole() -> None:
    """False alarms, after which nobody reads the true ones."""
    assert verify() == "Nothing is wrong.\n"


@pytest.mark.parametrize("unit", ["seed", "sentence", "block", "passage"])
@pytest.mark.parametrize("encoding", ["single", "shared"])
def test_indexes_of_every_kind_are_understood(unit: str, encoding: str) -> None:
    """A second index that is whole, and called broken."""
    build("second", model="words", unit=unit, encoding=encoding, context=False)
    assert verify() == "Nothing is wrong.\n"


def test_optional_policies_and_repeats_are_understood() -> None:
    """A collection whose switches make it look broken."""
    footer = {"Help": "Call 112 in an emergency."}
    pages = {f"{number}.html": page(f"Page {number}", About=f"It is number {number}.", **footer) for number in range(6)}
    collection = collection_of("Switched")
    collection.policies = ["definition", "reference"]
    collection.save()
    take_in(pages, "Switched")
    assert verify("Switched") == "Nothing is wrong.\n"


# Each kind of damage: what is done, what is said of it, and how many looks with --repair make it whole.
NEWEST = max(path.stem for path in Path(migrations.__path__[0]).glob("0*.py"))
DAMAGE = {
    "a sentence changed": (
        "UPDATE spire.node SET text = 'Never.' WHERE revision_id = {current} AND text LIKE '%eight%'",
        r"Handbook: gate.html (revision 2): its tree is not that of its bytes: 1 nodes differ, the first one at",
        1,
    ),
    "a sentence of an old revision changed": (
        "UPDATE spire.node SET text = 'Never.' WHERE revision_id = {old} AND text LIKE '%six each evening%'",
        "Handbook: gate.html (revision 1): its tree is not that of its bytes",
        1,
    ),
    "a path changed": (
        "UPDATE spire.node SET path = path || 'x'::ltree WHERE revision_id = {current} AND position = 9",
        "differ, the first one at",
        1,
    ),
    "a node gone": (
        "DELETE FROM spire.node WHERE revision_id = {current} AND position = 7",
        "its tree is not that of its bytes",
        1,
    ),
    "a tree gone": ("DELETE FROM spire.node WHERE revision_id = {old}", "its tree is missing", 1),
    "a seed gone": (
        "DELETE FROM spire.seed WHERE ctid IN (SELECT ctid FROM spire.seed WHERE revision_id = {current} LIMIT 1)",
        "its seeds are not those of its bytes (3 instead of 4, or others)",
        1,
    ),
    "a digest lost": (
        "UPDATE spire.seed SET digest = 'x' WHERE revision_id = {old}",
        "gate.html (revision 1): its seeds are not those of its bytes",
        1,
    ),
    "contexts gone": (
        "DELETE FROM spire.context WHERE revision_id = {current} AND number = 1",
        "the contexts of 2 of its seeds are not those that its policies find",
        1,
    ),
    "contexts of an old revision gone": (
        "DELETE FROM spire.context WHERE revision_id = {old} AND number = 1",
        "gate.html (revision 1): seeds of it have contexts that are not there",
        1,
    ),
    "vectors gone": (
        "DELETE FROM {vectors} WHERE revision_id = {current} AND ordinal > 1",
        "index default holds 2 vectors of it instead of 4",
        1,
    ),
    "vectors of other texts": (
        "UPDATE {vectors} SET hash = 'x' WHERE revision_id = {current} AND ordinal > 1",
        "2 of its vectors in index default are of other texts, places or contexts than it has",
        1,
    ),
    "vectors of other places": (
        "UPDATE {vectors} SET positions = '{{1}}' WHERE revision_id = {current}",
        "4 of its vectors in index default are of other texts",
        1,
    ),
    "vectors of zeros": (
        "UPDATE {vectors} SET embedding = array_fill(0, ARRAY[256])::halfvec WHERE revision_id = {current}",
        "4 vectors: vectors without length or direction in index default",
        2,
    ),
    "words gone": (
        "DELETE FROM spire.wording WHERE ctid IN (SELECT ctid FROM spire.wording WHERE revision_id = {current} LIMIT 1)",
        "full text knows 1 of its blocks otherwise than they are",
        1,
    ),
    "words changed": (
        "UPDATE spire.wording SET words = 'other' WHERE revision_id = {current}",
        "full text knows 2 of its blocks otherwise than they are",
        1,
    ),
    "words miscounted": (
        "UPDATE spire.word_count SET blocks = blocks + 1",
        "Handbook: the numbers of its words are not those of its documents",
        1,
    ),
    "lengths miscounted": (
        "UPDATE spire.wording_count SET length = length + 1",
        "Manual: the numbers of its words are not those of its documents",
        1,
    ),
    "rows of no revision": (
        f"{UNASKED} UPDATE spire.node SET revision_id = 99 WHERE revision_id = {{old}}",
        "spire.node, revision 99",
        2,
    ),
    "vectors of no revision": (
        f"{UNASKED} UPDATE {{vectors}} SET revision_id = 99 WHERE revision_id = {{current}}",
        ", revision 99, 4 rows: rows of a revision that is no more",
        2,
    ),
    "old words still searched": (
        "UPDATE spire.wording SET revision_id = {old} WHERE revision_id = {current}",
        "searched, although it is no current revision",
        2,
    ),
    "vectors in another collection": (
        "UPDATE {vectors} SET collection_id = collection_id + 1 WHERE revision_id = {current}",
        "Handbook: gate.html: found in",
        2,
    ),
    "words in another collection": (
        "UPDATE spire.wording SET collection_id = collection_id + 1 WHERE revision_id = {current}",
        "Handbook: gate.html: found in spire.wording by the readers of another collection than its own",
        2,
    ),
    "a current revision unset": (
        "UPDATE evidence_document SET current_id = NULL WHERE address = 'gate.html'",
        "Handbook: gate.html: its current revision is missing, so that nobody finds it",
        2,
    ),
    "a title changed": (
        "UPDATE evidence_revision SET title = 'Other' WHERE id = {old}",
        "its title, its language or the number of its sentences is not that of its bytes",
        0,
    ),
    "bytes changed": (
        "UPDATE evidence_revision SET content = 'x' WHERE id = {current}",
        "its bytes are not those that were received",
        0,
    ),
    "a table of vectors without its index": (
        "CREATE TABLE spire.embedding_77 (a integer)",
        "table spire.embedding_77: it belongs to no index",
        1,
    ),
    "an index without its table": (
        "DROP TABLE {vectors}",
        "is missing. Mend it with: manage.py index drop default, then manage.py index build default",
        0,
    ),
    "a column gone": (
        "ALTER TABLE {vectors} DROP COLUMN block",
        "schema spire: the columns of embedding_",
        0,
    ),
    "an index of SQL gone": ("DROP INDEX spire.node_path", "indexes or keys of node are missing: node_path", 0),
    "a key gone": (
        "SET CONSTRAINTS ALL IMMEDIATE; ALTER TABLE spire.seed DROP CONSTRAINT seed_revision_id_fkey",
        "indexes or keys of seed are missing: f 1",
        0,
    ),
    "an invalid index of SQL": (
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'spire.node_path'::regclass",
        "spire.node_path: this SQL index is not valid",
        1,
    ),
    "a constraint that was not checked": (
        "ALTER TABLE spire.index ADD CONSTRAINT positive CHECK (dimensions > 0) NOT VALID",
        "spire.index.positive: this constraint has not been checked",
        1,
    ),
    "a trigger switched off": (
        "SET CONSTRAINTS ALL IMMEDIATE; ALTER TABLE spire.wording DISABLE TRIGGER wording_insert",
        "spire.wording: a trigger of this table is switched off",
        1,
    ),
    "migrations that have not run": (
        f"DELETE FROM django_migrations WHERE app = 'evidence' AND name = '{NEWEST}'",
        f"migrations have not run: evidence.{NEWEST}. Mend it with: manage.py migrate",
        0,
    ),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_named_and_what_is_derived_is_made_again(kind: str, sql: Sql) -> None:
    """A fault that nobody learns of until an answer is wrong, or that is told without a way out."""
    statement, told, looks = DAMAGE[kind]
    for part in statement.split("; "):
        sql(part)
    said = verify()
    assert told in said
    assert "faults, as listed above" in said
    for _ in range(looks):
        verify("--repair")
    if looks:
        assert verify() == "Nothing is wrong.\n"


def test_repair_changes_no_path_and_no_revision() -> None:
    """Citations that lead elsewhere after a repair."""
    gate = Document.objects.get(address="gate.html")
    with pipeline() as connection:
        before = trees.read_node_rows(connection, gate.current_id or 0)
        connection.exec_driver_sql("DELETE FROM spire.node WHERE position > 5")
    verify("--repair")
    with pipeline() as connection:
        assert trees.read_node_rows(connection, gate.current_id or 0) == before
    assert gate.revisions.count() == 2


def test_what_an_older_parser_has_read_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """After an upgrade, a thousand faults where there is none."""
    for module in (trees, documents):
        monkeypatch.setattr(module, "parser_of", lambda name: "next")
    said = verify()
    assert "Handbook: 2 documents were read by an older parser. Do it with: manage.py ingest PATH" in said
    assert said.endswith("Nothing is wrong; what is listed above is left to do.\n")


def test_policies_that_were_switched_are_work_to_do() -> None:
    """A switch in the admin that makes a site look broken until all contexts are found anew."""
    take_in({"terms.html": page("Terms", Glossary="See <a href='#x'>the gate</a>.", X="<a id=x>It is blue.</a>")})
    Collection.objects.update(policies=["reference", "definition"])
    said = verify()
    assert "faults" not in said
    if said != "Nothing is wrong.\n":
        assert "manage.py index contexts handbook" in said
    call_command("index", "contexts", "handbook", verbosity=0, stdout=io.StringIO())
    assert verify("Handbook") == "Nothing is wrong.\n"


def test_an_interrupted_load_is_work_to_do() -> None:
    """A killed first ingest, after which every search is slow and nothing says so."""
    with pipeline() as connection:
        connection.exec_driver_sql(f"DROP INDEX spire.{indexes.get(connection).nearest}")
    assert "its HNSW index is not built. Do it with: manage.py index build default" in verify()
    call_command("index", "build", "default", verbosity=0, stdout=io.StringIO())
    assert verify() == "Nothing is wrong.\n"


def test_repeats_that_are_not_marked_are_work_to_do(sql: Sql) -> None:
    """A footer that answers every question, after a killed ingest."""
    sql("UPDATE {vectors} SET repeats = true WHERE revision_id = {current}")
    assert "4 seeds or vectors are searched, or not, against what other documents repeat" in verify()
    verify("--repair")
    assert verify() == "Nothing is wrong.\n"


def test_a_model_that_is_not_there_is_told_and_the_rest_is_looked_at(embedder: WordEmbedder, sql: Sql) -> None:
    """A look that ends at the first index of an old model."""
    embedder.fingerprint = "words-2"
    sql("DELETE FROM spire.node WHERE revision_id = {old}")
    said = verify()
    assert "index default: its vectors cannot be compared" in said
    assert "its tree is missing" in said


def test_only_the_trees_of_a_collection_or_a_sample_are_parsed() -> None:
    """A look at one collection that takes the night that all of them take."""
    seen: list[int] = []
    list(findings_of(collection=collection_of("Manual"), begin=seen.append))
    list(findings_of(sample=2, begin=seen.append))
    list(findings_of(begin=seen.append))
    assert seen == [1, 2, 4]


@pytest.mark.parametrize(
    ("arguments", "told"), [(["Other"], "there is no collection 'Other'"), (["--sample", "0"], "1 or more")]
)
def test_a_typing_error_is_told(arguments: list[str], told: str) -> None:
    """A traceback, or a look at nothing that ends well."""
    with pytest.raises(CommandError, match=told):
        call_command("verify", *arguments, verbosity=0)


def test_many_faults_of_a_kind_are_counted(monkeypatch: pytest.MonkeyPatch, sql: Sql) -> None:
    """A screen of ten thousand lines."""
    monkeypatch.setattr("evidence.operations.tables.SHOWN", 1)
    sql("UPDATE evidence_document SET current_id = NULL")
    assert "and 2 more: its current revision is missing" in verify()


def test_a_site_without_documents_is_whole(sql: Any) -> None:
    """A new site that is called broken."""
    Collection.objects.all().delete()
    assert verify() == "Nothing is wrong.\n"
    take_in({"gate.html": GATE})
    assert verify() == "Nothing is wrong.\n"
