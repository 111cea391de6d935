import type { AnyActivities, AnyWorkflows } from './catalog-types.ts'
import type { Client, HandleMethods, WorkflowHandle } from './client.ts'
import { createConnection } from './connection/connection.ts'
import { withKey } from './connection/idempotency-key.ts'
import type { ClientOptions } from './connection/options.ts'
import { createHandle } from './handle.ts'
import { filteredPages } from './pages.ts'
import { createBatches } from './requests/batches.ts'
import { createSchedules } from './requests/schedules.ts'
import { createActivity } from './runs/activity.ts'
import { pathSegment, toTarget, type WorkflowRef } from './target.ts'
import { createWorkflow } from './workflow.ts'

/**
 * A client of a Portico service. It opens no connection and keeps no timers: there is nothing to close.
 *
 * `createClient<Workflows, Activities>()` knows the types of the workflows, and of activities without one;
 * `npx portico types` generates the interfaces.
 */
export function createClient<Workflows = AnyWorkflows, Activities = AnyActivities>(
  options: ClientOptions,
): Client<Workflows, Activities> {
  const connection = createConnection(options)
  const workflow = (name: string) => createWorkflow(connection, name, options.catalog)
  const get = (ref: WorkflowRef) => createHandle(connection, toTarget(ref))
  const client: Client<AnyWorkflows> = {
    workflow,
    run: (name, request) => workflow(name).run(request),
    runSettled: (name, request) => workflow(name).runSettled(request),
    start: (name, request) => workflow(name).start(request),
    catalog: async (catalog = options.catalog, callOptions) => {
      const name = catalog === undefined ? '' : `/${pathSegment(catalog, 'a catalog')}`
      return connection.send({ method: 'GET', path: `/workflow/catalog${name}` }, callOptions)
    },
    taskQueue: (name, options) =>
      connection.send({ method: 'GET', path: `/task-queues/${pathSegment(name, 'a queue')}` }, options),
    schedules: createSchedules(connection, options.catalog),
    batches: createBatches(connection),
    list: (filter = {}) => filteredPages(connection, '/workflow/runs', filter, 'runs'),
    ...methodsOf(get),
    activity: ((ref: WorkflowRef, activityId?: string) =>
      activityId === undefined
        ? createActivity(connection, ref as string, options.catalog)
        : get(ref).activity(activityId)) as Client<AnyWorkflows>['activity'],
    activities: (filter = {}) => filteredPages(connection, '/activity/runs', filter, 'activities'),
    questions: (filter = {}) => filteredPages(connection, '/questions', filter, 'questions'),
    questionsOf: (ref, options) => get(ref).questions(options),
    request(method, path, { signal, timeoutMs, idempotencyKey, headers, ...request } = {}) {
      const keyed = withKey(idempotencyKey)
      const isRead = method === 'GET' || READS.test(path)
      const isRetryable = isRead || (keyed.isRetryable && KEYED.test(path))
      const all = { method, path, ...request, headers: { ...headers, ...keyed.headers }, isRetryable, isRead }
      return connection.send(all, { signal, timeoutMs })
    },
  }
  // These types exist at compile time only.
  return client as unknown as Client<Workflows, Activities>
}

// The requests with another method than GET that change nothing.
const READS = /^\/workflow\/(validate$|.+\/query\/)/

// A key holds within one run: a message that is sent again to a workflow id could reach a later run.
// `fail` could fail the next attempt of its activity.
const KEYED = /^\/(workflow|activity)\/(run|start|[^/]+\/runs\/.*)(?<!\/fail)$/

/** The methods of the handles that `get` returns, with the argument of `get` before their own. */
function methodsOf(get: (ref: WorkflowRef) => WorkflowHandle): HandleMethods & Pick<Client<AnyWorkflows>, 'stream'> {
  const { workflowId: _, ...methods } = get('any')
  const entries = Object.keys(methods).map((name) => {
    const call = (ref: WorkflowRef, ...rest: never[]) =>
      (get(ref)[name as keyof HandleMethods] as (...rest: never[]) => unknown)(...rest)
    return [name, call]
  })
  return Object.fromEntries(entries)
}
