"""Settings. What differs between two sites comes from environment variables; README.md lists them."""

import os
from datetime import timedelta
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from evidence.store.session import with_session_options
from evidence.web.log import logging_settings
from spire_site.database.settings import database_settings
from spire_site.secret import secret_key

BASE_DIR = Path(__file__).resolve().parent.parent


def _flag(name: str, default: str = "") -> bool:
    return os.environ.get(name, default).lower() in ("1", "true", "yes", "on")


# The project's own data: the embedded database, the converted model, the secret key.
SPIRE_DATA = Path(os.environ.get("SPIRE_DATA", BASE_DIR / "var"))

# A sentence-transformers model by name or folder, and how it runs: "auto", "onnx" or "torch".
SPIRE_EMBEDDER = os.environ.get("SPIRE_EMBEDDER", "all-MiniLM-L6-v2")
SPIRE_EMBEDDER_BACKEND = os.environ.get("SPIRE_EMBEDDER_BACKEND", "auto")

# Tokens of evidence that a question gets when it does not say.
SPIRE_BUDGET = int(os.environ.get("SPIRE_BUDGET", "1000"))

# "offline": a small model judges what search found, and leaves out what is unlikely to help; "none": all is shown.
SPIRE_FILTER = os.environ.get("SPIRE_FILTER", "offline")

# A language model on a server that speaks OpenAI's protocol; none without a URL. Of a question it may have so many seconds
# in all, and so many requests at once.
SPIRE_LLM_URL = os.environ.get("SPIRE_LLM_URL", "")
SPIRE_LLM_MODEL = os.environ.get("SPIRE_LLM_MODEL", "")
SPIRE_LLM_KEY = os.environ.get("SPIRE_LLM_KEY", "")
SPIRE_LLM_SECONDS = float(os.environ.get("SPIRE_LLM_SECONDS", "20"))
SPIRE_LLM_AT_ONCE = int(os.environ.get("SPIRE_LLM_AT_ONCE", "4"))

# Policies of the site's own that collections may switch on: dotted paths of evidence.tree.context.Policy objects.
SPIRE_POLICIES = [path for path in os.environ.get("SPIRE_POLICIES", "").split(",") if path]

# Old revisions that are kept: the newest so many of each document, and those received in the last so many days. Current
# ones are always kept, and those that saved questions cite.
SPIRE_KEEP_REVISIONS = int(os.environ.get("SPIRE_KEEP_REVISIONS", "10"))
SPIRE_KEEP_DAYS = int(os.environ.get("SPIRE_KEEP_DAYS", "90"))

# Days that a saved question is kept which nobody keeps, marks or opens but who asked it; 0 for ever.
SPIRE_QUESTION_DAYS = int(os.environ.get("SPIRE_QUESTION_DAYS", "365"))

# Megabytes of one file that are taken in, and how many files one upload or archive may hold.
SPIRE_LARGEST_FILE = int(os.environ.get("SPIRE_LARGEST_FILE", "64"))
SPIRE_MOST_FILES = int(os.environ.get("SPIRE_MOST_FILES", "20000"))

# Modules with kinds of jobs, or with what is done periodically; evidence.ingest.jobs says how to write one.
PROCRASTINATE_IMPORT_PATHS = ["evidence.ingest.work"]
PROCRASTINATE_AUTODISCOVER_MODULE_NAME = ""

# Folders on the server that sources may lie in; hosts and networks that are fetched from although they are not public; and
# where the owner of a site that is fetched from finds who does.
SPIRE_FOLDERS = [Path(folder) for folder in os.environ.get("SPIRE_FOLDERS", "").split(os.pathsep) if folder]
SPIRE_FETCH_ALLOW = [entry for entry in os.environ.get("SPIRE_FETCH_ALLOW", "").split(",") if entry]
SPIRE_FETCH_CONTACT = os.environ.get("SPIRE_FETCH_CONTACT", "")
# Sign-in by a service that speaks OpenID Connect; none without a URL. Its claim of this name, if one is named, says in
# which groups a person is.
SPIRE_OIDC_URL = os.environ.get("SPIRE_OIDC_URL", "").rstrip("/")
SPIRE_OIDC_ID = os.environ.get("SPIRE_OIDC_ID", "")
SPIRE_OIDC_SECRET = os.environ.get("SPIRE_OIDC_SECRET", "")
SPIRE_OIDC_NAME = os.environ.get("SPIRE_OIDC_NAME", "single sign-on")
SPIRE_OIDC_GROUPS = os.environ.get("SPIRE_OIDC_GROUPS", "")

