"""What an administrator edits, and sees. Django finds it here."""

from evidence.admin import documents, sign_in

__all__ = ["documents", "sign_in"]
