"""What an administrator edits, and sees. Django finds it here."""

from evidence.admin import documents, saved

__all__ = ["documents", "saved"]
