"""The pipeline's tables: everything here is derived from the bytes of revisions, and can be built again."""

from __future__ import annotations

from functools import lru_cache

import sqlalchemy as sa
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA, JSON, TSVECTOR
from sqlalchemy.types import UserDefinedType

SCHEMA = "spire"

metadata = sa.MetaData(schema=SCHEMA)


class LTREE(UserDefinedType[str]):
    """PostgreSQL's type for paths: labels joined by dots."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        return "ltree"


# Django's tables, as far as the pipeline's refer to them.
revision = sa.Table(
    "evidence_revision",
    sa.MetaData(),
    sa.Column("id", sa.BigInteger, primary_key=True),
    sa.Column("document_id", sa.BigInteger),
    sa.Column("number", sa.Integer),
    sa.Column("title", sa.Text),
    sa.Column("language", sa.Text),
    sa.Column("format", sa.Text),
    sa.Column("received", sa.DateTime(timezone=True)),
)
document = sa.Table(
    "evidence_document",
    sa.MetaData(),
    sa.Column("id", sa.BigInteger, primary_key=True),
    sa.Column("collection_id", sa.BigInteger),
    sa.Column("address", sa.Text),
    sa.Column("current_id", sa.BigInteger),
)
collection = sa.Table(
    "evidence_collection",
    sa.MetaData(),
    sa.Column("id", sa.BigInteger, primary_key=True),
    sa.Column("name", sa.Text),
)


def _of_revision() -> sa.Column[int]:
    """Whatever is derived from a revision goes with it."""
    return sa.Column("revision_id", sa.ForeignKey(revision.c.id, ondelete="CASCADE"), nullable=False)


node = sa.Table(
    "node",
    metadata,
    _of_revision(),
    sa.Column("position", sa.Integer, nullable=False, comment="pre-order; document order is the order of positions"),
    sa.Column("last", sa.Integer, nullable=False, comment="position of the last descendant: down is a range"),
    sa.Column("parent", sa.Integer, nullable=False, comment="position of the parent, -1 for the root"),
    sa.Column("child", sa.Integer, nullable=False, comment="index among the parent's children"),
    sa.Column("path", LTREE, nullable=False, comment="revision, then child indices: unique in the whole database"),
    sa.Column("tag", sa.Text, nullable=False),
    sa.Column("attributes", JSON, comment="in the order of the page, which jsonb would lose; NULL when there are none"),
    sa.Column("text", sa.Text, comment="of a sentence"),
    sa.Column("markup", sa.Text, comment="of a sentence; NULL when it is the text, escaped"),
    sa.Column("tokens", sa.Integer, nullable=False, comment="that it and all below add to an excerpt"),
    sa.PrimaryKeyConstraint("revision_id", "position"),
    sa.Index("node_path", "path", unique=True),
    comment="the trees of revisions",
)

context = sa.Table(
    "context",
    metadata,
    _of_revision(),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("policies", ARRAY(sa.Text), nullable=False, comment="the policy that found each position"),
    sa.Column("positions", ARRAY(sa.Integer), nullable=False),
    sa.Column("tokens", ARRAY(sa.Integer), nullable=False, comment="of the subtree at each position"),
    sa.PrimaryKeyConstraint("revision_id", "number"),
    comment="the distinct global contexts of a revision, as places and never as text",
)

seed = sa.Table(
    "seed",
    metadata,
    _of_revision(),
    sa.Column("position", sa.Integer, nullable=False),
    # No foreign key: with one, deleting a revision looks for the seeds of each of its contexts, among all its seeds.
    sa.Column("context", sa.Integer, nullable=False, comment="number in the context table"),
    sa.Column("digest", BYTEA, comment="of what it says: equal in every document that says the same"),
    sa.Column(
        "repeats",
        sa.Integer,
        nullable=False,
        server_default="0",
        comment="documents of the collection that say the same, where it is not searched because of that",
    ),
    sa.PrimaryKeyConstraint("revision_id", "position"),
    sa.Index("seed_digest", "digest", postgresql_where=sa.text("digest IS NOT NULL")),
    comment="the units of retrieval of a revision: sentences of running text, and rows of tables",
)

definition = sa.Table(
    "definition",
    metadata,
    _of_revision(),
    sa.Column("term", sa.Text, nullable=False, comment="as it is looked up"),
    sa.Column("position", sa.Integer, nullable=False, comment="of the node that defines it"),
    sa.PrimaryKeyConstraint("revision_id", "term", "position"),
    comment="what glossaries define; a collection's other documents use it",
)

wording = sa.Table(
    "wording",
    metadata,
    _of_revision(),
    sa.Column("position", sa.Integer, nullable=False, comment="of the block: a paragraph, an item, a row"),
    sa.Column("collection_id", sa.BigInteger, nullable=False),
    sa.Column("configuration", sa.Text, nullable=False, comment="of text search, by the document's language"),
    sa.Column("length", sa.Integer, nullable=False, comment="in words, those of its context included"),
    sa.Column("words", TSVECTOR, nullable=False, comment="its own, weight A, and those of its context, weight D"),
    sa.PrimaryKeyConstraint("revision_id", "position"),
    # Without a list of rows that still wait for the index, which every search would have to read through.
    sa.Index("wording_words", "words", postgresql_using="gin", postgresql_with={"fastupdate": "off"}),
    comment="what full text searches: the blocks of current revisions",
)

# Triggers on wording add to these two: a row for each change, so that writers never wait for each other. The number of a
# word is the sum of its rows, which evidence.store.wording.gather makes few again.
word_count = sa.Table(
    "word_count",
    metadata,
    sa.Column("collection_id", sa.ForeignKey(collection.c.id, ondelete="CASCADE"), nullable=False),
    sa.Column("lexeme", sa.Text, nullable=False),
    sa.Column("blocks", sa.Integer, nullable=False, comment="that hold it, more or fewer than before"),
    sa.Index("word_count_lexeme", "collection_id", "lexeme", postgresql_include=["blocks"]),
    comment="in how many blocks of a collection each word stands",
)
wording_count = sa.Table(
    "wording_count",
    metadata,
    sa.Column("collection_id", sa.ForeignKey(collection.c.id, ondelete="CASCADE"), nullable=False),
    sa.Column("configuration", sa.Text, nullable=False),
    sa.Column("blocks", sa.Integer, nullable=False),
    sa.Column("length", sa.BigInteger, nullable=False, comment="of all these blocks, in words"),
    sa.Index("wording_count_collection", "collection_id"),
    comment="how many blocks a collection has, and how long they are",
)

index = sa.Table(
    "index",
    metadata,
    sa.Column("id", sa.Integer, sa.Identity(), primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("model", sa.Text, nullable=False, comment="as a person names it"),
    sa.Column("fingerprint", sa.Text, nullable=False, comment="of the model's weights and how they are run"),
    sa.Column("dimensions", sa.Integer, nullable=False),
    sa.Column("unit", sa.Text, nullable=False),
    sa.Column("encoding", sa.Text, nullable=False),
    sa.Column("context", sa.Boolean, nullable=False),
    sa.Column("complete", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("is_default", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("created", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
    sa.UniqueConstraint("fingerprint", "unit", "encoding", "context", name="index_identity"),
    sa.CheckConstraint("unit in ('seed', 'sentence', 'block', 'passage')", name="index_unit"),
    sa.CheckConstraint("encoding in ('single', 'shared')", name="index_encoding"),
    sa.CheckConstraint("complete or not is_default", name="index_default_is_complete"),
    sa.Index("index_one_default", "is_default", unique=True, postgresql_where=sa.text("is_default")),
    comment="the ways to embed that live side by side; each has a table embedding_<id>",
)

EMBEDDING_TABLE = "embedding_"


# The same object each time, so that SQLAlchemy knows the statements on it again and does not compile them anew.
@lru_cache(maxsize=64)
def embedding_table(index_id: int, dimensions: int) -> sa.Table:
    """The table of one index: a row per unit of each *current* revision. Not in ``metadata``: it comes and goes.

    The HNSW index on it is made by ``evidence.store.indexes.end_load``.
    """
    name = f"{EMBEDDING_TABLE}{index_id}"
    return sa.Table(
        name,
        sa.MetaData(schema=SCHEMA),
        _of_revision(),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.Column("collection_id", sa.BigInteger, nullable=False, comment="so that rights are part of the search"),
        sa.Column("positions", ARRAY(sa.Integer), nullable=False, comment="the unit's own nodes"),
        sa.Column("block", sa.Integer, comment="position of its block in the wording table"),
        sa.Column("context", sa.Integer, comment="number in the context table"),
        sa.Column("tokens", sa.Integer, nullable=False, comment="of the unit itself"),
        sa.Column(
            "repeats",
            sa.Boolean,
            nullable=False,
            server_default=sa.false(),
            comment="says what most documents of its collection say, and is searched in another",
        ),
        sa.Column(
            "hash", BYTEA, nullable=False, comment="of all that the model was given: what is known is not embedded"
        ),
        sa.Column("embedding", HALFVEC(dimensions), nullable=False),
        sa.PrimaryKeyConstraint("revision_id", "ordinal"),
        sa.Index(f"{name}_hash", "hash"),
        sa.Index(f"{name}_collection", "collection_id"),
        sa.Index(f"{name}_block", "revision_id", "block"),
    )
