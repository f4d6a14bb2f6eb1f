"""What repeats across the documents of a collection, and what glossaries define."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import BYTEA

from evidence.store.schema import EMBEDDING_TABLE, SCHEMA

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "seed",
        sa.Column("digest", BYTEA, comment="of what it says: equal in every document that says the same"),
        schema=SCHEMA,
    )
    op.add_column(
        "seed",
        sa.Column(
            "repeats",
            sa.Integer,
            nullable=False,
            server_default="0",
            comment="documents of the collection that say the same, where it is not searched because of that",
        ),
        schema=SCHEMA,
    )
    op.create_index("seed_digest", "seed", ["digest"], schema=SCHEMA, postgresql_where=sa.text("digest IS NOT NULL"))
    for table in _embedding_tables():
        op.add_column(
            table,
            sa.Column(
                "repeats",
                sa.Boolean,
                nullable=False,
                server_default=sa.false(),
                comment="says what most documents of its collection say, and is searched in another",
            ),
            schema=SCHEMA,
        )
    op.create_table(
        "definition",
        sa.Column(
            "revision_id", sa.BigInteger, sa.ForeignKey("evidence_revision.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("term", sa.Text, nullable=False, comment="as it is looked up"),
        sa.Column("position", sa.Integer, nullable=False, comment="of the node that defines it"),
        sa.PrimaryKeyConstraint("revision_id", "term", "position"),
        schema=SCHEMA,
        comment="what glossaries define; a collection's other documents use it",
    )


def downgrade() -> None:
    op.drop_table("definition", schema=SCHEMA)
    for table in _embedding_tables():
        op.drop_column(table, "repeats", schema=SCHEMA)
    op.drop_index("seed_digest", "seed", schema=SCHEMA)
    op.drop_column("seed", "repeats", schema=SCHEMA)
    op.drop_column("seed", "digest", schema=SCHEMA)


def _embedding_tables() -> list[str]:
    names = sa.inspect(op.get_bind()).get_table_names(schema=SCHEMA)
    return [name for name in names if name.startswith(EMBEDDING_TABLE)]
