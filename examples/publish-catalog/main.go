package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

type Greeting struct {
	Name string `json:"name"`
}

func greet(_ workflow.Context, greeting Greeting) (string, error) {
	return "Hello, " + greeting.Name + "!", nil
}

var workflows = []map[string]any{{
	"name":        "greet",
	"description": "Greets somebody by name.",
	"inputSchema": map[string]any{
		"type":       "object",
		"properties": map[string]any{"name": map[string]any{"type": "string"}},
		"required":   []string{"name"},
	},
	"inputOptional": false,
	"outputSchema":  map[string]any{"type": "string"},
}}

// publishCatalog publishes the catalog unless it is the current one. The client must not have a codec.
func publishCatalog(ctx context.Context, c client.Client, taskQueue string, workflows []map[string]any) error {
	names := map[string]any{}
	for _, entry := range workflows {
		names[entry["name"].(string)] = entry["name"]
		aliases, _ := entry["aliases"].([]string)
		for _, alias := range aliases {
			names[alias] = entry["name"]
		}
	}
	definition := map[string]any{"workflows": workflows, "workflowNames": names}
	// json.Marshal sorts the keys.
	canonical, err := json.Marshal(map[string]any{"definition": definition, "traces": false})
	if err != nil {
		return err
	}
	digest := sha256.Sum256(canonical)
	hash := hex.EncodeToString(digest[:])
	published, err := publishedHash(ctx, c, taskQueue)
	if err != nil || published == hash {
		return err
	}
	_, err = c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                       "$catalog:" + taskQueue,
		TaskQueue:                "$catalog",
		StartDelay:               10 * 365 * 24 * time.Hour,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING,
		Memo:                     map[string]any{"workflowNames": names, "hash": hash, "traces": false},
	}, "$catalog", definition)
	return err
}

func publishedHash(ctx context.Context, c client.Client, taskQueue string) (string, error) {
	run, err := c.DescribeWorkflowExecution(ctx, "$catalog:"+taskQueue, "")
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	info := run.GetWorkflowExecutionInfo()
	field := info.GetMemo().GetFields()["hash"]
	if info.GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING || field == nil {
		return "", nil
	}
	var hash string
	err = converter.GetDefaultDataConverter().FromPayload(field, &hash)
	return hash, err
}

func main() {
	c, err := client.Dial(client.Options{HostPort: "localhost:7233"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	if err := publishCatalog(context.Background(), c, "shop", workflows); err != nil {
		log.Fatal(err)
	}
	w := worker.New(c, "shop", worker.Options{})
	w.RegisterWorkflowWithOptions(greet, workflow.RegisterOptions{Name: "greet"})
	if err := w.Run(worker.InterruptCh()); err != nil {
		log.Fatal(err)
	}
}
