/** All runs of the model: how they begin, record events, and end. */

import type { Random } from '../../../lab/soak/random.ts'
import { RpcError } from '../../../src/service/engine/transport/transport.ts'
import { hexOf } from '../random.ts'
import {
  EVENT,
  type HistoryEvent,
  isOpen,
  type ModelClock,
  type Payloads,
  type Run,
  type RunStatus,
  STATUS,
  toTimestamp,
} from './run.ts'

export const CODE = {
  invalid: 3,
  notFound: 5,
  exists: 6,
  exhausted: 8,
  precondition: 9,
  aborted: 10,
  unimplemented: 12,
  unavailable: 14,
} as const

export interface Execution {
  workflowId?: string | null
  runId?: string | null
}

export interface NewRun
  extends Pick<
    Run,
    'continuedFrom' | 'firstRunId' | 'input' | 'memo' | 'runId' | 'startRequestId' | 'taskQueue' | 'type' | 'workflowId'
  > {}

export interface Runs {
  all: ReadonlyMap<string, Run>
  newRunId(): string
  latestOf(workflowId: string): Run | undefined
  /** The run, or the latest one of its id. Throws `NOT_FOUND`. */
  find(execution: Execution | null | undefined): Run
  /** Throws `NOT_FOUND` for a closed one, too. */
  findOpen(execution: Execution | null | undefined): Run
  create(run: NewRun): Run
  /** A run with a copy of the first events of another one, as a reset makes it. */
  createFrom(base: Run, events: readonly HistoryEvent[]): Run
  record(run: Run, eventType: number, attributes: object): HistoryEvent
  close(run: Run, status: RunStatus, eventType: number, attributes: object): void
  terminate(run: Run, reason: string, identity: string): void
  /** Resolves when `isReady`, when the caller leaves, or when the engine ends the long poll. */
  hold(run: Run, isReady: () => boolean, signal: AbortSignal): Promise<void>
  /** Lets those that wait for the run look at it again. */
  wake(run: Run): void
  /** The runs that visibility has, each with the status that it has there. */
  listed(): { run: Run; status: RunStatus }[]
  /** How many calls wait. */
  openPolls(): number
}

export interface RunsOptions {
  clock: ModelClock
  random: Random
  /** Called when a run has something for its workers. */
  onTask(run: Run): void
}

// How long the engine holds a long poll.
const POLL_MS = 20_000

export function rpcError(code: number, message: string, detail?: { name: string; fields?: object }): RpcError {
  return new RpcError(message, {
    code,
    details: detail === undefined ? [] : [{ name: detail.name, fields: detail.fields ?? {} }],
  })
}

export function notFound(message: string): RpcError {
  return rpcError(CODE.notFound, message, { name: 'NotFoundFailure' })
}

export function alreadyCompleted(): RpcError {
  return notFound('workflow execution already completed')
}

