// Sends one request with net/http on a connection that has been used.
// Arguments: URL, body or "" for a GET, Idempotency-Key or "".
package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
)

func main() {
	target, body, key := os.Args[1], os.Args[2], os.Args[3]
	health, err := url.Parse(target)
	check(err)
	used, err := http.Get(health.ResolveReference(&url.URL{Path: "/health"}).String())
	check(err)
	_, err = io.Copy(io.Discard, used.Body)
	check(err)
	used.Body.Close()

	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	request, err := http.NewRequest(method, target, strings.NewReader(body))
	check(err)
	request.Header.Set("Content-Type", "application/json")
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := http.DefaultClient.Do(request)
	check(err)
	received, err := io.ReadAll(response.Body)
	check(err)
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{"status": response.StatusCode, "body": json.RawMessage(received)}))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
