"""The site's settings on a database of the tests' own, thrown away after them."""

import os
from pathlib import Path

os.environ.setdefault("SPIRE_SECRET_KEY", "for tests only")

from evidence.store.session import with_session_options
from spire_site.database.settings import database_settings
from spire_site.settings import *  # noqa: F403

SPIRE_DATA = Path(os.environ.get("SPIRE_TEST_DATA", Path(__file__).parent.parent / "var" / "tests"))
DATABASES = {"default": with_session_options(database_settings(os.environ, SPIRE_DATA / "postgresql", durable=False))}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# No test asks the server that whoever runs them may have.
SPIRE_LLM_URL = SPIRE_LLM_MODEL = SPIRE_LLM_KEY = ""
# What is found is tested without what a model of language thinks of it; tests of the filter bring their own.
SPIRE_FILTER = "none"
SPIRE_FOLDERS = []
SPIRE_FETCH_ALLOW = []
STATIC_ROOT = SPIRE_DATA / "static"
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
WHITENOISE_USE_FINDERS = True
