"""Calls of the client that openapi-python-client makes: `agent_client` is generated before."""

import os
from http import HTTPStatus

from agent_client import AuthenticatedClient
from agent_client.api.agent import run, run_sync
from agent_client.api.approvals import list_approvals
from agent_client.api.brain import get_brain, learn_fact
from agent_client.api.providers import list_models, list_providers
from agent_client.api.service import health
from agent_client.api.tasks import create_task, delete_task, get_task
from agent_client.api.threads import get_thread, list_threads
from agent_client.models import FactBody, Message, RunBody, TaskBody

# A service without a token takes any.
client = AuthenticatedClient(base_url=os.environ["LOCAL_AGENT_URL"], token="none", timeout=None)
calls = 0


def check(is_well: bool, name: str) -> None:
    global calls
    assert is_well, name
    calls += 1


message = Message(role="user", content="hello")
stream = run.sync_detailed(client=client, body=RunBody(messages=[message], id="generated"))
check(stream.status_code == HTTPStatus.OK and '"type":"finish"' in stream.content.decode(), "run")
result = run_sync.sync(client=client, body=RunBody(messages=[message]))
check(result is not None and getattr(result, "finish_reason") == "stop", "runSync")
check(getattr(health.sync(client=client), "status") == "ok", "health")
check(getattr(list_providers.sync(client=client), "active_model") == "offline/assistant", "listProviders")
check(len(getattr(list_models.sync(client=client), "models")) > 0, "listModels")
threads = getattr(list_threads.sync(client=client), "threads")
check(any(thread.id == "generated" and thread.updated_at > 2**31 for thread in threads), "listThreads")
check(getattr(get_thread.sync("generated", client=client), "id") == "generated", "getThread")
check(getattr(learn_fact.sync(client=client, body=FactBody(fact="It calls")), "status") == "learned", "learnFact")
check("It calls" in getattr(get_brain.sync(client=client), "brain").facts, "getBrain")
check(getattr(list_approvals.sync(client=client), "approvals") == [], "listApprovals")
task = create_task.sync(client=client, body=TaskBody(goal="hello"))
task_id = getattr(task, "id")
check(getattr(get_task.sync(task_id, client=client), "created_at") > 2**31, "getTask")
check(getattr(delete_task.sync(task_id, client=client), "ok"), "deleteTask")
print(f"{calls} calls")
