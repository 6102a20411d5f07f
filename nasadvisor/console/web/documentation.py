"""The documentation that the package brought (`make docs`), for whoever is signed in. A NAS may have no internet."""

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.views.static import serve

START = "index.html"


def documentation(request: HttpRequest, name: str) -> HttpResponseBase:
    """A file of it; not found where it is not installed."""
    return serve(request, name, document_root=str(settings.DOCUMENTATION))


def address_of(name: str) -> str:
    """The address of a page, such as `explanation/safety.html`; "" where it is not installed."""
    return reverse("documentation", args=[name]) if (settings.DOCUMENTATION / name).is_file() else ""


def address_of_guide(guide: str) -> str:
    """The address of a page by its path in the source, such as `docs/explanation/safety.md`; "" as above."""
    return address_of(guide.removeprefix("docs/").removesuffix(".md") + ".html")
