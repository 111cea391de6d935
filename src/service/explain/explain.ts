import { REDACTED } from '../../shared/wire/secret-names.ts'
import { isPolling, type Published, readPublished } from '../catalog/catalogs.ts'
import { type Call, withinCall } from '../model/call.ts'
import type { May } from '../model/commands.ts'
import type { Engine } from '../model/engine.ts'
import { hasErrorName, ServiceError } from '../model/errors.ts'
import { type Description, rejectReserved } from '../model/execution.ts'
import type { ExplainCommand, Explanation, Reason } from '../model/explanation.ts'
import type { PendingWork } from '../model/pending-work.ts'
import type { Problem } from '../model/problem.ts'
import { parseAsks } from '../model/question.ts'
import type { Ports } from '../ports.ts'
import { toWorkflowStatus } from '../runs/status.ts'
import { actionFor } from './actions.ts'
import { type AwaitedQueue, isIdle, type RunFacts, reasonsOf } from './reasons.ts'

export type ExplainPorts = Pick<Ports, 'catalogs' | 'now'> & { engine: Pick<Engine, 'lastPolledAt'> }

/**
 * Makes one engine call for a closed run and three for an open one, besides those for the catalog and for whether the
 * engine can repair activities, which are cached.
 */
export async function explain(
  ports: Pick<Ports, 'engine' | 'engineSupport'> & ExplainPorts,
  { ref, may = () => false }: ExplainCommand,
  call: Call,
): Promise<Explanation> {
  const run = await ports.engine.describe(ref, call)
  rejectReserved(run)
  const { workflowId, runId } = run
  const reasons = await reasonsFor(ports, run, call)
  const { kind: verdict, since } = reasons[0]
  const canRepair = reasons.some(isOfActivity) && (await supportsRepair(ports, call))
  const mayDo: May = (request) => (request.verb !== 'repair' || canRepair) && may(request)
  return {
    workflowId,
    runId,
    verdict,
    since,
    reasons: reasons.map((reason) => ({ ...reason, action: actionFor(reason, run, mayDo) })),
    run: await toWorkflowStatus(ports, run, problemIn(reasons), call),
  }
}

/** The problem of the status, which would read the history for it. */
function problemIn(reasons: readonly Reason[]): Problem | null {
  const failing = reasons.find((reason) => reason.kind === 'workflow_task_failing')
  if (failing === undefined) return null
  const { advice: _, ...problem } = failing
  return problem
}

function isOfActivity({ kind }: Reason): boolean {
  return kind === 'activity_retrying' || kind === 'activity_running'
}

/** False if it cannot be read: a request that is named must work. */
async function supportsRepair({ engineSupport }: Pick<Ports, 'engineSupport'>, call: Call): Promise<boolean> {
  try {
    return await engineSupport.repair(call)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    call.note({ repairUnknown: error })
    return false
  }
}

/** The reasons of a run that was described just now. */
export async function reasonsFor(ports: ExplainPorts, run: Description, call: Call): Promise<[Reason, ...Reason[]]> {
  if (run.pendingWork === undefined) return [closed(run)]
  const [read, { published, redacted }] = await Promise.all([run.pendingWork(call), readPublished(ports, run, call)])
  const work = redacted ? withoutMessages(read) : read
  const [queue, handlers, asks] = await Promise.all([
    readQueue(ports, run, work, call),
    published !== null && isIdle(work) ? readHandlers(ports, run, published, call) : null,
    readAsks(run, call),
  ])
  return reasonsOf({ work, queue, handlers, asks, now: (ports.now ?? Date.now)() })
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
 * The task queue on which the run waits for a worker. It is that of the activity that has waited for one the longest,
 * or that of the workflow if there is a workflow task or no such activity.
 */
function awaitedQueue({ catalog }: Description, { workflowTask, problem, activities }: PendingWork): AwaitedQueue {
  const [waiting] = activities
    .filter(
      ({ state, nextAttemptAt, taskQueue }) => state === 'scheduled' && nextAttemptAt === null && taskQueue !== '',
    )
    .toSorted((one, other) => Number(one.since) - Number(other.since))
  if (workflowTask === null && waiting !== undefined)
    return { taskQueue: waiting.taskQueue, tasks: 'activity', waitsSince: waiting.since }
  // A task that has failed waits for its next attempt.
  const isWaiting = workflowTask?.startedAt === null && problem === null
  return { taskQueue: catalog, tasks: 'workflow', waitsSince: isWaiting ? workflowTask.scheduledAt : null }
}

/** Empty if the codec server fails: the other reasons are useful without them. */
async function readAsks(run: Description, call: Call): Promise<RunFacts['asks']> {
  try {
    return parseAsks(await run.asks?.())
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    call.note({ asksUnread: error })
    return new Map()
  }
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
