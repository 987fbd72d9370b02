"""Calls of the client that openapi-generator makes for Python: `openapi_client` is generated before."""

import os

from openapi_client import ApiClient, Configuration
from openapi_client.api import AgentApi, ApprovalsApi, BrainApi, ProvidersApi, ServiceApi, TasksApi, ThreadsApi
from openapi_client.models import FactBody, Message, RunBody, TaskBody

client = ApiClient(Configuration(host=os.environ["LOCAL_AGENT_URL"]))
calls = 0


def check(is_well: bool, name: str) -> None:
    global calls
    assert is_well, name
    calls += 1


message = Message(role="user", content="hello")
agent = AgentApi(client)
check('"type":"finish"' in agent.run(RunBody(messages=[message], id="generated")), "run")
check(agent.run_sync(RunBody(messages=[message])).finish_reason == "stop", "runSync")
check(ServiceApi(client).health().status == "ok", "health")
check(ProvidersApi(client).list_providers().active_model == "offline/assistant", "listProviders")
check(len(ProvidersApi(client).list_models().models) > 0, "listModels")
threads = ThreadsApi(client).list_threads().threads
check(any(thread.id == "generated" and thread.updated_at > 2**31 for thread in threads), "listThreads")
check(ThreadsApi(client).get_thread("generated").id == "generated", "getThread")
check(BrainApi(client).learn_fact(FactBody(fact="It calls")).status == "learned", "learnFact")
check("It calls" in BrainApi(client).get_brain().brain.facts, "getBrain")
check(ApprovalsApi(client).list_approvals().approvals == [], "listApprovals")
task = TasksApi(client).create_task(TaskBody(goal="hello"))
check(TasksApi(client).get_task(task.id).created_at > 2**31, "getTask")
check(TasksApi(client).delete_task(task.id).ok, "deleteTask")
print(f"{calls} calls")
