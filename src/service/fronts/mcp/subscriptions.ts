/** `subscriptions/listen`: a stream that ends when the client leaves or the service shuts down. */

import { sleep, whenAborted } from '../../../shared/lib/abort.ts'
import { isObject } from '../../../shared/lib/json.ts'
import { createLimiter, type Limiter } from '../../../shared/lib/limiter.ts'
import { type Call, isAbortedByService, withTimeout } from '../../model/call.ts'
import { TIMEOUT_MS } from '../../model/deadlines.ts'
import { ServiceError } from '../../model/errors.ts'
import { META, notification, type RequestId, resultMessage } from './protocol.ts'
import { invalidParams } from './rpc-error.ts'
import type { WorkflowTool } from './tools.ts'

export interface Subscription {
  id: RequestId
  params: Readonly<Record<string, unknown>>
  /** How often the tools are read. */
  ttlMs: number
  readTools(call: Call): Promise<readonly WorkflowTool[]>
  /** Waits for the end of the task. False if it cannot be read. Calls the engine within `limit`. */
  taskEnds(taskId: string, limit: Limiter): Promise<boolean>
  /** Null if it cannot be read. */
  readTask(taskId: string): Promise<object | null>
}

/** What has happened. A task is read when the client takes its message, because it can be as large as a payload. */
interface Event {
  /** The task that has ended; absent if the tools have changed. */
  taskId?: string
}

const TOOLS_CHANGED: Event = {}

// A workflow id of 1000 bytes, percent-encoded, and a run id. The first message of a subscription repeats the ids.
const MAX_TASK_ID = 3 * 1000 + 1 + 36

// Each of them waits for a run.
const MAX_TASKS = 100

// What is read of a task that has ended can be as large as a payload. And the subscription does not count as a request
// in flight, so it must not start a hundred calls to the engine at once.
const MAX_READS = 1

/**
 * The messages of the subscription. Throws at once a `JsonRpcError` if the parameters are not valid, and a
 * `TooManyRequestsError` if the caller may not wait for so many tasks.
 */
export function listen(subscription: Subscription, call: Call): AsyncIterable<object> {
  const { id, params, ttlMs, readTools, taskEnds, readTask } = subscription
  const { toolsListChanged, taskIds } = requested(params)
  // Each task is a wait for a run.
  call.countWaits?.(Math.max(taskIds.length, 1))
  const about = { _meta: { [META.subscriptionId]: id } }
  const queue = createQueue<Event>(call.signal)
  const limit = createLimiter(MAX_READS)

  async function watchTools(known: string | null): Promise<void> {
    for await (const _ of toolChanges(known, ttlMs, readTools, call)) queue.push(TOOLS_CHANGED)
  }

  async function watchTask(taskId: string): Promise<void> {
    if (await taskEnds(taskId, limit)) queue.push({ taskId })
  }

  async function messageOf({ taskId }: Event): Promise<object | null> {
    if (taskId === undefined) return notification('notifications/tools/list_changed', about)
    const task = await readTask(taskId)
    return task && notification('notifications/tasks', { ...task, ...about })
  }

  async function* messages(): AsyncGenerator<object> {
    call.startWaiting()
    // Read before the acknowledgement: clients read the list after it, and must be notified of every change since then.
    const known = toolsListChanged ? await digest(readTools, call) : null
    const agreed = { ...(toolsListChanged && { toolsListChanged }), ...(taskIds.length > 0 && { taskIds }) }
    yield notification('notifications/subscriptions/acknowledged', { notifications: agreed, ...about })
    const watches = [...(toolsListChanged ? [watchTools(known)] : []), ...taskIds.map(watchTask)]
    for (const watch of watches) watch.catch(queue.fail)
    for await (const event of queue.values()) {
      const message = await messageOf(event)
      if (message !== null) yield message
    }
    if (isAbortedByService(call.signal)) yield resultMessage(id, { resultType: 'complete', ...about })
  }

  return messages()
}

function requested({ notifications }: Subscription['params']): { toolsListChanged: boolean; taskIds: string[] } {
  if (!isObject(notifications)) throw invalidParams('notifications must be an object')
  const { toolsListChanged, taskIds = [] } = notifications
  const isList = Array.isArray(taskIds) && taskIds.every(isShortString)
  if (!isList || taskIds.length > MAX_TASKS)
    throw invalidParams(
      `notifications.taskIds must be an array of at most ${MAX_TASKS} strings of at most ${MAX_TASK_ID} characters`,
    )
  return { toolsListChanged: toolsListChanged === true, taskIds: [...new Set(taskIds)] }
}

// The catalog may be cached for no time at all.
const MIN_INTERVAL_MS = 1000

function isShortString(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TASK_ID
}

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

/** What several sources push, until the signal aborts. A value that is pushed again before it is taken comes once. */
function createQueue<T>(signal: AbortSignal) {
  const waiting = new Set<T>()
  let failure: { error: unknown } | null = null
  let wake = () => {}
  return {
    push(value: T): void {
      waiting.add(value)
      wake()
    },
    fail(error: unknown): void {
      failure = { error }
      wake()
    },
    async *values(): AsyncGenerator<T> {
      const stop = whenAborted(signal, () => wake())
      try {
        while (!signal.aborted) {
          for (const next of waiting) {
            waiting.delete(next)
            yield next
          }
          if (failure !== null) throw failure.error
          const { promise, resolve } = Promise.withResolvers<void>()
          wake = resolve
          if (!signal.aborted && waiting.size === 0) await promise
        }
      } finally {
        stop()
      }
    },
  }
}
