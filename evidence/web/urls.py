from django.contrib.auth import views as auth
from django.urls import path

from evidence.web import answering, sign_in, suggest, views

urlpatterns = [
    path("", views.home, name="home"),
    path("answer/", answering.answering, name="answer"),
    path("documents/<int:pk>/", views.document, name="document"),
    path("documents/<int:pk>/original", views.original, name="original"),
    path("documents/<int:pk>/to/<path:address>", views.linked, name="linked"),
    path("suggest/", suggest.suggest, name="suggest"),
    path("login/", sign_in.SignIn.as_view(), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
]
