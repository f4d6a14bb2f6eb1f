"""gunicorn's configuration: its log is the site's, so that every line has one form (`manage.py serve` gives the rest)."""

from spire_site.settings import LOGGING

logconfig_dict = LOGGING
