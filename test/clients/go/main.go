// Runs, updates and fails with a client of oapi-codegen. Prints what it received.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"

	"github.com/google/uuid"
)

func main() {
	ctx := context.Background()
	token := WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("PORTICO_TOKEN"))
		return nil
	})
	portico, err := NewClientWithResponses(os.Getenv("PORTICO_URL"), token)
	check(err)

	greeting, err := portico.RunGreetWithResponse(ctx, nil, GreetRequest{
		WorkflowName: "greet",
		Input:        GreetInput{Name: "Ada"},
	})
	check(err)

	order := OrderInput{OrderId: uuid.NewString(), Amount: 250, Card: "4242"}
	started, err := portico.StartOrderWithResponse(ctx, nil, OrderRequest{
		WorkflowName: "order",
		WorkflowId:   &order.OrderId,
		Input:        order,
	})
	check(err)
	id := started.JSON200.WorkflowId
	updated, err := portico.UpdateOrderPriorityWithResponse(ctx, id, nil, OrderUpdatePriorityRequest{
		Payload: OrderUpdatePriorityInput{Level: OrderUpdatePriorityInputLevelHigh},
	})
	check(err)
	progress, err := portico.QueryOrderProgressWithResponse(ctx, id, nil, MessageRequest{})
	check(err)
	accepted := true
	if order.Amount > 100 {
		approved, err := portico.SignalOrderApproveWithResponse(ctx, id, nil, OrderSignalApproveRequest{
			Payload: OrderSignalApproveInput{By: "Grace"},
		})
		check(err)
		accepted = bool(approved.JSON200.Accepted)
	}

	declined, err := portico.RunOrderWithResponse(ctx, nil, OrderRequest{
		WorkflowName: "order",
		Input:        OrderInput{OrderId: uuid.NewString(), Amount: 40, Card: "0000"},
	})
	check(err)
	rejected, err := portico.RunGreetWithResponse(ctx, nil, GreetRequest{WorkflowName: "greet"})
	check(err)
	problem := rejected.ApplicationproblemJSON400

	check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"hello":    greeting.JSON200.Output,
		"level":    updated.JSON200.After,
		"priority": progress.JSON200.Priority,
		"accepted": accepted,
		"failed":   []any{declined.JSON200.Status, declined.JSON200.ErrorDetails.Name},
		"problem":  []any{rejected.StatusCode(), problem.Error, (*problem.Issues)[0].Path},
	}))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
