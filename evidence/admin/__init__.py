"""What an administrator edits, and sees. Django finds it here."""

from evidence.admin import documents

__all__ = ["documents"]
