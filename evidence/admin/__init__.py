"""What an administrator edits, and sees. Django finds it here."""

from evidence.admin import documents, sources

__all__ = ["documents", "sources"]
