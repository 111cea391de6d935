import { REDACTED } from '../../protocol/secret-names.ts'
import type { Published } from '../catalog/catalogs.ts'
import { isPolling } from '../catalog/is-polling.ts'
import { readPublished } from '../catalog/read-published.ts'
import { rejectReserved } from '../control/catalog-guard.ts'
import type { Call } from '../model/call.ts'
import type { Engine, TaskKind } from '../model/engine.ts'
import { hasErrorName, ServiceError } from '../model/errors.ts'
import type { Description, ExecutionRef } from '../model/execution.ts'
import type { Explanation, Reason } from '../model/explanation.ts'
import type { PendingWork } from '../model/pending-work.ts'
import type { Ports } from '../model/ports.ts'
import { withinCall } from '../model/share-calls.ts'
import { isIdle, type RunFacts, reasonsOf } from './reasons.ts'

export type ExplainPorts = Pick<Ports, 'catalogs' | 'now'> & { engine: Pick<Engine, 'lastPolledAt'> }

/** Makes one engine call for a closed run and three for an open one, besides those for the catalog, which is cached. */
export async function explain(
  ports: Pick<Ports, 'engine'> & ExplainPorts,
  ref: ExecutionRef,
  call: Call,
): Promise<Explanation> {
  const run = await ports.engine.describe(ref, call)
  rejectReserved(run)
  const { workflowId, runId } = run
  const reasons = await reasonsFor(ports, run, call)
  return { workflowId, runId, verdict: reasons[0].kind, since: reasons[0].since, reasons }
}

/** The reasons of a run that was described just now. */
export async function reasonsFor(ports: ExplainPorts, run: Description, call: Call): Promise<[Reason, ...Reason[]]> {
  if (run.pendingWork === undefined) return [closed(run)]
  const [read, { published, redacted }] = await Promise.all([run.pendingWork(call), readPublished(ports, run, call)])
  const work = redacted ? withoutMessages(read) : read
  const [queue, handlers] = await Promise.all([
    readQueue(ports, run, work, call),
    published !== null && isIdle(work) ? readHandlers(ports, run, published, call) : null,
  ])
  return reasonsOf({ work, queue, handlers })
}

function closed({ status, completedAt }: Description): Reason {
  const advice = status === 'continued' ? 'explain the latest run: leave out the run id' : 'get the result of the run'
  return { kind: 'closed', since: completedAt, status, advice }
}

/** Removes the messages of failures: only the workers know which of them may be shown. */
function withoutMessages({ problem, activities, ...work }: PendingWork): PendingWork {
  return {
    ...work,
    problem: problem && { ...problem, message: REDACTED },
    activities: activities.map(({ lastFailure, ...activity }) => ({
      ...activity,
      lastFailure: lastFailure && { ...lastFailure, message: REDACTED },
    })),
  }
}

/** Never cached, so that a worker that has stopped or started is noticed at once. */
async function readQueue(
  { engine, now = Date.now }: ExplainPorts,
  run: Description,
  work: PendingWork,
  call: Call,
): Promise<RunFacts['queue']> {
  const queue = awaitedQueue(run, work)
  try {
    const lastPolledAt = await engine.lastPolledAt(queue.taskQueue, call, queue.tasks)
    return { ...queue, lastPolledAt, isPolled: isPolling(lastPolledAt, now()) }
  } catch (error) {
    // The transport cannot send this name, so nothing is known about its workers.
    if (hasErrorName(error, 'NotSupportedError')) return { ...queue, lastPolledAt: null, isPolled: true }
    throw error
  }
}

/**
 * The task queue on which the run waits for a worker. It is that of the first activity that waits for one, or that of
 * the workflow if there is a workflow task or no such activity.
 */
function awaitedQueue(
  { catalog }: Description,
  { workflowTask, activities }: PendingWork,
): { taskQueue: string; tasks: TaskKind } {
  const waiting = activities.find(
    ({ state, nextAttemptAt, taskQueue }) => state === 'scheduled' && nextAttemptAt === null && taskQueue !== '',
  )
  return workflowTask === null && waiting !== undefined
    ? { taskQueue: waiting.taskQueue, tasks: 'activity' }
    : { taskQueue: catalog, tasks: 'workflow' }
}

/** Null if they cannot be read: the other reasons are useful without them. */
async function readHandlers(
  { catalogs }: ExplainPorts,
  { workflowName }: Description,
  published: Published,
  call: Call,
): Promise<RunFacts['handlers']> {
  try {
    const workflows = await withinCall(catalogs.workflows(published), call)
    return workflows?.find(({ name }) => name === workflowName) ?? null
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    call.note({ handlersUnread: error })
    return null
  }
}
