"""How the host's worker counts the messages that it has taken."""

from types import SimpleNamespace
from typing import Never

import kombu.transport.virtual
import pytest
import redis

from nasadvisor.host.broker import QoS


class LostChannel:
    """A channel whose broker is gone."""

    do_restore = False

    def conn_or_acquire(self, client: None = None) -> Never:
        del client
        raise redis.ConnectionError("Connection refused.")


def test_a_message_that_cannot_be_acknowledged_does_not_keep_the_worker_from_taking_more() -> None:
    qos = QoS(LostChannel(), 1)
    kombu.transport.virtual.QoS.append(qos, SimpleNamespace(), "tag")
    assert not qos.can_consume()
    with pytest.raises(redis.ConnectionError):
        qos.ack("tag")
    assert qos.can_consume()
