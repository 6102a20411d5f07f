"""Where Django looks for models: those of every room. Everything else takes them from the room itself."""

from nasadvisor.console.accounts import audit_models
from nasadvisor.console.accounts import models as account_models
from nasadvisor.console.change import models as change_models
from nasadvisor.console.evidence import models as evidence_models
from nasadvisor.console.fleet import models as fleet_models
from nasadvisor.console.health import models as health_models
from nasadvisor.console.health.alerts import models as alert_models

__all__ = [
    "account_models",
    "alert_models",
    "audit_models",
    "change_models",
    "evidence_models",
    "fleet_models",
    "health_models",
]
