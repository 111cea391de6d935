/** What `docs/configuration.md` says about each setting. Its default is in the setting, unless it depends on others. */

/** The meaning, or the default and the meaning. */
type Text = string | readonly [defaultText: string, meaning: string]

/** The tables of the page, each with its rows. */
export const SETTINGS: Readonly<Record<string, Readonly<Record<string, Text>>>> = {
  engine: {
    ENGINE_ADDRESS: "`<host>:<port>` of the server's gRPC frontend, without a scheme",
    ENGINE_NAMESPACE:
      'Temporal namespace: of the workers, and of API paths that name none. Over gRPC: printable ASCII. Over HTTP: no slash, and not `.` or `..`',
    ENGINE_API_KEY: 'Secret. API key of the server. Enables TLS; with `ENGINE_TLS=false` the key is sent in plain text',
    ENGINE_TLS: ['`true` with an API key or any other `ENGINE_TLS_…` variable, else `false`', 'Whether to use TLS'],
    ENGINE_TLS_CA: [
      "the system's certificate authorities",
      "Path of a PEM file: the certificate authority that signed the server's certificate",
    ],
    ENGINE_TLS_CERT: 'Path of a PEM file: the client certificate (mTLS). Requires `ENGINE_TLS_KEY`',
    ENGINE_TLS_KEY: 'Path of a PEM file: the private key of the client certificate',
    ENGINE_TLS_SERVER_NAME: [
      'the host of `ENGINE_ADDRESS`',
      "Name expected in the server's certificate. If that host is an IP address, Bun and Deno require this variable, and Node warns with `DEP0123`",
    ],
  },
  'engine-of-the-api': {
    ENGINE_NAMESPACES:
      'Further [namespaces](api/service.md#namespaces), below `/namespaces/<name>`: comma-separated, at most 100, with the same address, API key and certificates. `ENGINE_NAMESPACE` may be one of them. Not `.` or `..`',
    ENGINE_TRANSPORT: [
      '`grpc`; on workerd `http`',
      "Protocol for calls to the server: `grpc`, or `http` for [Temporal's HTTP API](deployment.md#temporals-http-api)",
    ],
    ENGINE_HTTP_URL:
      "Base URL of Temporal's HTTP API: the part before `/api/v1`, without credentials or a query. Required with `ENGINE_TRANSPORT=http`",
    ENGINE_UI_URL: "Base URL of Temporal's web UI, as people reach it with a browser. Shown in `GET /capabilities`",
    ENGINE_CODEC_ENDPOINT: 'Base URL of a [codec server](deployment.md#codec-server)',
  },
  service: {
    SERVICE_CATALOG_ID: [
      'required',
      'Catalog (task queue) of requests that do not name one. A worker uses the same variable for its own task queue',
    ],
    SERVICE_PORT: 'Port. With `0` the system chooses a free port, which the log shows',
    SERVICE_HOST: ['`127.0.0.1` with neither a token nor a policy, else `0.0.0.0`', 'Address to listen on'],
    SERVICE_BASE_PATH: 'Prefix of every route, such as `/portico` ([Base path](deployment.md#base-path))',
    SERVICE_API_AUTH_TOKEN:
      'Secret. The token that clients send, or a comma-separated list of tokens ([Access control](deployment.md#access-control))',
    SERVICE_POLICY: 'Who may do what, as JSON: the [policy](access.md). Every request then needs a credential',
    SERVICE_POLICY_FILE:
      'Instead of `SERVICE_POLICY`: path of a file with the policy, which is [read again](access.md#reload) when it changes. Not on workerd',
    'SERVICE_HOOK_…':
      'Secret. The secrets of [hooks](hooks.md), each in a variable that `secretEnv` names, such as `SERVICE_HOOK_STRIPE`',
    SERVICE_AUDIT: [
      '`effects` with a policy, else `off`',
      'Which decisions about requests are logged, whatever `SERVICE_LOG_LEVEL` is: `off`; `effects`, changes and denials; `all`',
    ],
    SERVICE_SIGNING_KEY:
      "Secret. Enables [access tokens](access.md#access-tokens) and, with `SERVICE_PUBLIC_URL`, [one-use links](access.md#one-use-links). At least 32 random bytes in base64url, such as from `openssl rand -base64 32 | tr '+/' '-_' | tr -d =`. To [replace it](access.md#access-tokens), several keys are separated by commas",
    SERVICE_PUBLIC_URL:
      'The address under which people reach this service, such as `https://api.example.com/portico`: the base of links and of every `Location`',
    SERVICE_NAME:
      "The name of this service, if it has no `SERVICE_PUBLIC_URL`: [services](access.md#access-tokens) with one signing key and different names or origins reject each other's tokens",
    SERVICE_ALLOW_ANONYMOUS:
      'If neither a token nor a policy is set, allows requests from any client, on any address and under any host name',
    SERVICE_CORS_ORIGINS:
      'Origins whose pages may call the API, comma-separated, such as `https://app.example.com`, `capacitor://localhost` or `chrome-extension://<id>`; `*` for all',
    SERVICE_FORWARD_HEADERS:
      'Request headers that workers receive as [Temporal headers](api/start.md#headers-and-trace-context), comma-separated, such as `X-Tenant, X-User`. `Authorization`, `Cookie` and `Proxy-Authorization` are not allowed',
    SERVICE_MAX_BODY_BYTES: 'Maximum size of a request body, in bytes',
    SERVICE_MAX_UNPROVEN_BYTES:
      'Memory for the bodies of all requests to [hooks](hooks.md) that are not verified yet, in bytes. Above it: 503. No effect on workerd',
    SERVICE_MAX_PAYLOAD_BYTES:
      "Maximum total size of the encoded payloads of one call, in bytes. Raise it only together with the server's own limit: a larger update blocks its run permanently",
    SERVICE_MAX_INFLIGHT:
      'Maximum number of requests that are [handled at the same time](limits-and-logs.md#overload). No effect on workerd',
    SERVICE_BULK_CONCURRENCY:
      'Lines of one [bulk](api/bulk.md#bulk) that are carried out at the same time; at most `SERVICE_MAX_INFLIGHT`',
    SERVICE_RUN_MAX_TIMEOUT: 'Maximum `timeout` of a `run` request, and maximum `wait` for a result',
    SERVICE_MAX_POLLS:
      'Maximum number of long polls that the service holds open for each namespace ([Waiting requests](limits-and-logs.md#waiting-requests))',
    SERVICE_STREAM_BUFFER_BYTES:
      'Memory for the latest items of one [stream](api/stream.md#stream), in bytes; all streams of a namespace together may use 16 times as much. Older items are read again',
    SERVICE_STREAM_UPDATES:
      'Maximum number of updates with which the readers of a [stream](streams.md#how-long-a-run-can-stream) read one run. The server allows a run 2000, of which the rest is for your own',
    SERVICE_MESSAGE_TIMEOUT: 'How long a query or an update waits for a worker',
    SERVICE_CATALOG_TTL: 'How long a catalog stays cached; `0` reads it for each request',
    SERVICE_RESULT_CACHE_BYTES:
      'Memory for the [results of closed runs](api/result.md#caching-of-results), in bytes; `0` keeps none. The [namespaces](api/service.md#namespaces) get equal parts',
    SERVICE_CHECK_OUTPUTS: [
      '`false`; in `npx portico dev` and `npm run dev` `true`',
      'For development: warns, with [a header](api/result.md#output-warnings) and in the log, about an output that does not match its `outputSchema`',
    ],
    SERVICE_IDLE_TIMEOUT: [
      '`65s`',
      'Node only: how long a connection without a request stays open ([Idle connections](deployment.md#idle-connections))',
    ],
    SERVICE_SHUTDOWN_TIMEOUT:
      'Time from the first signal to the end of the process ([Shutdown](deployment.md#shutdown))',
    SERVICE_LOG_LEVEL: '`debug`, `info`, `warn` or `error`',
    SERVICE_CONSOLE_ON: [
      '`false`; `true` with `npm run dev` and `npx portico dev`',
      'Enables the [console](api/service.md#console)',
    ],
    SERVICE_DOCS_ON: [
      '`false`; `true` with `npm run dev` and `npx portico dev`',
      'Enables the [reference page](api/service.md#reference-page) at `GET /docs`',
    ],
    SERVICE_MCP_ON: 'Enables [`POST /mcp`](mcp.md): workflows are tools of agents',
    SERVICE_MCP_WAIT: 'How long a tool call waits for its workflow before it returns that it is still running',
    SERVICE_MCP_MAX_OUTPUT:
      "Size at which the text of a [tool's result](mcp.md#results) is cut, in bytes; at least 1024",
    SERVICE_METRICS_ON: 'Enables [`GET /metrics`](deployment.md#metrics)',
    SERVICE_METRICS_PORT: [
      'the port of the service',
      'Serves `/metrics` on this port instead, without a credential. With `0` the system chooses a free port, which the log shows',
    ],
  },
  traces: {
    SERVICE_TRACE_REMOTE_ON:
      'Workers archive traces in object storage, and the API also reads spans from the key-value store. Requires the access key, the secret key and the region below, with which the API reads archived traces even without this variable',
    SERVICE_KVSTORE_URL:
      'Secret if it contains a password. URL of the key-value store: `redis://`, `rediss://`, or `https://` (Upstash REST)',
    SERVICE_KVSTORE_TOKEN: 'Secret. Token of an `https://` store, unless the URL contains it as the password',
    SERVICE_STORAGE_ACCESS_KEY_ID: 'Secret. Access key of the object storage',
    SERVICE_STORAGE_SECRET_ACCESS_KEY: 'Secret. Secret key of the object storage',
    SERVICE_STORAGE_REGION: 'Region, such as `eu-central-1`',
    SERVICE_STORAGE_BUCKET: [
      'any bucket in that region',
      'The only bucket that is read. Required on a worker with remote tracing: the bucket that is written to',
    ],
    SERVICE_STORAGE_ENDPOINT: ['AWS', 'Base URL of an S3-compatible server. Requires `SERVICE_STORAGE_BUCKET`'],
    SERVICE_TRACE_LOCAL_ON: 'Makes workers write traces as files. Requires `SERVICE_TRACE_LOCAL_DIR`',
    SERVICE_TRACE_LOCAL_DIR: 'Absolute path of the folder with trace files',
    SERVICE_TRACE_MAX_BYTES:
      'Maximum size of the stored trace of one run, and of all runs in one response, in bytes ([Size limits](traces.md#size-limits))',
  },
  workers: {
    ENGINE_MAX_CONCURRENT_ACTIVITY_TASK_EXECUTIONS: 'Maximum number of activities that run at the same time',
    ENGINE_MAX_CONCURRENT_WORKFLOW_TASK_EXECUTIONS: 'Maximum number of workflow tasks that run at the same time',
    ENGINE_MAX_CACHED_WORKFLOWS: 'Maximum number of workflows kept in memory',
    ENGINE_MAX_CONCURRENT_ACTIVITY_TASK_POLLS: 'Maximum number of concurrent polls for activity tasks',
    ENGINE_MAX_CONCURRENT_WORKFLOW_TASK_POLLS: 'Maximum number of concurrent polls for workflow tasks, at least 2',
  },
  webhooks: {
    SERVICE_WEBHOOKS:
      'Endpoints that receive a message when a run ends, as JSON: [Webhooks](webhooks.md#configure-the-endpoints)',
    SERVICE_WEBHOOKS_FILE: 'Instead of `SERVICE_WEBHOOKS`: path of a file with the endpoints',
    'SERVICE_WEBHOOK_…':
      'Secret. The secrets that the endpoints name: `whsec_` and the base64 of 24 to 64 random bytes',
  },
}
