"""Django settings of the console. Everything that differs between installations comes from the environment.

NASADVISOR_CONSOLE_STATE  folder of the database and the secret key (default /var/lib/nasadvisor/console)
NASADVISOR_DATABASE_URL   another database than SQLite in that folder, e.g. postgresql://user:password@host/name
NASADVISOR_REDIS          broker URL (default redis+socket:///run/nasadvisor/redis.sock)
NASADVISOR_RUN_DIR        folder of the sockets of the message services (default /run/nasadvisor)
NASADVISOR_SECRET_KEY     instead of the file `secret-key` that `manage.py prepare` makes
NASADVISOR_ALLOWED_HOSTS  names the console answers to beside this machine's own and its addresses, comma-separated
NASADVISOR_ORIGINS        origins trusted behind a proxy, e.g. https://nas.example
NASADVISOR_HTTPS          yes where browsers reach the console by https only (secure cookies)
NASADVISOR_HSTS           yes where browsers shall insist on it: the certificate is one that they trust
UVICORN_SSL_CERTFILE      the certificate of the pages, whose fingerprint `manage.py setup_link` prints
NASADVISOR_TIME_ZONE      zone in which exact times are shown (default UTC)
NASADVISOR_SAMPLES        how long samples, minutes and hours are kept, in days (default 1,30,730)
NASADVISOR_TOKEN_DAYS     how long a new token for another program is good, in days (default 365)
NASADVISOR_SECOND_FACTOR  who must have one: no (default), administrators, operators (and these), everybody
NASADVISOR_IDLE_MINUTES   how long somebody, and an administrator, may do nothing (default 480,30)
NASADVISOR_RECEIVERS      in how many processes what other machines tell is stored (default 1; more need PostgreSQL)
NASADVISOR_MOST_HOSTS     how many other machines there is room for (default 500; see docs/how-to/many-hosts.md)
NASADVISOR_PREVIEW        file that says how far the real machine is; every page is marked as simulated
NASADVISOR_DEBUG          yes for work on the code only
"""

import logging
import platform
from datetime import timedelta
from pathlib import Path
from typing import Any

import dj_database_url
from csp.constants import NONE, SELF
from django.contrib.messages import constants as message_levels
from django.core.management.utils import get_random_secret_key
from django.utils.translation import gettext_lazy as _

from nasadvisor.runtime import environment
from nasadvisor.runtime.own_names import names_of_origins, own_names

BASE_DIR = Path(__file__).resolve().parent.parent
STATE_DIR = environment.folder("NASADVISOR_CONSOLE_STATE", "/var/lib/nasadvisor/console")
SECRET_KEY_FILE = STATE_DIR / "secret-key"

CHANNEL_KEY_FILE = STATE_DIR / "channel-key"
"""Encrypts what channels of alerts and second factors must keep secret; `manage.py prepare` makes it."""

DEBUG = environment.flag("NASADVISOR_DEBUG", default=False)
PREVIEW = environment.text("NASADVISOR_PREVIEW")
SECRET_KEY = (
    environment.text("NASADVISOR_SECRET_KEY")
    or environment.text_in_file(SECRET_KEY_FILE)
    or get_random_secret_key()  # good until this process ends; `prepare` makes one to keep
)
CSRF_TRUSTED_ORIGINS = environment.words("NASADVISOR_ORIGINS")
ALLOWED_HOSTS = ["*"]  # `KnownNames` decides: it knows addresses, and says what to do
HOST_NAMES = [
    *environment.words("NASADVISOR_ALLOWED_HOSTS"),
    *own_names(platform.node()),
    *names_of_origins(CSRF_TRUSTED_ORIGINS),
]
"""By which names the pages may be asked for; "*" for any."""

INSTALLED_MANAGE = BASE_DIR.parent / "manage"
MANAGE_COMMAND = f"sudo {INSTALLED_MANAGE}" if INSTALLED_MANAGE.exists() else "python3 manage.py"
"""How an administrator calls manage.py here, for the texts of pages."""

RUN_DIR = environment.folder("NASADVISOR_RUN_DIR", "/run/nasadvisor")
BROKER_URL = environment.text("NASADVISOR_REDIS", "redis+socket:///run/nasadvisor/redis.sock")

INSTALLED_APPS = [
    "nasadvisor.console",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "csp",
    "django_celery_beat",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "nasadvisor.console.web.middleware.KnownNames",
    "nasadvisor.console.web.middleware.PrivatePages",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "nasadvisor.console.web.sanitise.SanitisedRequests",
    "nasadvisor.console.accounts.single_sign_on.SingleSignOn",
    "nasadvisor.console.accounts.sign_in.Idle",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "nasadvisor.console.accounts.required_setup.RequiredSetup",
    "nasadvisor.console.accounts.sessions.Seen",
    "nasadvisor.console.accounts.audit.Refusals",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "nasadvisor.urls"
ASGI_APPLICATION = "nasadvisor.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "builtins": ["nasadvisor.console.templatetags.nasadvisor"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "nasadvisor.console.home.frame.frame",
                "nasadvisor.console.home.frame.preview",
            ],
            "loaders": ["django.template.loaders.filesystem.Loader"]
            if DEBUG
            else [("django.template.loaders.cached.Loader", ["django.template.loaders.filesystem.Loader"])],
        },
    }
]


