/** `subscriptions/listen`: a stream that ends when the client leaves or the service shuts down. */
import { type Call, isAbortedByService, withTimeout } from '../domain/model/call.ts'
import { TIMEOUT_MS } from '../domain/model/deadlines.ts'
import { ServiceError } from '../domain/model/errors.ts'
import { sleep, whenAborted } from '../lib/abort.ts'
import { isObject } from '../lib/json.ts'
import { createLimiter, type Limiter } from '../lib/limiter.ts'
import { META, notification, type RequestId, resultMessage } from './protocol.ts'
import { invalidParams } from './rpc-error.ts'
import type { WorkflowTool } from './tools.ts'

export interface Subscription {
  id: RequestId
  params: Readonly<Record<string, unknown>>
  /** How often the tools are read. */
  ttlMs: number
  readTools(call: Call): Promise<readonly WorkflowTool[]>
  /** Waits for the end of the task, and returns it. Null if it cannot be read. Calls the engine within `limit`. */
  taskEnd(taskId: string, limit: Limiter): Promise<object | null>
}

// Each of them waits for a run.
const MAX_TASKS = 100

// The subscription does not count as a request in flight, so it must not start a hundred calls to the engine at once.
const MAX_READS = 8

/** The messages of the subscription. Throws `JsonRpcError` at once if the parameters are not valid. */
export function listen({ id, params, ttlMs, readTools, taskEnd }: Subscription, call: Call): AsyncIterable<object> {
  const { toolsListChanged, taskIds } = requested(params)
  const about = { _meta: { [META.subscriptionId]: id } }
  const queue = createQueue(call.signal)
  const limit = createLimiter(MAX_READS)

  async function watchTools(known: string | null): Promise<void> {
    for await (const _ of toolChanges(known, ttlMs, readTools, call))
      queue.push(notification('notifications/tools/list_changed', about))
  }

  async function watchTask(taskId: string): Promise<void> {
    const task = await taskEnd(taskId, limit)
    if (task !== null) queue.push(notification('notifications/tasks', { ...task, ...about }))
  }

  async function* messages(): AsyncGenerator<object> {
    call.startWaiting()
    // Read before the acknowledgement: clients read the list after it, and must be notified of every change since then.
    const known = toolsListChanged ? await digest(readTools, call) : null
    const agreed = { ...(toolsListChanged && { toolsListChanged }), ...(taskIds.length > 0 && { taskIds }) }
    yield notification('notifications/subscriptions/acknowledged', { notifications: agreed, ...about })
    const watches = [...(toolsListChanged ? [watchTools(known)] : []), ...taskIds.map(watchTask)]
    for (const watch of watches) watch.catch(queue.fail)
    yield* queue.messages()
    if (isAbortedByService(call.signal)) yield resultMessage(id, { resultType: 'complete', ...about })
  }

  return messages()
}

function requested({ notifications }: Subscription['params']): { toolsListChanged: boolean; taskIds: string[] } {
  if (!isObject(notifications)) throw invalidParams('notifications must be an object')
  const { toolsListChanged, taskIds = [] } = notifications
  const isList = Array.isArray(taskIds) && taskIds.every((taskId) => typeof taskId === 'string')
  if (!isList || taskIds.length > MAX_TASKS)
    throw invalidParams(`notifications.taskIds must be an array of at most ${MAX_TASKS} strings`)
  return { toolsListChanged: toolsListChanged === true, taskIds: [...new Set(taskIds)] }
}

// The catalog may be cached for no time at all.
const MIN_INTERVAL_MS = 1000

/** Yields each time after the tools have changed. `known` is null if they could not be read: they may have changed. */
async function* toolChanges(
  known: string | null,
  ttlMs: number,
  readTools: Subscription['readTools'],
  call: Call,
): AsyncGenerator<void> {
  let last = known
  while (!call.signal.aborted) {
    await sleep(Math.max(ttlMs, MIN_INTERVAL_MS), call.signal)
    const current = await digest(readTools, call)
    if (current === null || current === last) continue
    last = current
    yield
  }
}

/** Equal for equal tools. Null while they cannot be read. */
async function digest(readTools: Subscription['readTools'], call: Call): Promise<string | null> {
  if (call.signal.aborted) return null
  try {
    // With a new deadline, because the call's own has passed.
    const tools = await readTools(withTimeout(call, TIMEOUT_MS.request))
    return JSON.stringify(tools.map(({ tool }) => tool))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return null
  }
}

/** What several sources push, until the signal aborts. */
function createQueue(signal: AbortSignal) {
  const waiting: object[] = []
  let failure: { error: unknown } | null = null
  let wake = () => {}
  return {
    push(message: object): void {
      waiting.push(message)
      wake()
    },
    fail(error: unknown): void {
      failure = { error }
      wake()
    },
    async *messages(): AsyncGenerator<object> {
      const stop = whenAborted(signal, () => wake())
      try {
        while (!signal.aborted) {
          for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) yield next
          if (failure !== null) throw failure.error
          const { promise, resolve } = Promise.withResolvers<void>()
          wake = resolve
          if (!signal.aborted && waiting.length === 0) await promise
        }
      } finally {
        stop()
      }
    },
  }
}
