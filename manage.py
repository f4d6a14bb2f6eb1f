#!/usr/bin/env python
"""SPIRE's commands; ``manage.py help`` lists them."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from evidence.outages import CAN_PASS, told

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "spire_site.settings")
    try:
        execute_from_command_line(sys.argv)
        sys.stdout.flush()
    except (ImproperlyConfigured, *CAN_PASS) as error:
        if "--traceback" in sys.argv:
            raise
        if isinstance(error, ImproperlyConfigured):
            sys.exit(str(error))
        sys.exit(f"{told(error)}\nWhat was done until then is kept: when the database is back, run the same again.")
    except BrokenPipeError:
        # Whoever reads the output has seen enough ("| head"). Python would say so once more on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
