import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.*;
import org.openapitools.client.model.*;

/** Calls of the client that openapi-generator makes for Java. */
public class Calls {
  private static int calls = 0;

  private static void check(boolean isWell, String name) {
    if (!isWell) throw new AssertionError(name);
    calls++;
  }

  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.setBasePath(System.getenv("LOCAL_AGENT_URL"));
    client.setReadTimeout(0);
    List<Message> messages = List.of(new Message().role("user").content("hello"));
    AgentApi agent = new AgentApi(client);
    check(agent.run(new RunBody().messages(messages).id("generated"), null, null).contains("\"type\":\"finish\""), "run");
    RunResult result = agent.runSync(new RunBody().messages(messages), null);
    check(result.getFinishReason().getValue().equals("stop"), "runSync");
    check(new ServiceApi(client).health().getStatus() != null, "health");
    check(new ProvidersApi(client).listProviders().getActiveModel().equals("offline/assistant"), "listProviders");
    check(!new ProvidersApi(client).listModels(null).getModels().isEmpty(), "listModels");
    ThreadsApi threads = new ThreadsApi(client);
    check(threads.listThreads(null, null, null, null, null).getThreads().stream()
        .anyMatch(each -> each.getId().equals("generated") && each.getUpdatedAt() > Integer.MAX_VALUE), "listThreads");
    check(threads.getThread("generated", null, null, null).getId().equals("generated"), "getThread");
    BrainApi brain = new BrainApi(client);
    check(brain.learnFact(new FactBody().fact("It calls")).getStatus() != null, "learnFact");
    check(brain.getBrain().getBrain().getFacts().contains("It calls"), "getBrain");
    check(new ApprovalsApi(client).listApprovals(null, null, null, null).getApprovals().isEmpty(), "listApprovals");
    TasksApi tasks = new TasksApi(client);
    Task task = tasks.createTask(new TaskBody().goal("hello"), null);
    check(tasks.getTask(task.getId()).getCreatedAt() > Integer.MAX_VALUE, "getTask");
    check(tasks.deleteTask(task.getId()).getOk(), "deleteTask");
    System.out.println(calls + " calls");
    System.exit(0);
  }
}
