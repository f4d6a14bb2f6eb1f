import gc

from django.apps import AppConfig

OBJECTS_BETWEEN_COLLECTIONS = 20_000
"""A page's tree is tens of thousands of objects at once; looking for garbage every 700 of them, as Python does by itself,
takes some 5 % of the time of reading one."""


class EvidenceConfig(AppConfig):
    name = "evidence"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from evidence import checks  # noqa: F401 (registers them)

        gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, 20, 50)
