// A workflow that asks a person one question at a time. docs/protocol.md describes the memo.
package main

import (
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/workflow"
)

type answer struct {
	Key     string
	Content struct{ Approved bool }
}

func order(ctx workflow.Context, amount int) (string, error) {
	var key string
	newKey := func(workflow.Context) any { return uuid.NewString() }
	if err := workflow.SideEffect(ctx, newKey).Get(&key); err != nil {
		return "", err
	}
	properties := map[string]any{"approved": map[string]any{"type": "boolean"}}
	now := workflow.Now(ctx)
	ask := map[string]any{
		"signal":  "answer",
		"message": fmt.Sprintf("Approve the order of %d EUR?", amount),
		"schema":  map[string]any{"type": "object", "properties": properties, "required": []string{"approved"}},
		"to":      []string{"finance"},
		"askedAt": now,
		"due":     now.Add(72 * time.Hour),
	}
	if err := workflow.UpsertMemo(ctx, map[string]any{"$asks": map[string]any{key: ask}}); err != nil {
		return "", err
	}
	var first *answer
	workflow.Go(ctx, func(ctx workflow.Context) {
		for first == nil {
			var given answer
			workflow.GetSignalChannel(ctx, "answer").Receive(ctx, &given)
			if given.Key == key {
				first = &given
			}
		}
	})
	err := workflow.Await(ctx, func() bool { return first != nil })
	if memoErr := workflow.UpsertMemo(ctx, map[string]any{"$asks": map[string]any{}}); err == nil {
		err = memoErr
	}
	if err != nil || !first.Content.Approved {
		return "rejected", err
	}
	return "shipped", nil
}
