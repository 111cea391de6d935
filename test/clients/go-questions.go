// The worker of examples/questions/order.go. Arguments: address and task queue.
package main

import (
	"log"
	"os"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
)

func main() {
	c, err := client.Dial(client.Options{HostPort: os.Args[1]})
	if err != nil {
		log.Fatalln(err)
	}
	defer c.Close()
	w := worker.New(c, os.Args[2], worker.Options{})
	w.RegisterWorkflow(order)
	if err := w.Run(worker.InterruptCh()); err != nil {
		log.Fatalln(err)
	}
}
