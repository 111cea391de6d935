package main

import (
	"context"
	"log"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/workflowstreams"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

type Token struct {
	Text    string `json:"text,omitempty"`
	Attempt int32  `json:"attempt,omitempty"`
}

func Story(ctx workflow.Context, about string) (string, error) {
	// Once, before anything that blocks.
	if _, err := workflowstreams.NewWorkflowStream(ctx, nil); err != nil {
		return "", err
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	var story string
	err := workflow.ExecuteActivity(ctx, WriteStory, about).Get(ctx, &story)
	return story, err
}

func WriteStory(ctx context.Context, about string) (story string, err error) {
	options := workflowstreams.Options{BatchInterval: 200 * time.Millisecond}
	stream, err := workflowstreams.NewClientFromActivity(ctx, options)
	if err != nil {
		return "", err
	}
	defer func() {
		// Sends the last batch.
		if closeErr := stream.Close(ctx); err == nil {
			err = closeErr
		}
	}()
	tokens := stream.Topic("tokens")
	if attempt := activity.GetInfo(ctx).Attempt; attempt > 1 {
		tokens.Publish(Token{Attempt: attempt}, false)
	}
	for _, text := range askModel(about) {
		time.Sleep(100 * time.Millisecond)
		tokens.Publish(Token{Text: text}, false)
		story += text
	}
	return story, nil
}

// In a real project, a call to a model provider.
func askModel(about string) []string {
	return strings.SplitAfter("Once upon a time there was "+about+", and it lived happily ever after.", " ")
}

func main() {
	c, err := client.Dial(client.Options{HostPort: "localhost:7233"})
	if err != nil {
		log.Fatalln(err)
	}
	defer c.Close()
	w := worker.New(c, "stories", worker.Options{})
	w.RegisterWorkflowWithOptions(Story, workflow.RegisterOptions{Name: "story"})
	w.RegisterActivity(WriteStory)
	if err := w.Run(worker.InterruptCh()); err != nil {
		log.Fatalln(err)
	}
}
