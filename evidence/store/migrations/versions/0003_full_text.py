"""Full text: the words of blocks, and how many blocks hold each.

What was taken in before is found by its words once ``manage.py index build NAME`` has run; by vectors it is found before.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TSVECTOR

from evidence.store.schema import EMBEDDING_TABLE, SCHEMA

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

COUNT = f"""
CREATE FUNCTION {SCHEMA}.count_words() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    sign integer := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
    INSERT INTO {SCHEMA}.word_count (collection_id, lexeme, blocks)
    SELECT collection_id, lexeme, sign * count(*)
    FROM changed CROSS JOIN LATERAL unnest(tsvector_to_array(words)) AS lexeme
    GROUP BY collection_id, lexeme;
    INSERT INTO {SCHEMA}.wording_count (collection_id, configuration, blocks, length)
    SELECT collection_id, configuration, sign * count(*), sign * sum(length)
    FROM changed
    GROUP BY collection_id, configuration;
    RETURN NULL;
END
$$
"""  # noqa: S608


def upgrade() -> None:
    op.create_table(
        "wording",
        sa.Column(
            "revision_id", sa.BigInteger, sa.ForeignKey("evidence_revision.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("position", sa.Integer, nullable=False, comment="of the block: a paragraph, an item, a row"),
        sa.Column("collection_id", sa.BigInteger, nullable=False),
        sa.Column("configuration", sa.Text, nullable=False, comment="of text search, by the document's language"),
        sa.Column("length", sa.Integer, nullable=False, comment="in words, those of its context included"),
        sa.Column("words", TSVECTOR, nullable=False, comment="its own, weight A, and those of its context, weight D"),
        sa.PrimaryKeyConstraint("revision_id", "position"),
        schema=SCHEMA,
        comment="what full text searches: the blocks of current revisions",
    )
    op.create_index(
        "wording_words",
        "wording",
        ["words"],
        schema=SCHEMA,
        postgresql_using="gin",
        postgresql_with={"fastupdate": "off"},
    )
    collection = sa.ForeignKey("evidence_collection.id", ondelete="CASCADE")
    op.create_table(
        "word_count",
        sa.Column("collection_id", sa.BigInteger, collection, nullable=False),
        sa.Column("lexeme", sa.Text, nullable=False),
        sa.Column("blocks", sa.Integer, nullable=False, comment="that hold it, more or fewer than before"),
        schema=SCHEMA,
        comment="in how many blocks of a collection each word stands",
    )
    op.create_index(
        "word_count_lexeme",
        "word_count",
        ["collection_id", "lexeme"],
        schema=SCHEMA,
        postgresql_include=["blocks"],
    )
    collection = sa.ForeignKey("evidence_collection.id", ondelete="CASCADE")
    op.create_table(
        "wording_count",
        sa.Column("collection_id", sa.BigInteger, collection, nullable=False),
        sa.Column("configuration", sa.Text, nullable=False),
        sa.Column("blocks", sa.Integer, nullable=False),
        sa.Column("length", sa.BigInteger, nullable=False, comment="of all these blocks, in words"),
        schema=SCHEMA,
        comment="how many blocks a collection has, and how long they are",
    )
    op.create_index("wording_count_collection", "wording_count", ["collection_id"], schema=SCHEMA)
    op.execute(COUNT)
    # Also a cascade fires these. Rows are never updated: a revision's wording is deleted and written.
    for action, rows in (("INSERT", "NEW"), ("DELETE", "OLD")):
        op.execute(
            f"CREATE TRIGGER wording_{action.lower()} AFTER {action} ON {SCHEMA}.wording"
            f" REFERENCING {rows} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION {SCHEMA}.count_words()"
        )
    for table in _embedding_tables():
        op.add_column(
            table,
            sa.Column("block", sa.Integer, comment="position of its block in the wording table"),
            schema=SCHEMA,
        )
        op.create_index(f"{table}_block", table, ["revision_id", "block"], schema=SCHEMA)


def downgrade() -> None:
    for table in _embedding_tables():
        op.drop_index(f"{table}_block", table, schema=SCHEMA)
        op.drop_column(table, "block", schema=SCHEMA)
    op.drop_table("wording", schema=SCHEMA)
    op.execute(f"DROP FUNCTION {SCHEMA}.count_words()")
    op.drop_table("wording_count", schema=SCHEMA)
    op.drop_table("word_count", schema=SCHEMA)


def _embedding_tables() -> list[str]:
    names = sa.inspect(op.get_bind()).get_table_names(schema=SCHEMA)
    return [name for name in names if name.startswith(EMBEDDING_TABLE)]