def database() -> dict[str, Any]:
    """SQLite with a write-ahead log, so that pages read while a worker writes; or what the URL names."""
    url = environment.text("NASADVISOR_DATABASE_URL")
    if url:
        return dict(dj_database_url.parse(url, conn_max_age=600, conn_health_checks=True))
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": STATE_DIR / "console.sqlite3",
        "OPTIONS": {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
    }


DATABASES = {"default": database()}
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    # Parts of pages that show an inventory and nothing else; one with 1,000 disks has 700 KiB.
    "pages": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "pages",
        "OPTIONS": {"MAX_ENTRIES": 8},
    },
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

DOCUMENTATION = Path("/usr/share/doc/nasadvisor/html")
"""Where the package puts the documentation; other installations have none."""

STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}

# Pages name every file with its hash, so nobody asks for it without.
WHITENOISE_KEEP_ONLY_HASHED_FILES = not DEBUG

PASSWORD_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "nasadvisor.console.accounts.single_sign_on.PlatformBackend",
]
"""Who knows passwords."""

AUTHENTICATION_BACKENDS = [
    *PASSWORD_BACKENDS,
    "nasadvisor.console.accounts.second_factor.second_step.FactorBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "nasadvisor.console.accounts.password_rules.PredictablePasswordValidator"},
    {"NAME": "nasadvisor.console.accounts.password_rules.GuessablePasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "overview"
LOGOUT_REDIRECT_URL = "login"

MESSAGE_TAGS = {message_levels.ERROR: "danger", message_levels.DEBUG: "secondary"}

SECOND_FACTOR = environment.choice("NASADVISOR_SECOND_FACTOR", ("no", "administrators", "operators", "everybody"))
"""Who gets no further than to setting one up without a second factor (`required_setup`)."""

IDLE_FOR = tuple(timedelta(minutes=float(each)) for each in environment.words("NASADVISOR_IDLE_MINUTES", "480,30"))
"""For how long anybody, and an administrator, may do nothing before they are signed out (`idle`)."""
if len(IDLE_FOR) != 2 or min(IDLE_FOR) <= timedelta(0):
    raise ValueError("NASADVISOR_IDLE_MINUTES is to be two numbers of minutes, such as 480,30.")

HTTPS = environment.flag("NASADVISOR_HTTPS", default=False)
CERTIFICATE_IN_CONTAINER = STATE_DIR / "tls" / "certificate.pem"
CERTIFICATE = environment.text("UVICORN_SSL_CERTFILE") or (
    str(CERTIFICATE_IN_CONTAINER) if CERTIFICATE_IN_CONTAINER.exists() else ""
)
"""Of the pages; "" where they come over plain HTTP, or where others have it."""

SECURE_HSTS_SECONDS = 365 * 24 * 3600 if environment.flag("NASADVISOR_HSTS", default=False) else 0
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = HTTPS
_PREFIX = "__Host-" if HTTPS else ""  # browsers take such a cookie over TLS and from this very host only
SESSION_COOKIE_NAME = f"{_PREFIX}nasadvisor_session"
SESSION_COOKIE_AGE = 14 * 24 * 3600
SESSION_COOKIE_SAMESITE = LANGUAGE_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_NAME = f"{_PREFIX}nasadvisor_csrf"
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "nasadvisor.console.web.errors.csrf_failure"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}

SAMPLES_KEPT_DAYS = tuple(map(float, environment.words("NASADVISOR_SAMPLES", "1,30,730")))
"""For samples as they were measured, for minutes and for hours."""

RECEIVERS = environment.count("NASADVISOR_RECEIVERS", 1, most=64)
"""How many processes take what hosts on other machines tell (`receivers`)."""

MOST_HOSTS = environment.count("NASADVISOR_MOST_HOSTS", 500, most=8000)
"""For how many hosts on other machines there is room at their message service (`listening`)."""

TOKENS_LAST = timedelta(days=float(environment.text("NASADVISOR_TOKEN_DAYS", "365")))
"""How long a new token for another program is good."""

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("de", _("German"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
LANGUAGE_COOKIE_NAME = "nasadvisor_language"
USE_TZ = True
TIME_ZONE = environment.text("NASADVISOR_TIME_ZONE", "UTC")

MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"


def without_trace(record: logging.LogRecord) -> bool:
    """Let a refusal be one line: whoever asks for much that is not theirs would push other lines out of the journal."""
    if record.levelno < logging.ERROR:
        record.exc_info = None
    return True


LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"without_trace": {"()": "django.utils.log.CallbackFilter", "callback": without_trace}},
    "handlers": {"journal": {"class": "logging.StreamHandler"}},
    "root": {"handlers": ["journal"], "level": "INFO"},
    # Apprise names the addresses it sends to, and those hold secrets. What went wrong is kept with the channel.
    # fido2 names the passkey at each sign-in; who signed in is in the audit log.
    "loggers": {
        "apprise": {"level": "CRITICAL", "propagate": False},
        "fido2": {"level": "WARNING"},
        "django.request": {"filters": ["without_trace"]},
    },
}
