import type { HandlerEntry } from '../../shared/wire/catalog.ts'
import type { TaskKind } from '../model/engine.ts'
import type { Reason } from '../model/explanation.ts'
import type { PendingActivity, PendingWork } from '../model/pending-work.ts'
import type { OpenAsk } from '../model/question.ts'

/** What is known about an open run. */
export interface RunFacts {
  work: PendingWork
  /** The open questions, by key. */
  asks: ReadonlyMap<string, OpenAsk>
  /** The task queue that the run waits on. */
  queue: AwaitedQueue & { isPolled: boolean; lastPolledAt: Date | null }
  /** Epoch milliseconds. */
  now: number
  /** What the catalog publishes about the workflow; null if it publishes nothing. */
  handlers: { signals: readonly HandlerEntry[]; updates: readonly HandlerEntry[] } | null
}

export interface AwaitedQueue {
  taskQueue: string
  tasks: TaskKind
  /** Since when a task in it waits for a worker; null if none does. */
  waitsSince: Date | null
}

// In the order in which they decide the verdict.
const REASONS: readonly ((facts: RunFacts) => Reason[])[] = [
  paused,
  workflowTaskFailing,
  noWorkers,
  waitingWorker,
  canceling,
  activityRetrying,
  waitingAnswer,
  activityRunning,
  waitingChild,
  waitingHandler,
  waitingTimer,
]

/** Why an open run does not move: every reason that applies, the verdict first. */
export function reasonsOf(facts: RunFacts): [Reason, ...Reason[]] {
  const [first, ...others] = REASONS.flatMap((toReasons) => toReasons(facts))
  return first === undefined ? [healthy(facts)] : [first, ...others]
}

/** Whether only a message or a timer can move the run. */
export function isIdle({ workflowTask, activities, children, waitsForNexus }: PendingWork): boolean {
  return workflowTask === null && activities.length === 0 && children.length === 0 && !waitsForNexus
}

function paused({ work }: RunFacts): Reason[] {
  if (work.paused === null) return []
  const { since, reason } = work.paused
  const advice = `${pausedFor(reason)}unpause the run: until then no worker gets its tasks`
  return [{ kind: 'paused', since, advice }]
}

function pausedFor(reason: string | null): string {
  return reason === null ? '' : `paused: ${reason}; `
}

function workflowTaskFailing({ work: { problem } }: RunFacts): Reason[] {
  if (problem === null) return []
  const advice = `worker reports: ${problem.message}; deploy a worker without the error, and the run continues`
  return [{ ...problem, advice }]
}

/**
 * Empty while a worker executes the workflow: that worker does not poll if it has no free slot. If it stops, its task
 * times out.
 */
function noWorkers({ work, queue: { isPolled, lastPolledAt, taskQueue, tasks } }: RunFacts): Reason[] {
  if (isPolled || work.workflowTask?.startedAt) return []
  const busy = tasks === 'activity' ? '; a worker at its limit of concurrent activities does not poll either' : ''
  const advice = `start a worker that polls task queue ${taskQueue} for ${TASKS[tasks]}${busy}`
  return [{ kind: 'no_workers', since: lastPolledAt, taskQueue, tasks, advice }]
}

// A worker with a free slot takes a task within milliseconds. The rest is for clocks that differ.
const PROMPT_MS = 2000

/** Of a task whose workers have stopped within the last minute, are at their limit, or are behind. */
function waitingWorker({ work, queue, now }: RunFacts): Reason[] {
  const { isPolled, waitsSince: since, taskQueue, tasks, lastPolledAt } = queue
  if (!isPolled || work.paused !== null || since === null || now - since.getTime() < PROMPT_MS) return []
  const messages = tasks === 'workflow' ? named('signal', work.waitingSignals) : []
  const waiting = messages.length === 0 ? '' : `, and ${messages.slice(0, MAX_NAMED).join(' and ')} must wait`
  const isBehind = lastPolledAt !== null && lastPolledAt >= since
  const advice = isBehind
    ? `workers poll task queue ${taskQueue} but are behind${waiting}: wait, or start more workers`
    : `no worker has polled task queue ${taskQueue} since then${waiting}: start a worker, or check whether the workers are at their limit`
  return [{ kind: 'waiting_worker', since, taskQueue, tasks, lastPolledAt, messages, advice }]
}

const TASKS = { activity: 'activities', workflow: 'workflows' } as const satisfies Record<TaskKind, string>

function canceling({ work }: RunFacts): Reason[] {
  const advice = 'cancellation was requested: wait until the workflow has cleaned up, or terminate the run'
  return work.canceling === null ? [] : [{ kind: 'canceling', ...work.canceling, advice }]
}

function activityRetrying({ work }: RunFacts): Reason[] {
  return work.activities.filter(isRetrying).map((activity) => {
    const { since, pauseReason: _, ...facts } = activity
    return { kind: 'activity_retrying', since, ...facts, advice: `${lastError(activity)}${attemptOf(activity)}` }
  })
}

