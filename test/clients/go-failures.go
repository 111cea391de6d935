// A worker whose workflows fail as programs of the Go SDK do. Arguments: address and task queue.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

func charge(_ context.Context) error {
	return temporal.NewNonRetryableApplicationError("card declined by 12@example.com", "CardDeclined", nil)
}

func importRows(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return temporal.NewCanceledError(map[string]any{"rows": 120})
		case <-time.After(50 * time.Millisecond):
			activity.RecordHeartbeat(ctx, "importing")
		}
	}
}

func withOptions(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute,
		HeartbeatTimeout:    30 * time.Second,
		WaitForCancellation: true,
	})
}

func pay(ctx workflow.Context) error {
	err := workflow.ExecuteActivity(withOptions(ctx), charge).Get(ctx, nil)
	return fmt.Errorf("order 7 was not paid: %w", err)
}

// notPaid repeats the message of an activity's error, in the failure of the run or of the update `pay`.
func notPaid(ctx workflow.Context, waits bool) error {
	if err := workflow.SetUpdateHandler(ctx, "pay", pay); err != nil {
		return err
	}
	if waits {
		return workflow.Await(ctx, func() bool { return false })
	}
	return pay(ctx)
}

func refunded(_ workflow.Context) error {
	return temporal.NewCanceledError("refunded", 3)
}

func imported(ctx workflow.Context) error {
	return workflow.ExecuteActivity(withOptions(ctx), importRows).Get(ctx, nil)
}

// importedByChild is canceled with the details of its child.
func importedByChild(ctx workflow.Context) error {
	child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WaitForCancellation: true})
	return workflow.ExecuteChildWorkflow(child, "imported").Get(ctx, nil)
}

func main() {
	c, err := client.Dial(client.Options{HostPort: os.Args[1], Identity: "4711@secret-host (blue)"})
	if err != nil {
		log.Fatalln(err)
	}
	defer c.Close()
	w := worker.New(c, os.Args[2], worker.Options{})
	for name, function := range map[string]any{
		"notPaid": notPaid, "refunded": refunded, "imported": imported, "importedByChild": importedByChild,
	} {
		w.RegisterWorkflowWithOptions(function, workflow.RegisterOptions{Name: name})
	}
	w.RegisterActivity(charge)
	w.RegisterActivity(importRows)
	if err := w.Run(worker.InterruptCh()); err != nil {
		log.Fatalln(err)
	}
}
