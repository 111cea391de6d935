/** What the service does: one row for each verb. */
import { isRestricted } from './access/decide.ts'
import { decideLink } from './access/decide-link.ts'
import {
  type AnyVerb,
  checked,
  effect,
  forEveryone,
  onActivity,
  onChain,
  onHandler,
  onHolder,
  onOptions,
  onQuestion,
  onRun,
  onStream,
  onUpdate,
  onVisible,
  type Verb,
  whatElse,
} from './access/guard.ts'
import { onStandalone, onStartStandalone, onVisibleStandalone } from './access/guard-activities.ts'
import { onBatch, onBatches, onCreateBatch } from './access/guard-batches.ts'
import { onCatalog, onTaskQueue } from './access/guard-catalogs.ts'
import { onPutSchedule, onSchedule } from './access/guard-schedules.ts'
import { effectOfStart, onStart, onStartWith, READS } from './access/guard-starts.ts'
import {
  activityResult,
  completeStandalone,
  failStandalone,
  heartbeatStandalone,
  listActivities,
  readActivityStatus,
  stopActivity,
  terminateActivity,
} from './activities/activities.ts'
import { runActivity, startActivity } from './activities/start.ts'
import { listBatches, readBatch, stopBatch } from './batches/batches.ts'
import { createBatch } from './batches/create.ts'
import { readCatalog } from './catalog/catalogs.ts'
import { reset, setOptions, stop, terminate } from './control/control.ts'
import { pause, unpause } from './control/pause.ts'
import { pauseActivity, retryActivity, setActivity, unpauseActivity } from './control/repair-activity.ts'
import { cancelActivity, completeActivity, failActivity, heartbeatActivity } from './control/report-activity.ts'
import { explain } from './explain/explain.ts'
import { createLink } from './links/create-link.ts'
import { readLink, useLink } from './links/use-link.ts'
import { query, readUpdate, signal, startUpdate, update } from './messages/messages.ts'
import type { Call } from './model/call.ts'
import type { EngineReadiness } from './model/engine.ts'
import type { OnRun } from './model/execution.ts'
import type { CreatedLink, CreateLinkCommand } from './model/link.ts'
import { answer } from './questions/answer.ts'
import { listQuestions, readQuestions } from './questions/list-questions.ts'
import { followHistory, followTrace } from './runs/follow-history.ts'
import { pinnedByToken, readHistory } from './runs/history.ts'
import { countRuns, listRuns } from './runs/list-runs.ts'
import { ofActivity, ofHandler, ofUpdate, ofUpdateWithStart, ofWorkflow } from './runs/output-checks.ts'
import { result } from './runs/result.ts'
import { readInput, readStatus } from './runs/status.ts'
import { putSchedule } from './schedules/put.ts'
import {
  backfillSchedule,
  deleteSchedule,
  listSchedules,
  pauseSchedule,
  readSchedule,
  scheduleTimes,
  triggerSchedule,
  unpauseSchedule,
} from './schedules/schedules.ts'
import { signalWithStart } from './start/signal-with-start.ts'
import { run, start, validate } from './start/start.ts'
import { startUpdateWithStart, updateWithStart } from './start/update-with-start.ts'
import { followStream, pinnedToPosition } from './streams/follow-stream.ts'
import { publish } from './streams/publish.ts'
import { readStream } from './streams/read-stream.ts'
import { readTrace } from './traces/read-trace.ts'

