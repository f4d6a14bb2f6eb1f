"""What an administrator edits, and sees. Django finds it here."""

from evidence.admin import documents, jobs, saved, sign_in, sources

__all__ = ["documents", "jobs", "saved", "sign_in", "sources"]
