// Calls of the client that oapi-codegen makes.
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
	client, err := agent.NewClientWithResponses(os.Getenv("LOCAL_AGENT_URL"))
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	var content interface{} = "hello"
	messages := []agent.Message{{Role: "user", Content: content}}
	id := "generated"

	stream, err := client.RunWithResponse(ctx, nil, agent.RunBody{Messages: &messages, Id: &id})
	check(err == nil && strings.Contains(string(stream.Body), `"type":"finish"`), err, "run")
	result, err := client.RunSyncWithResponse(ctx, nil, agent.RunBody{Messages: &messages})
	check(err == nil && result.JSON200 != nil && string(result.JSON200.FinishReason) == "stop", err, "runSync")
	health, err := client.HealthWithResponse(ctx)
	check(err == nil && health.JSON200 != nil, err, "health")
	providers, err := client.ListProvidersWithResponse(ctx)
	check(err == nil && providers.JSON200 != nil && providers.JSON200.ActiveModel == "offline/assistant", err, "listProviders")
	models, err := client.ListModelsWithResponse(ctx, nil)
	check(err == nil && models.JSON200 != nil && len(models.JSON200.Models) > 0, err, "listModels")
	threads, err := client.ListThreadsWithResponse(ctx, nil)
	check(err == nil && threads.JSON200 != nil && threads.JSON200.Threads[0].UpdatedAt > math.MaxInt32, err, "listThreads")
	thread, err := client.GetThreadWithResponse(ctx, id, nil)
	check(err == nil && thread.JSON200 != nil && thread.JSON200.Id == id, err, "getThread")
	learned, err := client.LearnFactWithResponse(ctx, agent.FactBody{Fact: "It calls"})
	check(err == nil && learned.StatusCode() < 300, err, "learnFact")
	brain, err := client.GetBrainWithResponse(ctx)
	check(err == nil && brain.JSON200 != nil && len(brain.JSON200.Brain.Facts) > 0, err, "getBrain")
	approvals, err := client.ListApprovalsWithResponse(ctx, nil)
	check(err == nil && approvals.JSON200 != nil, err, "listApprovals")
	task, err := client.CreateTaskWithResponse(ctx, nil, agent.TaskBody{Goal: "hello"})
	check(err == nil && task.JSON201 != nil && task.JSON201.CreatedAt > math.MaxInt32, err, "createTask")
	deleted, err := client.DeleteTaskWithResponse(ctx, task.JSON201.Id)
	check(err == nil && deleted.JSON200 != nil && deleted.JSON200.Ok, err, "deleteTask")
	fmt.Println(calls, "calls")
}