function waitingAnswer({ asks }: RunFacts): Reason[] {
  return [...asks].map(([key, { askedAt, ...ask }]) => {
    const names = ask.to === null || ask.to.length === 0 ? '' : ` for ${ask.to.join(', ')}`
    const until = ask.due === null ? '' : `, until ${ask.due.toISOString()}`
    const advice = `answer the question${names}${until}: ${ask.message}`
    return { kind: 'waiting_answer', since: askedAt, key, ...ask, advice }
  })
}

function activityRunning({ work }: RunFacts): Reason[] {
  return work.activities
    .filter((activity) => !isRetrying(activity))
    .map((activity) => {
      const { since, pauseReason: _, ...facts } = activity
      return { kind: 'activity_running', since, ...facts, advice: attemptOf(activity) }
    })
}

function isRetrying({ attempt, lastFailure }: PendingActivity): boolean {
  return attempt > 1 || lastFailure !== null
}

function lastError({ name, lastFailure }: PendingActivity): string {
  if (lastFailure === null) return ''
  // A timeout is detected by the engine, not reported by the worker.
  const source = lastFailure.name === 'TimeoutFailure' ? 'last attempt' : 'worker reports'
  return `${source}: ${lastFailure.message || `activity ${name} failed`}; `
}

function attemptOf({ name, state, pauseReason, attempt, taskQueue, since, nextAttemptAt }: PendingActivity): string {
  if (nextAttemptAt !== null) return `next attempt at ${nextAttemptAt.toISOString()}`
  switch (state) {
    case 'scheduled':
      return `activity ${name} waits for a worker that polls task queue ${taskQueue}`
    case 'started':
      return `wait for attempt ${attempt} of activity ${name}${since === null ? '' : `, running since ${since.toISOString()}`}`
    case 'cancel_requested':
      return `cancellation of activity ${name} was requested: it ends when its code handles that`
    default:
      return `${pausedFor(pauseReason)}unpause activity ${name}`
  }
}

function waitingChild({ work }: RunFacts): Reason[] {
  return work.children.map(({ since, ...child }) => {
    const { childWorkflowName: name, childWorkflowId: id, childRunId } = child
    const next = childRunId === null ? 'it has not started yet' : 'explain that run'
    return {
      kind: 'waiting_child',
      since,
      ...child,
      advice: `the run waits for child workflow ${name} (${id}): ${next}`,
    }
  })
}

function waitingTimer({ work }: RunFacts): Reason[] {
  return work.timers.map(({ since, timerId, firesAt }) => {
    const event = timerId === null ? 'the run begins' : 'the timer fires'
    const advice = firesAt === null ? `wait until ${event}` : `${event} at ${firesAt.toISOString()}`
    return { kind: 'waiting_timer', since, timerId, firesAt, advice }
  })
}

/** A run with a timer waits for a message only if its workflow is known to have handlers: a sleep needs none. */
function waitingHandler({ work, handlers, asks }: RunFacts): Reason[] {
  const signals = handlers?.signals.map(({ name }) => name) ?? null
  const updates = handlers?.updates.map(({ name }) => name) ?? null
  const known = [...named('signal', signals), ...named('update', updates)]
  const isStarted = work.timers.every(({ timerId }) => timerId !== null)
  if (!isIdle(work) || !isStarted || (work.timers.length > 0 && known.length === 0)) return []
  if (asks.size > 0 && known.length === 0) return []
  const message = known.length === 0 ? 'a signal or an update that the workflow handles' : oneOf(known)
  const [timer] = work.timers
  const orWait = timer?.firesAt ? `, or wait until the timer at ${timer.firesAt.toISOString()}` : ''
  const unknown = work.readFromStart ? '' : '; timers from before the last events of the history are not known'
  const advice = `send ${message}${orWait}${unknown}`
  return [{ kind: 'waiting_handler', since: work.idleSince, signals, updates, advice }]
}

function named(kind: 'signal' | 'update', names: readonly string[] | null): string[] {
  return (names ?? []).map((name) => `${kind} ${name}`)
}

// How many names the advice lists. `signals` and `updates` have all.
const MAX_NAMED = 5

function oneOf(messages: readonly string[]): string {
  return messages.slice(0, MAX_NAMED).join(' or ')
}

function healthy({ work: { workflowTask } }: RunFacts): Reason {
  const since = workflowTask?.startedAt ?? workflowTask?.scheduledAt ?? null
  const advice =
    workflowTask === null ? 'wait: the run waits for an operation that it has started' : taskAdvice(workflowTask)
  return { kind: 'healthy', since, workflowTask, advice }
}

function taskAdvice({ startedAt }: NonNullable<PendingWork['workflowTask']>): string {
  return startedAt === null ? 'wait: a worker is about to continue the run' : 'wait: a worker is executing the workflow'
}
