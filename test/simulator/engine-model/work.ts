/** The work of workers: workflow tasks, their commands, and what these change. */
import {
  type Command,
  EVENT,
  isOpen,
  type ModelClock,
  type Payloads,
  type Run,
  STATUS,
  toPayloads,
  type Update,
  type WorkerModel,
} from './run.ts'
import type { Runs } from './runs.ts'

export interface Work {
  /** Gives the worker what it has not seen, a moment later. */
  schedule(run: Run): void
}

/** Runs of Portico, which no worker carries out. */
const PARKED = /^\$/

// How long a task without a worker waits for the next look.
const RETRY_MS = 200

export function createWork(
  { clock, worker, isPolling }: { clock: ModelClock; worker: WorkerModel; isPolling(): boolean },
  runsOf: () => Runs,
): Work {
  function schedule(run: Run): void {
    if (!PARKED.test(run.type)) clock.after(worker.latencyMs(), () => work(run))
  }

  function work(run: Run): void {
    if (run.status !== STATUS.running || !isPolling()) {
      // The queue keeps the task until a worker polls.
      if (isOpen(run)) clock.after(RETRY_MS, () => work(run))
      return
    }
    const fresh = run.events.slice(run.seen)
    const updates = [...run.updates.values()].filter(({ stage }) => stage === 1)
    if (fresh.length === 0 && updates.length === 0) return
    const fired = run.fired.splice(0)
    const commands = [...worker.task(run, fresh, updates), ...fired.flatMap((next) => next())]
    // A task that has only carried rejected updates leaves no events.
    if (fresh.length > 0 || commands.some((command) => !('reject' in command))) recordTask(run)
    carryOut(run, commands)
    run.seen = run.events.length
  }

  function recordTask(run: Run): void {
    const { length } = run.events
    const [scheduledEventId, startedEventId] = [length + 1, length + 2]
    const { record } = runsOf()
    record(run, EVENT.taskScheduled, { workflowTaskScheduledEventAttributes: {} })
    record(run, EVENT.taskStarted, { workflowTaskStartedEventAttributes: { scheduledEventId } })
    const attributes = { scheduledEventId, startedEventId }
    record(run, EVENT.taskCompleted, { workflowTaskCompletedEventAttributes: attributes })
  }

  function carryOut(run: Run, commands: readonly Command[]): void {
    for (const command of commands) if (isOpen(run)) carryOutOne(run, command)
  }

  function carryOutOne(run: Run, command: Command): void {
    if ('accept' in command) accept(run, command.accept)
    else if ('answer' in command) answer(run, command.answer, command.value)
    else if ('reject' in command) reject(run, command.reject, command.message)
    else if ('afterMs' in command) later(run, command)
    else if ('activity' in command) scheduleActivity(run, command)
    else end(run, command)
  }

  function accept(run: Run, update: Update): void {
    const { id, name, args } = update
    update.stage = 2
    const acceptedRequest = { meta: { updateId: id }, input: { name, args } }
    const attributes = { protocolInstanceId: id, acceptedRequest }
    runsOf().record(run, EVENT.updateAccepted, { workflowExecutionUpdateAcceptedEventAttributes: attributes })
  }

  function answer(run: Run, update: Update, value: unknown): void {
    update.outcome = { success: toPayloads(value) }
    update.stage = 3
    const attributes = { meta: { updateId: update.id }, outcome: update.outcome }
    runsOf().record(run, EVENT.updateCompleted, { workflowExecutionUpdateCompletedEventAttributes: attributes })
  }

  /** A rejected update leaves no event, and is forgotten. */
  function reject(run: Run, update: Update, message: string): void {
    update.outcome = { failure: { message, source: 'TypeScriptSDK', applicationFailureInfo: { type: 'Error' } } }
    update.stage = 3
    run.updates.delete(update.id)
    runsOf().wake(run)
  }

  /** Timers that fire together have one task, which also has what has arrived meanwhile. */
  function later(run: Run, { afterMs, next }: Extract<Command, { afterMs: number }>): void {
    const { eventId } = runsOf().record(run, EVENT.timerStarted, { timerStartedEventAttributes: {} })
    run.timers.add(eventId)
    clock.after(afterMs, () => {
      if (!isOpen(run) || !run.timers.delete(eventId)) return
      run.fired.push(next)
      runsOf().record(run, EVENT.timerFired, { timerFiredEventAttributes: { startedEventId: eventId } })
    })
  }

  function scheduleActivity(run: Run, { activity, type, input, runsMs }: Extract<Command, { activity: string }>): void {
    const attributes = { activityId: activity, activityType: { name: type }, input: toPayloads(input) }
    const event = runsOf().record(run, EVENT.activityScheduled, { activityTaskScheduledEventAttributes: attributes })
    run.activities.set(activity, { id: activity, type, scheduledEventId: event.eventId })
    if (runsMs === undefined) return
    const result = toPayloads(input)
    clock.after(runsMs, () => completeActivity(runsOf(), run, activity, result))
  }

  function end(run: Run, command: Command): void {
    const runs = runsOf()
    if ('cancel' in command) {
      cancelTimers(run)
      runs.close(run, STATUS.canceled, EVENT.canceled, { workflowExecutionCanceledEventAttributes: { details: null } })
    }
    if ('fail' in command) {
      const failure = { message: command.fail, applicationFailureInfo: { type: 'Error', nonRetryable: true } }
      runs.close(run, STATUS.failed, EVENT.failed, { workflowExecutionFailedEventAttributes: { failure } })
    }
    if ('complete' in command) {
      const result = toPayloads(command.complete)
      runs.close(run, STATUS.completed, EVENT.completed, { workflowExecutionCompletedEventAttributes: { result } })
    }
    if ('continueAsNew' in command) continueAsNew(run, command.continueAsNew)
  }

  /** The handlers that wait for the timers fail. */
  function cancelTimers(run: Run): void {
    const { record } = runsOf()
    for (const startedEventId of run.timers)
      record(run, EVENT.timerCanceled, { timerCanceledEventAttributes: { startedEventId } })
    run.timers.clear()
    for (const update of run.updates.values()) {
      if (update.stage !== 2) continue
      update.outcome = { failure: { message: 'Timer canceled', source: 'TypeScriptSDK', canceledFailureInfo: {} } }
      update.stage = 3
      const attributes = { meta: { updateId: update.id }, outcome: update.outcome }
      record(run, EVENT.updateCompleted, { workflowExecutionUpdateCompletedEventAttributes: attributes })
    }
  }

  function continueAsNew(run: Run, input: unknown): void {
    const runs = runsOf()
    const runId = runs.newRunId()
    const attributes = { newExecutionRunId: runId }
    runs.close(run, STATUS.continued, EVENT.continued, {
      workflowExecutionContinuedAsNewEventAttributes: attributes,
    })
    const { workflowId, firstRunId, type, taskQueue, memo } = run
    const next = { workflowId, firstRunId, type, taskQueue, memo, runId, continuedFrom: run.runId }
    runs.create({ ...next, input: toPayloads(input), startRequestId: `continued-${runId}` })
  }

  return { schedule }
}

/** Records the result of an activity. False if the run does not wait for it. */
export function completeActivity(runs: Runs, run: Run, activityId: string, result: Payloads | null): boolean {
  const activity = run.activities.get(activityId)
  if (activity === undefined || !isOpen(run)) return false
  run.activities.delete(activityId)
  const { scheduledEventId } = activity
  runs.record(run, EVENT.activityStarted, { activityTaskStartedEventAttributes: { scheduledEventId } })
  const attributes = { scheduledEventId, startedEventId: run.events.length, result }
  runs.record(run, EVENT.activityCompleted, { activityTaskCompletedEventAttributes: attributes })
  return true
}
