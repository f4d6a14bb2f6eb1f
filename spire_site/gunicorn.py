"""gunicorn's configuration: its log is the site's, so that every line has one form (`manage.py serve` gives the rest)."""

from spire_site.settings import LOGGING

logconfig_dict = LOGGING


def post_worker_init(worker: object) -> None:
    """Load the models before the first questions: they may come together, and each would load them."""
    # Not above: Django is not set up when this is read.
    from django.db import connection

    from evidence.web.health import failing

    failing()
    # Requests are answered in other threads.
    connection.close()
