from django.conf import settings
from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("evidence.web.urls")),
]

if settings.SPIRE_OIDC_URL:
    urlpatterns.append(path("", include("evidence.web.oidc")))