export const VERBS = {
  /** Starts a workflow without waiting for its result. */
  start: effect(onStart(start, ({ mayRead }) => (mayRead ? READS : {}))),
  /**
   * Starts a workflow and waits for the end of its chain, at most `timeoutMs`. A timeout does not stop the workflow.
   */
  run: checked(ofWorkflow, effect(onStart(run, () => READS))),
  /** Makes the checks of `run` that are possible without sending the start to the engine. Starts nothing. */
  validate: onStart(validate, () => ({ action: 'validate' })),
  /** Signals the open run of the workflow id, or starts one and signals it, in one step. */
  signalWithStart: effectOfStart(onStartWith('signal', signalWithStart)),
  /** Updates the open run of the workflow id, or starts one and updates it, in one step. */
  updateWithStart: checked(ofUpdateWithStart, effectOfStart(onStartWith('update', updateWithStart))),
  /** The same, but returns as soon as the workflow has accepted the update. */
  startUpdateWithStart: effectOfStart(onStartWith('update', startUpdateWithStart)),

  status: onRun('read', readStatus),
  /**
   * The result of a run. Waits for it at most `waitMs`, then rejects with `WorkflowExecutionTimedOutError`. Without
   * `waitMs` it rejects with `WorkflowNotCompletedError` if the run is open.
   */
  result: checked(ofWorkflow, onRun('read', result)),
  /** Rejects as `result` does if the caller may not read the run. Otherwise it does nothing. */
  checkRead: onRun('read', async (_, __: OnRun) => {}),
  /** The state of a run and of those that continue it, as one. Also after the first of them was deleted. */
  readChain: onChain(({ readChain }, { ref }, call) => readChain(ref, call)),
  /** Why the run does not move, and what a person can do about it. */
  explain: onRun('read', explain, { add: (_, __, ports, call) => whatElse(ports, call) }),
  /** The workflow name and the arguments of the run, also while it is open. */
  input: onRun('read', readInput),
  trace: onRun('read', readTrace),
  /** One page of the events of a run. Can wait for the next event. */
  history: onRun('read', readHistory, {
    // Clients can make page tokens, so the run that the token names must be allowed.
    pin: (command, { namespace }, call) => (isRestricted(call) ? pinnedByToken(command, namespace) : command.ref),
  }),
  /**
   * The events of a run as they are recorded, until it closes. Null when it is closed and has no events after `after`.
   */
  followHistory: onRun('read', followHistory),
  /** The same of the entries of its trace that the history has. After a reconnect some come again. */
  followTrace: onRun('read', followTrace),
  /**
   * What a run and those that continue it publish. Null if the reader has received the last event already. Rejects with
   * `StreamNotFoundError` if a worker says soon that the workflow has no stream; `events` rejects if one says it later.
   */
  followStream: onRun('read', followStream, { pin: pinnedToPosition }),
  /** The items after a position, at most `maxItems`. Waits for the first one at most `waitMs`. */
  readStream: onRun('read', readStream, { pin: pinnedToPosition }),
  /** Publishes items in the stream of a run, and returns the run. */
  publish: effect(onStream(publish)),

  /**
   * Lists runs, open ones first. A run that keeps its status while a client pages through the list appears exactly
   * once.
   */
  list: onVisible(listRuns, (page, isVisible) => ({ ...page, runs: page.runs.filter(isVisible) })),
  count: onVisible(countRuns),

  signal: effect(onHandler('signal', signal)),
  /** Returns the handler's result; null when it has none. */
  query: checked(ofHandler('query'), onHandler('query', query)),
  /** Returns the handler's result; null when it has none. */
  update: checked(ofHandler('update'), effect(onHandler('update', update))),
  /** Sends an update, and returns as soon as the workflow has accepted it. */
  startUpdate: effect(onHandler('update', startUpdate)),
  /** How far an update is, and its result once it has completed. Rejects with `UpdateFailedError` if it has failed. */
  readUpdate: checked(ofUpdate, onUpdate(readUpdate)),

  /** Lists the open questions of runs, at most those of `pageSize` runs at once. */
  questions: onVisible(
    listQuestions,
    (page, isVisible) => ({ ...page, questions: page.questions.filter(isVisible) }),
    whatElse,
  ),
  /** The open questions of one run. */
  questionsOf: onRun('read', readQuestions, { add: (_, __, ports, call) => whatElse(ports, call) }),
  /** Answers a question once, whoever does. Rejects with `QuestionAnsweredError` if another answer is recorded. */
  answer: onQuestion(answer),
  /** Creates a link with which a person without a credential sends one signal or update to the run. */
  createLink: { access: 'link', act: createLink, decide: decideLink } satisfies Verb<CreateLinkCommand, CreatedLink>,
  /** The answer; null while the link can be used. Rejects with `WorkflowNotRunningError` if it cannot. */
  readLink: onHolder(() => ({ verb: 'read' }), readLink),
  /** Sends the choice once, whoever uses the link. Rejects with `LinkUsedError` if another choice is recorded. */
  useLink: onHolder(({ kind, handler }) => ({ verb: kind, handler }), useLink),

  /** Requests cancellation of the run, which can clean up. */
  stop: onRun('stop', stop),
  /** Ends the run at once, without cleanup. */
  terminate: onRun('terminate', terminate),
  /** Stops the progress of the run until `unpause`. Succeeds if the run is paused already. */
  pause: onRun('pause', pause),
  unpause: onRun('pause', unpause),
  /** Creates a run that continues from an earlier point of the run, which is terminated if it is open. */
  reset: effect(onRun('reset', reset)),
  /**
   * Completes an activity that completes outside its worker. `isRepeated` says whether an earlier request with the same
   * key has done so.
   */
  completeActivity: effect(onActivity('complete', completeActivity)),
  failActivity: effect(onActivity('complete', failActivity)),
  /** Reports that an activity has ended because its workflow has requested that. */
  cancelActivity: effect(onActivity('complete', cancelActivity)),
  /** Reports that the activity makes progress, and returns whether it should end because of a cancellation. */
  heartbeatActivity: onActivity('complete', heartbeatActivity),

  /** Makes the next attempt of an activity due now, as attempt 1. Rejects while an attempt is executed. */
  retryActivity: effect(onActivity('repair', retryActivity)),
  /** Starts no further attempt of an activity until `unpauseActivity`. Succeeds if it is paused already. */
  pauseActivity: onActivity('repair', pauseActivity),
  unpauseActivity: onActivity('repair', unpauseActivity),
  /** Changes timeouts, retry policy or task queue of an activity, and returns all of its options. */
  setActivity: onActivity('repair', setActivity),
  /** Changes the version or the priority of an open run. */
  setOptions: onOptions(setOptions),

  /** Creates or replaces a schedule. Rejects with `PreconditionFailedError` if another client was first. */
  putSchedule: onPutSchedule(putSchedule),
  schedule: onSchedule('read', readSchedule),
  /** Its runs go on. */
  deleteSchedule: onSchedule('schedule', deleteSchedule),
  pauseSchedule: onSchedule('schedule', pauseSchedule),
  unpauseSchedule: onSchedule('schedule', unpauseSchedule),
  /** Starts a run now. */
  triggerSchedule: effect(onSchedule('schedule', triggerSchedule)),
  /** Acts as the schedule would have acted at the times of a range. */
  backfillSchedule: effect(onSchedule('schedule', backfillSchedule)),
  scheduleTimes: onSchedule('read', scheduleTimes),
  /** Lists schedules, the newest first. */
  schedules: onVisible(listSchedules, (page, isVisible) => ({
    ...page,
    schedules: page.schedules.filter(({ scheduleId: workflowId, workflowName }) =>
      isVisible({ workflowId, workflowName }),
    ),
  })),

  /** Starts a standalone activity without waiting for its result. */
  startActivity: effect(onStartStandalone(startActivity)),
  /** Starts a standalone activity and waits for its end, at most `timeoutMs`. A timeout does not stop it. */
  runActivity: checked(ofActivity, effect(onStartStandalone(runActivity))),
  activityStatus: onStandalone('read', readActivityStatus),
  /** The result of a standalone activity. Waits for it at most `waitMs`. */
  activityResult: checked(ofActivity, onStandalone('read', activityResult)),
  stopActivity: onStandalone('stop', stopActivity),
  terminateActivity: onStandalone('terminate', terminateActivity),
  /** The reports about a standalone activity that completes outside its worker, as about one of a workflow. */
  completeStandalone: effect(onStandalone('complete', completeStandalone)),
  failStandalone: effect(onStandalone('fail', failStandalone)),
  heartbeatStandalone: onStandalone('heartbeat', heartbeatStandalone),
  /** Lists standalone activities, open ones first. */
  activities: onVisibleStandalone(listActivities),

  /** Starts an operation on all open runs that match a filter, and on which the caller may do that. */
  createBatch: effect(onCreateBatch(createBatch)),
  batch: onBatch(readBatch),
  stopBatch: onBatch(stopBatch, 'stop-batch'),
  batches: onBatches(listBatches),

  catalog: onCatalog('catalog', readCatalog),
  /** The catalog, with only the workflows that the caller may start. */
  startable: onCatalog('tools', readCatalog),
  taskQueue: onTaskQueue(({ engine }, { taskQueue }: { taskQueue: string }, call) =>
    engine.describeTaskQueue(taskQueue, call),
  ),
  capabilities: forEveryone(
    ({ readCapabilities }, _: object, call) => readCapabilities(call),
    (capabilities, caller) => ({ ...capabilities, engine: { version: null, uiUrl: null }, caller }),
  ),
} satisfies Record<string, AnyVerb>

/** The verbs over their ports. Every verb rejects with a `ServiceError`. */
export type Workflows = BoundVerbs<typeof VERBS> & {
  /** Whether the engine can serve requests; at most a second old. */
  ready(): Promise<EngineReadiness>
}

export type BoundVerbs<Verbs> = {
  [Name in keyof Verbs]: Verbs[Name] extends Verb<infer Input, infer Output>
    ? (input: Input, call: Call) => Promise<Output>
    : never
}
