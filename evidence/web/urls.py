from django.contrib.auth import views as auth
from django.urls import path

from evidence.web import answering, changes, questions, sign_in, status, suggest, views

urlpatterns = [
    path("", views.home, name="home"),
    path("answer/", answering.answering, name="answer"),
    path("documents/<int:pk>/", views.document, name="document"),
    path("documents/<int:pk>/changes", changes.changed, name="changes"),
    path("documents/<int:pk>/original", views.original, name="original"),
    path("documents/<int:pk>/to/<path:address>", views.linked, name="linked"),
    path("questions/", questions.questions, name="questions"),
    path("questions/<uuid:pk>/", questions.question, name="question"),
    path("questions/<uuid:pk>/feedback", questions.feedback, name="feedback"),
    path("questions/delete", questions.delete_all, name="delete_questions"),
    path("questions/<uuid:pk>/keep", questions.keep, name="keep_question"),
    path("questions/<uuid:pk>/delete", questions.delete, name="delete_question"),
    path("status/", status.status, name="status"),
    path("status/<int:pk>/", status.job, name="job"),
    path("status/<int:pk>/retry", status.retry, name="job_retry"),
    path("status/<int:pk>/cancel", status.cancel, name="job_cancel"),
    path("suggest/", suggest.suggest, name="suggest"),
    path("login/", sign_in.SignIn.as_view(), name="login"),
    path("password/", sign_in.PasswordChange.as_view(), name="password"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
]