export function createRuns({ clock, random, onTask }: RunsOptions): Runs {
  const all = new Map<string, Run>()
  const latest = new Map<string, Run>()
  const visible = new Map<string, { run: Run; status: RunStatus }>()
  const waiting = new Map<string, Set<() => void>>()
  let polls = 0

  function find(execution: Execution | null | undefined): Run {
    const { workflowId, runId } = execution ?? {}
    const run = runId ? all.get(runId) : latest.get(workflowId ?? '')
    if (run === undefined || run.workflowId !== workflowId) throw notFound(`workflow not found for ID: ${workflowId}`)
    return run
  }

  function findOpen(execution: Execution | null | undefined): Run {
    const run = find(execution)
    if (!isOpen(run)) throw alreadyCompleted()
    return run
  }

  /** Visibility learns of it a moment later. */
  function list(run: Run): void {
    const { status } = run
    clock.after(50 + random.below(900), () => {
      const known = visible.get(run.runId)
      // The news of a start can arrive after those of the end.
      if (known === undefined || status !== STATUS.running) visible.set(run.runId, { run, status })
    })
  }

  function wake({ runId }: Run): void {
    const checks = waiting.get(runId)
    waiting.delete(runId)
    for (const check of checks ?? []) check()
  }

  function record(run: Run, eventType: number, attributes: object): HistoryEvent {
    const event = { eventId: run.events.length + 1, eventTime: toTimestamp(clock.now()), eventType, ...attributes }
    run.events.push(event)
    if (isOpen(run) && FOR_WORKERS.has(eventType)) onTask(run)
    wake(run)
    return event
  }

  function close(run: Run, status: RunStatus, eventType: number, attributes: object): void {
    run.status = status
    run.closedAt = clock.now()
    for (const update of run.updates.values()) {
      if (update.stage !== 2) continue
      Object.assign(update, { stage: 3, outcome: { failure: ENDED_BEFORE_UPDATE } })
    }
    run.activities.clear()
    record(run, eventType, attributes)
    list(run)
  }

  function newRunId(): string {
    const time = clock.now().toString(16).padStart(12, '0')
    return `${time.slice(0, 8)}-${time.slice(8)}-7${hexOf(random, 3)}-a${hexOf(random, 3)}-${hexOf(random, 12)}`
  }

  /** Without events. */
  function add(given: NewRun): Run {
    const run: Run = {
      ...given,
      status: STATUS.running,
      startedAt: clock.now(),
      closedAt: null,
      requestIds: new Set([given.startRequestId]),
      signalIds: new Set(),
      isCancelRequested: false,
      events: [],
      seen: 0,
      updates: new Map(),
      activities: new Map(),
      timers: new Set(),
      fired: [],
      state: null,
    }
    all.set(run.runId, run)
    latest.set(run.workflowId, run)
    list(run)
    return run
  }

  return {
    all,
    newRunId,
    latestOf: (workflowId) => latest.get(workflowId),
    find,
    findOpen,
    create(given) {
      const run = add(given)
      record(run, EVENT.started, { workflowExecutionStartedEventAttributes: startedAttributes(run) })
      return run
    },
    createFrom(base, events) {
      const { workflowId, firstRunId, continuedFrom, type, taskQueue, input, memo } = base
      const ids = { workflowId, firstRunId, continuedFrom, runId: newRunId() }
      const run = add({ ...ids, type, taskQueue, input, memo, startRequestId: base.startRequestId })
      run.events.push(...structuredClone(events))
      return run
    },
    record,
    close,
    terminate(run, reason, identity) {
      close(run, STATUS.terminated, EVENT.terminated, {
        workflowExecutionTerminatedEventAttributes: { reason, identity },
      })
    },
    async hold(run, isReady, signal) {
      if (isReady() || signal.aborted) return
      polls++
      await new Promise<void>((resolve) => {
        const check = () => void (isReady() ? resolve() : wait())
        const wait = () => void waiting.set(run.runId, (waiting.get(run.runId) ?? new Set()).add(check))
        wait()
        clock.after(POLL_MS, resolve)
        signal.addEventListener('abort', () => resolve())
      })
      polls--
    },
    wake,
    listed: () => [...visible.values()],
    openPolls: () => polls,
  }
}

/** The events that make a workflow task. The others are those of tasks, and of their commands. */
const FOR_WORKERS: ReadonlySet<number> = new Set([
  EVENT.started,
  EVENT.signaled,
  EVENT.cancelRequested,
  EVENT.activityCompleted,
  EVENT.activityFailed,
  EVENT.timerFired,
  EVENT.taskFailed,
  EVENT.updateAdmitted,
  EVENT.unpaused,
])

const ENDED_BEFORE_UPDATE = {
  message: 'Workflow Update failed because the Workflow completed before the Update completed.',
  source: 'Server',
  applicationFailureInfo: { type: 'AcceptedUpdateCompletedWorkflow', nonRetryable: true },
}

function startedAttributes({ type, taskQueue, input, memo, runId, firstRunId, continuedFrom }: Run): object {
  return {
    workflowType: { name: type },
    taskQueue: { name: taskQueue },
    input,
    memo,
    originalExecutionRunId: runId,
    firstExecutionRunId: firstRunId,
    continuedExecutionRunId: continuedFrom,
  }
}

export type { Payloads }
