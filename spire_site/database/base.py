"""Django's PostgreSQL backend, which starts the embedded server by itself and checks what SPIRE asks of a server.

`DATABASES["default"]["EMBEDDED"]`, where it stands, holds the arguments of `evidence.store.embedded.start`. The first
connection starts the server, so that a command which needs no database starts none.
"""

from typing import Any

import psycopg
from django.core.exceptions import ImproperlyConfigured
from django.db.backends.postgresql import base, client, operations
from psycopg.conninfo import conninfo_to_dict

from evidence.store import requirements

_checked: set[str] = set()


def _address(settings: dict[str, Any]) -> dict[str, Any]:
    """The embedded server's host, port and user for libpq, once it runs; nothing for a server of one's own."""
    if "EMBEDDED" not in settings:
        return {}
    # Imported here, because a site with DATABASE_URL may run where the embedded server cannot.
    from evidence.store import embedded

    try:
        url = embedded.start(**settings["EMBEDDED"])
    except embedded.EmbeddedServerError as error:
        raise ImproperlyConfigured(str(error)) from error
    except OSError as error:
        raise ImproperlyConfigured(
            f"The embedded database cannot start: {error.filename}: {error.strerror}. SPIRE_DATA must lie on a disk that"
            " has room and can be written to."
        ) from error
    address = conninfo_to_dict(url)
    del address["dbname"]
    return address


class DatabaseClient(client.DatabaseClient):
    """psql for `manage.py dbshell`, on the same server."""

    @classmethod
    def settings_to_cmd_args_env(cls, settings_dict, parameters):
        address = {name.upper(): value for name, value in _address(settings_dict).items()}
        return super().settings_to_cmd_args_env({**settings_dict, **address}, parameters)


class DatabaseOperations(operations.DatabaseOperations):
    def sql_flush(self, style, tables, *, reset_sequences=False, allow_cascade=False):
        """Flushing takes the pipeline's rows along: they refer to Django's, and are derived from them."""
        return super().sql_flush(style, tables, reset_sequences=reset_sequences, allow_cascade=True)


class DatabaseWrapper(base.DatabaseWrapper):
    client_class = DatabaseClient
    ops_class = DatabaseOperations

    def get_connection_params(self) -> dict[str, Any]:
        return {**super().get_connection_params(), **_address(self.settings_dict)}

    def get_new_connection(self, conn_params: dict[str, Any]) -> psycopg.Connection[Any]:
        connection = super().get_new_connection(conn_params)
        if connection.info.dsn not in _checked:
            try:
                requirements.check(connection)
            except requirements.MissingRequirementError as error:
                connection.close()
                raise ImproperlyConfigured(str(error)) from error
            connection.rollback()
            _checked.add(connection.info.dsn)
        return connection
