"""How this host is connected to a console: the queue that it takes questions from, and what it sends back.

Questions and answers are JSON documents; there is no result backend, and the database is never seen. A question is
acknowledged before it is taken up and never repeated: the plan's id lets a run happen once, and what was left half done
by a crash is the user's to decide.
"""

import logging
from dataclasses import dataclass
from typing import Final

import kombu.exceptions
import redis.exceptions
from celery import Celery

from nasadvisor.domain.fleet.joining import bracketed, console_queue, host_queue, unacknowledged, user_of
from nasadvisor.domain.fleet.questions import ANSWER_TASK, ERROR_TASK, Question
from nasadvisor.host.broker import CarefulAmqp
from nasadvisor.host.config import HostConfig
from nasadvisor.host.errors import HostError
from nasadvisor.stored.documents import to_document
from nasadvisor.stored.kinds import name_of

log = logging.getLogger(__name__)

UNREACHABLE: Final = (kombu.exceptions.OperationalError, redis.exceptions.RedisError, OSError)


@dataclass(frozen=True)
class ConsoleLink:
    """What a host tells its console. `queue` is where the console listens to this node."""

    app: Celery
    node: str
    queue: str = "console"

    def tell(self, answer: object) -> None:
        """Send an answer, whichever question it belongs to."""
        self._send(ANSWER_TASK, name_of(type(answer)), to_document(answer))

    def tell_error(self, question: Question, about: str, error: HostError) -> None:
        """Send why a question has no answer, or not the one that was hoped for."""
        log.warning("%s %s: %s", question.verb, about, error)
        if question.about:
            self._send(ERROR_TASK, question.verb, about, to_document(error.statement))

    def _send(self, task: str, *arguments: object) -> None:
        """If nobody can be reached the work goes on, and the console asks again later."""
        try:
            self.app.send_task(task, args=[self.node, *arguments], queue=self.queue, retry=False)
        except UNREACHABLE as error:
            log.warning("%s %s could not be sent: %s", task, arguments[0], error)


def celery_app(config: HostConfig) -> Celery:
    """A Celery app that listens to this node's queue only, and takes messages with care (`broker`)."""
    app = Celery("host", broker=config.redis_url, set_as_current=False, amqp=CarefulAmqp)
    app.conf.update(
        task_default_queue=host_queue(config.node),
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        task_acks_late=False,
        task_publish_retry=False,
        broker_connection_retry_on_startup=True,
        # Forever: a Redis that is down for long must not end a worker that may be in the middle of a run.
        broker_connection_max_retries=None,
        # What cannot be published is asked for again; to wait for Redis would hold up the run (kombu: 2 s and more).
        broker_transport_options={
            "socket_connect_timeout": 3,
            "socket_timeout": 10,
            "max_retries": 1,
            "interval_start": 0,
        },
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_enable_remote_control=False,
    )
    if config.access:
        # With TLS and as the user of this node only, whose rights (`nasadvisor.console.fleet.remote.access`) cover the
        # keys that these options name, and no other.
        access = config.access
        options = {**app.conf.broker_transport_options, **unacknowledged(access.node), "priority_steps": [0]}
        app.conf.update(
            broker_url=f"rediss://{user_of(access.node)}:{access.password}@{bracketed(access.address)}:{access.port}/0",
            broker_use_ssl={"ssl_ca_data": access.authority, "ssl_cert_reqs": "required", "ssl_check_hostname": True},
            broker_transport_options=options,
        )
    return app


def queue_to_console(config: HostConfig) -> str:
    """Where the console listens to this node: all nodes of its own machine share a queue, others have their own."""
    return console_queue(config.node) if config.access else "console"