# Whether people sign in by name and password, too.
SPIRE_PASSWORDS = _flag("SPIRE_PASSWORDS", "1")

# How many proxies of our own a request passes: so many addresses of X-Forwarded-For are believed, from its end.
SPIRE_PROXIES = int(os.environ.get("SPIRE_PROXIES", "0"))

SECRET_KEY = os.environ.get("SPIRE_SECRET_KEY") or secret_key(SPIRE_DATA)
DEBUG = _flag("SPIRE_DEBUG")
LOOPBACK = "127.0.0.1,localhost,[::1]"
ALLOWED_HOSTS = [host.strip() for host in os.environ.get("SPIRE_HOSTS", LOOPBACK).split(",") if host.strip()]
if DEBUG and not set(ALLOWED_HOSTS) <= set(LOOPBACK.split(",")):
    raise ImproperlyConfigured(
        "SPIRE_DEBUG shows settings and documents on its error pages to everybody, so it is for this machine only: unset"
        " SPIRE_DEBUG, or unset SPIRE_HOSTS"
    )
CSRF_TRUSTED_ORIGINS = [origin for origin in os.environ.get("SPIRE_ORIGINS", "").split(",") if origin]

INSTALLED_APPS = [
    "procrastinate.contrib.django",
    "evidence",
    "spire_site.apps.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "axes",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
]

MIDDLEWARE = [
    "evidence.web.health.probes",
    "evidence.web.log.requests",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "evidence.web.middleware.content_security_policy",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "spire_site.urls"
WSGI_APPLICATION = "spire_site.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "evidence.web.sign_in.administration",
            ],
        },
    },
]

DATABASES = {"default": with_session_options(database_settings(os.environ, SPIRE_DATA / "postgresql"))}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"

# The first one only refuses: who is locked out is asked for no password.
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
# By name and address together: by name alone anybody could lock out anybody, by address alone an office would lock itself.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_RESET_ON_SUCCESS = True
# Whoever goes on trying does not keep the rightful owner out for longer.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_CLIENT_IP_CALLABLE = "evidence.web.sign_in.client_address"
AXES_LOCKOUT_CALLABLE = "evidence.web.sign_in.locked_out"
# Failures are kept while they count; who signed in when is nobody's business.
AXES_DISABLE_ACCESS_LOG = True
AXES_VERBOSE = False

# Accounts are made by the sign-in service or by an administrator; nothing is ever mailed.
ACCOUNT_EMAIL_VERIFICATION = SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
# Two people may have one address; nobody is taken for another because of it.
ACCOUNT_UNIQUE_EMAIL = False
ACCOUNT_ADAPTER = "evidence.web.oidc.Accounts"
SOCIALACCOUNT_ADAPTER = "evidence.web.oidc.SignInService"

LANGUAGE_CODE = "en"
TIME_ZONE = os.environ.get("SPIRE_TIME_ZONE", "UTC")
USE_I18N = False
USE_TZ = True

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = SPIRE_DATA / "static"

# An upload of many files is checked against SPIRE_MOST_FILES by its form, whose message a person can act on.
DATA_UPLOAD_MAX_NUMBER_FILES = SPIRE_MOST_FILES + 1

# Behind https (SPIRE_HTTPS=1) cookies and redirects insist on it.
HTTPS = _flag("SPIRE_HTTPS")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
# Promises for all hosts below this one, and to the makers of browsers: whose they are, a site of ours cannot know.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# "json" for machines; else lines for people.
SPIRE_LOG = os.environ.get("SPIRE_LOG", "text")
if SPIRE_LOG not in ("json", "text"):
    raise ImproperlyConfigured(f"SPIRE_LOG is {SPIRE_LOG!r}: set it to json or text")
LOGGING = logging_settings(SPIRE_LOG)
