"""The site's database from its environment: `DATABASE_URL`, or else the embedded server of a data folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg
from django.core.exceptions import ImproperlyConfigured
from psycopg.conninfo import conninfo_to_dict

EXAMPLE = "postgresql://user:password@host:5432/name?sslmode=require"


def database_settings(environ: Mapping[str, str], data_folder: Path, durable: bool = True) -> dict[str, Any]:
    """`DATABASES["default"]`. `durable=False`: an embedded server for tests, which a crash may ruin.

    Raises ImproperlyConfigured when DATABASE_URL is no PostgreSQL address.
    """
    common = {
        "ENGINE": "spire_site.database",
        # A connection costs a server process: keep it for the next requests, but notice when the server was restarted.
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
    }
    url = environ.get("DATABASE_URL", "").strip()
    if url:
        return common | _from_url(url)
    return common | {"NAME": "spire", "EMBEDDED": {"data": data_folder, "durable": durable}}


def _from_url(url: str) -> dict[str, Any]:
    if not url.startswith(("postgresql://", "postgres://")):
        raise ImproperlyConfigured(f"DATABASE_URL must begin with postgresql://, as in {EXAMPLE}")
    try:
        options = conninfo_to_dict(url)
    except psycopg.Error as error:
        reason = str(error).replace(url, "DATABASE_URL").strip()  # it may hold a password
        raise ImproperlyConfigured(f"DATABASE_URL: {reason}. It should look like {EXAMPLE}") from None
    keys = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
    settings: dict[str, Any] = {key: options.pop(name, "") for key, name in keys.items()}
    if not settings["NAME"] and "service" not in options:
        raise ImproperlyConfigured(f"DATABASE_URL names no database; it should look like {EXAMPLE}")
    if not all(port.isdigit() for port in settings["PORT"].split(",") if port):
        raise ImproperlyConfigured(f"DATABASE_URL: the port is no number. It should look like {EXAMPLE}")
    # Without it a host that is gone holds a request for minutes.
    return settings | {"OPTIONS": {"connect_timeout": "10", **options}}
