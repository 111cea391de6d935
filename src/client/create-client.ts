import type { AnyWorkflows } from './catalog-types.ts'
import type { Client, WorkflowRef } from './client.ts'
import { connect } from './connection/connection.ts'
import { withKey } from './connection/idempotency-key.ts'
import type { ClientOptions } from './connection/options.ts'
import { createHandle } from './handle.ts'
import { listRuns } from './list-runs.ts'
import { pathSegment, toTarget } from './target.ts'
import { createWorkflow } from './workflow.ts'

/**
 * A client of a Portico service. It opens no connection and keeps no timers: there is nothing to close.
 *
 * `createClient<Workflows>()` knows the types of the workflows; `npx portico types` generates the interface.
 */
export function createClient<Workflows = AnyWorkflows>(options: ClientOptions): Client<Workflows> {
  const connection = connect(options)
  const workflow = (name: string) => createWorkflow(connection, name, options.catalog)
  const get = (ref: WorkflowRef) => createHandle(connection, toTarget(ref))
  const client: Client<AnyWorkflows> = {
    workflow,
    run: (name, request) => workflow(name).run(request),
    runSettled: (name, request) => workflow(name).runSettled(request),
    start: (name, request) => workflow(name).start(request),
    catalog: async (catalog = options.catalog, callOptions) => {
      const name = catalog === undefined ? '' : `/${pathSegment(catalog, 'a catalog')}`
      return connection.send({ method: 'GET', path: `/workflow/catalog${name}`, isRetryable: true }, callOptions)
    },
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
      const isRetryable = method === 'GET' || keyed.isRetryable
      const all = { method, path, ...request, headers: { ...headers, ...keyed.headers }, isRetryable }
      return connection.send(all, { signal, timeoutMs })
    },
  }
  // Types of workflows exist at compile time only.
  return client as unknown as Client<Workflows>
}
