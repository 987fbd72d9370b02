// Calls of the client that openapi-generator makes for Go.
package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"

	agent "example.com/generated"
)

var calls = 0

func check(isWell bool, err error, name string) {
	if err != nil || !isWell {
		panic(fmt.Sprint(name, ": ", err))
	}
	calls++
}

func main() {
	settings := agent.NewConfiguration()
	settings.Servers = agent.ServerConfigurations{{URL: os.Getenv("LOCAL_AGENT_URL")}}
	client := agent.NewAPIClient(settings)
	ctx := context.Background()
	message := agent.NewMessage("user")
	message.SetContent("hello")
	body := agent.NewRunBody()
	body.SetMessages([]agent.Message{*message})

	result, _, err := client.AgentAPI.RunSync(ctx).RunBody(*body).Execute()
	check(result != nil && string(result.FinishReason) == "stop", err, "runSync")
	body.SetId("generated")
	stream, _, err := client.AgentAPI.Run(ctx).RunBody(*body).Execute()
	check(strings.Contains(stream, `"type":"finish"`), err, "run")
	health, _, err := client.ServiceAPI.Health(ctx).Execute()
	check(health != nil && health.Status == "ok", err, "health")
	providers, _, err := client.ProvidersAPI.ListProviders(ctx).Execute()
	check(providers != nil && providers.ActiveModel == "offline/assistant", err, "listProviders")
	models, _, err := client.ProvidersAPI.ListModels(ctx).Execute()
	check(models != nil && len(models.Models) > 0, err, "listModels")
	threads, _, err := client.ThreadsAPI.ListThreads(ctx).Execute()
	check(threads != nil && threads.Threads[0].UpdatedAt > math.MaxInt32, err, "listThreads")
	thread, _, err := client.ThreadsAPI.GetThread(ctx, "generated").Execute()
	check(thread != nil && thread.Id == "generated", err, "getThread")
	learned, _, err := client.BrainAPI.LearnFact(ctx).FactBody(*agent.NewFactBody("It calls")).Execute()
	check(learned != nil && learned.Status == "learned", err, "learnFact")
	brain, _, err := client.BrainAPI.GetBrain(ctx).Execute()
	check(brain != nil && len(brain.Brain.Facts) > 0, err, "getBrain")
	approvals, _, err := client.ApprovalsAPI.ListApprovals(ctx).Execute()
	check(approvals != nil && len(approvals.Approvals) == 0, err, "listApprovals")
	task, _, err := client.TasksAPI.CreateTask(ctx).TaskBody(*agent.NewTaskBody("hello")).Execute()
	check(task != nil && task.CreatedAt > math.MaxInt32, err, "createTask")
	deleted, _, err := client.TasksAPI.DeleteTask(ctx, task.Id).Execute()
	check(deleted != nil && deleted.Ok, err, "deleteTask")
	fmt.Println(calls, "calls")
}
