"""The site's addresses as they are where a sign-in service is set."""

from django.urls import include, path

from spire_site import urls

urlpatterns = [*urls.urlpatterns, path("", include("evidence.web.oidc"))]
