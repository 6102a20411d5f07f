"""Handing messages to an MQTT broker, each kept there (retained) until the next one of its topic, and an empty one
taking it away.

Each time a connection of its own: a broker that is away costs the worker seconds, and nothing is left hanging. MQTT 5,
since only there does a broker say that it does not let somebody publish (the reason code of PUBACK).
"""

import ssl
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from django.utils.translation import gettext as _

from nasadvisor.console.health.alerts.models import HomeAssistantSettings
from nasadvisor.console.health.alerts.senders import NotSent
from nasadvisor.console.health.alerts.ssrf_guard import outward_only
from nasadvisor.console.secrets import decrypt

if TYPE_CHECKING:
    from paho.mqtt.client import Client
    from paho.mqtt.reasoncodes import ReasonCode

CONNECT_S: Final = 8
"""For the connection, and for each part of what TLS agrees on."""

ALL_S: Final = 30.0
"""From the connection to the answer to the last message."""

LOOK_S: Final = 0.5
AT_LEAST_ONCE: Final = 1
"""The quality of service at which a broker answers each message."""


class _Conversation:
    """What a broker has answered: to the connection, and to messages by their numbers."""

    def __init__(self, client: "Client") -> None:
        self.client = client
        self.ends_at = time.monotonic() + ALL_S
        self.is_open = False
        self.refusal = ""
        self.unanswered: set[int] = set()
        client.on_connect = lambda _client, _data, _flags, code, _properties: self._opened(code)
        client.on_publish = lambda _client, _data, number, code, _properties: self._answered(number, code)

    def wait_until(self, is_done: Callable[[], bool]) -> None:
        """Talk until then.

        Raises:
            NotSent: the broker refused something.
            OSError: it does not answer.
        """
        from paho.mqtt import client as paho  # noqa: PLC0415 - see `_client`

        while not is_done():
            code = self.client.loop(LOOK_S)
            if self.refusal:
                raise NotSent(_("The MQTT broker refused: %(reason)s.") % {"reason": self.refusal})
            if code != paho.MQTT_ERR_SUCCESS:
                raise ConnectionError(paho.error_string(code))
            if time.monotonic() > self.ends_at:
                raise TimeoutError(_("no answer"))

    def say(self, topic: str, payload: str) -> None:
        """Send one message, to be answered."""
        self.unanswered.add(self.client.publish(topic, payload, AT_LEAST_ONCE, retain=True).mid)

    def _opened(self, code: "ReasonCode") -> None:
        self.is_open, self.refusal = not code.is_failure, str(code) if code.is_failure else ""

    def _answered(self, number: int, code: "ReasonCode") -> None:
        self.unanswered.discard(number)
        if code.is_failure:
            self.refusal = str(code)


def publish(broker: HomeAssistantSettings, messages: Mapping[str, str]) -> None:
    """Send the payload of each topic; "" takes away what is kept there.

    Raises:
        NotSent: the broker could not be reached or did not accept all of them.
        SecretUnreadable: its password cannot be decrypted.
    """
    client = _client(broker)
    conversation = _Conversation(client)
    try:
        with outward_only(may_be_private=broker.may_be_private):
            client.connect(broker.host, broker.port, keepalive=CONNECT_S)
        conversation.wait_until(lambda: conversation.is_open)
        for topic, payload in messages.items():
            conversation.say(topic, payload)
        conversation.wait_until(lambda: not conversation.unanswered)
    except (OSError, ValueError) as error:
        raise NotSent(
            _("The MQTT broker %(host)s could not be reached: %(reason)s")
            % {"host": f"{broker.host}:{broker.port}", "reason": str(error)}
        ) from error
    finally:
        client.disconnect()


def _client(broker: HomeAssistantSettings) -> "Client":
    from paho.mqtt import client as paho  # noqa: PLC0415 - loaded only when it is needed: most consoles have no broker
    from paho.mqtt.enums import CallbackAPIVersion  # noqa: PLC0415 - as above

    client = paho.Client(CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5)
    client.connect_timeout = CONNECT_S
    if broker.user:
        client.username_pw_set(broker.user, decrypt(broker.secret))
    if broker.has_tls:
        client.tls_set(cert_reqs=ssl.CERT_REQUIRED if broker.checks_certificate else ssl.CERT_NONE)
        client.tls_insecure_set(not broker.checks_certificate)
    return client
