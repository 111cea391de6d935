import type { AnyWorkflows } from './catalog-types.ts'
import type { Client, ClientOptions, ListOptions, StartRequest, Workflow, WorkflowRef } from './client.ts'
import { type Connection, connect } from './connection/connection.ts'
import { newIdempotencyKey, withKey } from './connection/idempotency-key.ts'
import { createHandle, outputOf } from './handle.ts'
import { type Pages, toPages } from './pages.ts'
import type { ListedRun, RunPage, RunRef } from './responses.ts'
import { toTarget } from './target.ts'
import { untilEnded } from './wait.ts'

/**
 * A client of a Portico service. It opens no connection and keeps no timers: there is nothing to close.
 *
 * `createClient<Workflows>()` knows the types of the workflows; `npx portico types` generates the interface.
 */
export function createClient<Workflows = AnyWorkflows>(options: ClientOptions): Client<Workflows> {
  const connection = connect(options)
  const workflow = (name: string) => createWorkflow(connection, name)
  const get = (ref: WorkflowRef) => createHandle(connection, toTarget(ref))
  const client: Client<AnyWorkflows> = {
    workflow,
    run: (name, request) => workflow(name).run(request),
    runSettled: (name, request) => workflow(name).runSettled(request),
    start: (name, request) => workflow(name).start(request),
    list: (filter = {}) => listRuns(connection, filter),
    result: (ref, request) => get(ref).result(request),
    resultSettled: (ref, request) => get(ref).resultSettled(request),
    status: (ref, request) => get(ref).status(request),
    explain: (ref, request) => get(ref).explain(request),
    history: (ref, request) => get(ref).history(request),
    signal: (ref, name, request) => get(ref).signal(name, request),
    query: (ref, name, request) => get(ref).query(name, request),
    update: (ref, name, request) => get(ref).update(name, request),
    stop: (ref, request) => get(ref).stop(request),
    terminate: (ref, request) => get(ref).terminate(request),
    request(method, path, { signal, timeoutMs, idempotencyKey, headers, ...request } = {}) {
      const keyed = withKey(idempotencyKey)
      const isRepeatable = method === 'GET' || keyed.isRepeatable
      const all = { method, path, ...request, headers: { ...headers, ...keyed.headers }, isRepeatable }
      return connection.send(all, { signal, timeoutMs })
    },
  }
  // Types of workflows exist at compile time only.
  return client as unknown as Client<Workflows>
}

function createWorkflow(connection: Connection, workflowName: string): Workflow {
  const get = (ref: WorkflowRef) => createHandle(connection, toTarget(ref))

  async function runSettled(request: StartRequest = {}) {
    const { body, key, options } = startParts(workflowName, request)
    const post = { method: 'POST', path: '/workflow/run', body, ...withKey(key) }
    const first = (waitMs: number) => {
      const headers = { ...post.headers, Prefer: `respond-async, wait=${Math.floor(waitMs / 1000)}` }
      return { ...post, headers, waitMs }
    }
    const { workflowId } = request
    const known = { ...(workflowId !== undefined && { workflowId }), ...(key !== undefined && { idempotencyKey: key }) }
    return untilEnded(connection, first, known, options)
  }

  return {
    runSettled,
    run: async (request) => outputOf(await runSettled(request)),
    async start(request = {}) {
      const { body, key, options } = startParts(workflowName, request)
      const post = { method: 'POST', path: '/workflow/start', body, ...withKey(key) }
      const run = await connection.send<RunRef>(post, options)
      return createHandle(connection, { ...run, isPinned: false })
    },
    get,
  }
}

/** The request, separated into what the service receives and what is about the call. */
function startParts(workflowName: string, { signal, timeoutMs, idempotencyKey, ...fields }: StartRequest) {
  const isWithoutArguments = fields.input === undefined && fields.args === undefined
  const body = { workflowName, ...fields, ...(isWithoutArguments && { args: [] }) }
  // The service rejects a key together with this policy: the repeated request would terminate the new run.
  const isRepeatable = fields.workflowIdConflictPolicy !== 'terminate-existing'
  const key = idempotencyKey ?? (isRepeatable ? newIdempotencyKey() : undefined)
  return { body, key, options: { signal, timeoutMs } }
}

function listRuns(
  connection: Connection,
  { signal, timeoutMs, searchAttributes = {}, ...filter }: ListOptions,
): Pages<ListedRun, RunPage> {
  const attributes = Object.entries(searchAttributes).map(([name, value]) => [`searchAttributes[${name}]`, value])
  const query = { ...filter, ...Object.fromEntries(attributes) }
  return toPages({
    read: (pageToken = filter.pageToken) =>
      connection.send(
        { method: 'GET', path: '/workflow/runs', query: { ...query, pageToken }, isRepeatable: true },
        { signal, timeoutMs },
      ),
    itemsOf: ({ runs }) => runs,
    nextToken: ({ nextPageToken }) => nextPageToken,
  })
}
