"""Trees, contexts, seeds and the list of indexes."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY, JSON

from evidence.store.requirements import create_extensions
from evidence.store.schema import EMBEDDING_TABLE, LTREE, SCHEMA

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    driver: Any = op.get_bind().connection.driver_connection
    create_extensions(driver)
    of_revision = "evidence_revision.id"
    op.create_table(
        "node",
        sa.Column("revision_id", sa.BigInteger, sa.ForeignKey(of_revision, ondelete="CASCADE"), nullable=False),
        sa.Column(
            "position", sa.Integer, nullable=False, comment="pre-order; document order is the order of positions"
        ),
        sa.Column("last", sa.Integer, nullable=False, comment="position of the last descendant: down is a range"),
        sa.Column("parent", sa.Integer, nullable=False, comment="position of the parent, -1 for the root"),
        sa.Column("child", sa.Integer, nullable=False, comment="index among the parent's children"),
        sa.Column("path", LTREE, nullable=False, comment="revision, then child indices: unique in the whole database"),
        sa.Column("tag", sa.Text, nullable=False),
        sa.Column(
            "attributes",
            JSON,
            comment="in the order of the page, which jsonb would lose; NULL when there are none",
        ),
        sa.Column("text", sa.Text, comment="of a sentence"),
        sa.Column("markup", sa.Text, comment="of a sentence; NULL when it is the text, escaped"),
        sa.Column("tokens", sa.Integer, nullable=False, comment="that it and all below add to an excerpt"),
        sa.PrimaryKeyConstraint("revision_id", "position"),
        schema=SCHEMA,
        comment="the trees of revisions",
    )
    op.create_index("node_path", "node", ["path"], unique=True, schema=SCHEMA)
    op.create_table(
        "context",
        sa.Column("revision_id", sa.BigInteger, sa.ForeignKey(of_revision, ondelete="CASCADE"), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("policies", ARRAY(sa.Text), nullable=False, comment="the policy that found each position"),
        sa.Column("positions", ARRAY(sa.Integer), nullable=False),
        sa.Column("tokens", ARRAY(sa.Integer), nullable=False, comment="of the subtree at each position"),
        sa.PrimaryKeyConstraint("revision_id", "number"),
        schema=SCHEMA,
        comment="the distinct global contexts of a revision, as places and never as text",
    )
    op.create_table(
        "seed",
        sa.Column("revision_id", sa.BigInteger, sa.ForeignKey(of_revision, ondelete="CASCADE"), nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("context", sa.Integer, nullable=False, comment="number in the context table"),
        sa.PrimaryKeyConstraint("revision_id", "position"),
        schema=SCHEMA,
        comment="the units of retrieval of a revision: sentences of running text, and rows of tables",
    )
    op.create_table(
        "index",
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
        schema=SCHEMA,
        comment="the ways to embed that live side by side; each has a table embedding_<id>",
    )
    op.create_index(
        "index_one_default",
        "index",
        ["is_default"],
        unique=True,
        schema=SCHEMA,
        postgresql_where=sa.text("is_default"),
    )


def downgrade() -> None:
    connection = op.get_bind()
    for table in sa.inspect(connection).get_table_names(schema=SCHEMA):
        if table.startswith(EMBEDDING_TABLE):
            op.drop_table(table, schema=SCHEMA)
    for table in ("index", "seed", "context", "node"):
        op.drop_table(table, schema=SCHEMA)
