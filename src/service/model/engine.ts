import type { Closing, Execution, Status } from '../../shared/wire/execution.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import type { ScheduleMark } from '../../shared/wire/schedule-mark.ts'
import type { EncodedPayload, TraceEntry } from '../../shared/wire/trace/entry.ts'
import type {
  ActivityChange,
  ActivityOptions,
  ActivityRef,
  ActivityReport,
  ActivityRetry,
  EndedActivity,
} from './activity.ts'
import type { BatchEngine } from './batch.ts'
import type { Call } from './call.ts'
import type { ServiceError } from './errors.ts'
import type { Description, ExecutionRef } from './execution.ts'
import type { EventPage, EventsRange, EventsRequest } from './history-page.ts'
import type { FoundMessage, MessageSearch } from './link.ts'
import type { AskingRun, ListedRun, RunCount, SearchAttributeType, TypedRunFilter } from './run-filter.ts'
import type {
  DescribedSchedule,
  ListedSchedule,
  ScheduleChange,
  ScheduleDocument,
  ScheduleFilter,
  ScheduleTimesCommand,
} from './schedule.ts'
import type { ActivityEngine, StandaloneRun } from './standalone-activity.ts'
import type { StreamItem, StreamReader, StreamRun } from './stream.ts'
import type { TaskQueue } from './task-queue.ts'
import type { Headers, RunOptions, RunOptionsChange, WorkflowOptions } from './workflow-options.ts'

export interface EngineStart {
  workflowId: string
  workflowName: string
  catalog: string
  /** The workflow's arguments. */
  args: unknown[]
  options?: WorkflowOptions
  /** Memo fields of the protocol (`memoKeys`). They are stored as plain JSON, without the codec. */
  protocolMemo?: Readonly<Record<string, unknown>>
  /**
   * The engine starts one run for all starts with this id, as long as that run is the latest of the workflow id.
   * Default: random.
   */
  requestId?: string
  /** Why the start must not meet an open run of this workflow; null if it may. Absent if it may meet any. */
  objectionTo?: (workflowName: string) => ServiceError | null
}

/** A schedule that the engine can store. */
export interface EngineSchedule extends ScheduleDocument {
  scheduleId: string
  start: EngineStart
}

export interface Started extends RunRef {
  firstRunId: string
}

/** The result of a start. */
export interface StartedRun extends Started {
  /** Set for an open run that the request found instead of starting one (`use-existing`). */
  isExisting?: true
  /** Set when an earlier request with the same `requestId` has started the run, and it has ended since. */
  endedStatus?: Status
}

export interface StartInput {
  workflowName: string
  args: unknown[]
}

/** The result of a signal-with-start. */
export interface SignaledRun extends RunRef {
  /** Whether this call started the run. */
  started: boolean
}

/** The result of an update-with-start. */
export interface StartedUpdate extends SignaledRun {
  /** The handler's value; null when it returns nothing. */
  result: unknown
}

/** The result of an update-with-start that does not wait for the handler. */
export type AcceptedUpdate = SignaledRun & UpdateRef

/** An update that its workflow has accepted or will receive. */
export interface UpdateRef extends RunRef {
  updateId: string
}

/** How far an update is. `admitted`: no worker has seen it yet. */
export type UpdateState = UpdateRef & ({ stage: 'admitted' | 'accepted' } | { stage: 'completed'; result: unknown })

/** The event after which the new run continues, or the name of the step; its last completed execution counts. */
export type ResetTarget = { stepName: string } | { eventId: number }

export interface ResetPoint {
  target: ResetTarget
  reason: string | null
}

export interface ResetResult {
  /** The new run. */
  runId: string
  /** Names of the steps that had not completed at that point: the new run executes them again if it reaches them. */
  runsAgain: string[]
}

/** A signal, query or update for a handler of a workflow. */
export interface Message {
  /** Name of the signal, query or update handler. */
  name: string
  args: unknown[]
  /** Temporal headers for the interceptors of workers. */
  headers?: Headers
}

export interface Signal extends Message {
  /** A run receives one signal for all that have this id. Default: random. */
  requestId?: string
}

/** Whether a feature is supported and, if not, the reason for the client. */
export type Support = { supported: true } | { supported: false; reason: string }

/** Features that depend on how the engine is reached. */
export interface EngineFeatures {
  /** Ids and names may contain "/", or be "." or "..". */
  slashInIds: Support
  /** Starting a workflow and sending it an update in one step. */
  updateWithStart: Support
  /** Updates whose result is read later. */
  asyncUpdates: Support
}

/** Workers poll a task queue for both kinds separately. */
export type TaskKind = 'activity' | 'workflow'

/** `misconfigured`: the engine responds, but rejects the namespace or the API key of this service. */
export type EngineReadiness = 'reachable' | 'unreachable' | 'misconfigured'

/**
 * Port: a workflow engine.
 *
 * Every verb rejects with a `ServiceError`: `WorkflowNotFoundError` for an unknown execution, `EngineUnavailableError`
 * when the engine does not respond before `call.deadlineAt`, `ResourceExhaustedError`, `EngineError`.
 * Without a `runId`, a verb acts on the latest run.
 */
export interface Engine extends ActivityEngine, BatchEngine {
  /**
   * Starts one run, even when the call is retried. Rejects with `WorkflowAlreadyStartedError` when the id is in use,
   * and with `EngineUnavailableError` when a response was lost and another client has used the id since. Options that
   * the engine rejects are a `ValidationError`.
   */
  start(request: EngineStart, call: Call): Promise<StartedRun>

  /**
   * Makes the checks of `start` that need no engine call. Rejects with `PayloadTooLargeError` or `PayloadCodecError`.
   */
  checkStart(request: EngineStart, call: Call): Promise<void>

  /**
   * Waits for this run to close; null when `call` ends first. Continues to wait through outages of the engine. Requests
   * share their waits (`src/service/engine/waits/`).
   */
  wait(run: RunRef, call: Call): Promise<Closing | null>

  describe(ref: ExecutionRef, call: Call): Promise<Description>

  /** The run with its input and outcome. `closing`, when known from `wait`, is not read again. */
  read(ref: ExecutionRef, call: Call, closing?: Closing): Promise<Execution>

  /** The workflow name and the arguments of the run. */
  input(run: RunRef, call: Call): Promise<StartInput>

  /**
   * Rejects with `WorkflowNotRunningError` when the run is closed. `runId` is the run that received the signal.
   *
   * Delivered at most once: after a lost response it is never sent to a later run than before. Rejects with
   * `EngineUnavailableError` when a response was lost and that run cannot be determined.
   */
  signal(ref: ExecutionRef, message: Signal, call: Call): Promise<{ runId: string | null }>

  /** Rejects with `HandlerNotFoundError`, `QueryFailedError`, `WorkflowNotReadyError`, `DeadlineExceededError`. */
  query(ref: ExecutionRef, message: Message, call: Call): Promise<unknown>

  /**
   * Rejects like `query`, with `UpdateFailedError`. Executed at most once, like `signal`. The engine deduplicates an
   * `updateId` within one run only.
   */
  update(ref: ExecutionRef, message: Message, updateId: string, call: Call): Promise<unknown>

  /** The same, but resolves when the workflow has accepted the update. Rejects if it has failed by then. */
  startUpdate(ref: ExecutionRef, message: Message, updateId: string, call: Call): Promise<UpdateRef>

  /**
   * How far the update is; with `waitMs` when it has completed, or after that time. Rejects like `update` if it has
   * failed, with `UpdateNotFoundError` when the run does not have it, and with `NotSupportedError` when the transport
   * has no such call. `name` is only used in errors. With `checksName` the run does not have an update of another
   * handler; that takes another engine call.
   */
  pollUpdate(
    ref: ExecutionRef,
    update: { name: string; updateId: string; checksName?: boolean },
    waitMs: number,
    call: Call,
  ): Promise<UpdateState>

  /** The signal, the accepted update or the completed activity, as the history of the run has recorded it. */
  findMessage(run: RunRef, search: MessageSearch, call: Call): Promise<FoundMessage>

  /**
   * Updates the open run of the workflow id, or starts one and updates it, in one step. Rejects like `update`.
   *
   * Neither is carried out twice, even when the call is retried: rejects with `EngineUnavailableError` when that cannot
   * be determined, and with `NotSupportedError` when the transport has no such call.
   */
  updateWithStart(request: EngineStart, message: Message, updateId: string, call: Call): Promise<StartedUpdate>
  /** The same, but resolves when the workflow has accepted the update. Rejects if it has failed by then. */
  startUpdateWithStart(request: EngineStart, message: Message, updateId: string, call: Call): Promise<AcceptedUpdate>

  /**
   * Signals the open run of the workflow id, or starts one and signals it, in one step. Neither is carried out twice,
   * as for `updateWithStart`.
   */
  signalWithStart(request: EngineStart, message: Message, call: Call): Promise<SignaledRun>

  /** Requests cancellation of the chain of `run`, or with `pinned` of that run only. Not an error when it is closed. */
  cancel(run: Started, options: { reason: string | null; pinned: boolean }, call: Call): Promise<void>

  /** Rejects with `WorkflowNotRunningError` when the run is closed. */
  terminate(run: RunRef, reason: string | null, call: Call): Promise<void>

  /**
   * Pauses an open run: its workflow tasks and activities wait until `unpause`. A pause of a paused run succeeds, and
   * so does an unpause of a run that is not paused. Both reject with `WorkflowNotRunningError` when the run is closed,
   * and with `NotSupportedError` when the namespace does not allow it.
   */
  pause(run: RunRef, reason: string | null, call: Call): Promise<void>

  unpause(run: RunRef, reason: string | null, call: Call): Promise<void>

  /** Whether runs of the namespace can be paused. */
  pauseSupported(call: Call): Promise<boolean>

  /**
   * Creates a run that continues from an earlier point of `run`, which is terminated if it is open. Rejects with
   * `StepNotFoundError` or `StepNotCompletedError` for a step that it cannot continue from, and with `ValidationError`
   * for such an event.
   *
   * Never carried out twice: rejects with `EngineUnavailableError` when a response was lost and no reset is found.
   */
  reset(run: RunRef & Pick<Description, 'resetRunId'>, request: ResetPoint, call: Call): Promise<ResetResult>

  /**
   * Completes or fails an activity of an open run, or sends a heartbeat. Rejects with `ActivityNotFoundError` if the
   * activity or the run is not open any more, and with `EngineUnavailableError` if a response was lost and the report
   * is not found: it is never sent again, unless it is a heartbeat. The engine keeps `mark` with the report.
   */
  reportActivity(
    activity: ActivityRef | StandaloneRun,
    report: ActivityReport,
    mark: string,
    call: Call,
  ): Promise<{ cancelRequested: boolean }>

  /**
   * The activity as the history has it; null if it was never scheduled. With `mark`, an earlier activity of the same id
   * is found too if its report has this mark. Without, only the last 1250 events are read.
   */
  endedActivity(activity: ActivityRef, mark: string | null, call: Call): Promise<EndedActivity | null>

  /**
   * Makes the next attempt of an activity due now, as its first one. The engine would cut an attempt that is executed,
   * and start one in a paused run. `position` is that of the activity when it was described: after a lost response the
   * call is only repeated while it is the same. Rejects like `pauseActivity`.
   */
  retryActivity(activity: ActivityRef, retry: ActivityRetry & { position: string }, call: Call): Promise<void>

  /**
   * Starts no further attempt until `unpauseActivity`, which starts the next one at once. Both succeed if there is
   * nothing to do. Rejects with `ActivityNotFoundError` if the activity or the run is not open any more, and with
   * `NotSupportedError` if the engine cannot repair activities.
   */
  pauseActivity(activity: ActivityRef, reason: string | null, call: Call): Promise<void>

  unpauseActivity(activity: ActivityRef, call: Call): Promise<void>

  /** Rejects like `pauseActivity`, and with `ValidationError` for options that the engine rejects. */
  setActivity(activity: ActivityRef, change: ActivityChange, call: Call): Promise<ActivityOptions>

  /** Whether the engine can repair activities. */
  repairSupported(call: Call): Promise<boolean>

  /**
   * Changes options of an open run, and returns them. Rejects with `WorkflowNotRunningError` when the run is closed,
   * and with `ValidationError` for a version that the engine does not know.
   */
  setOptions(run: RunRef, change: RunOptionsChange, call: Call): Promise<RunOptions>

  /**
   * The runs that match the filter, at most `size` of them, without those of catalogs. Rejects with `ValidationError`
   * when the filter is invalid. `token` is the `nextToken` of the previous page.
   */
  listRuns(
    filter: TypedRunFilter,
    page: { size: number; token: string | null },
    call: Call,
  ): Promise<{ runs: ListedRun[]; nextToken: string | null }>

  /** The same, but only those of the runs that ask something: the page may be empty. */
  listAsking(
    filter: TypedRunFilter,
    page: { size: number; token: string | null },
    call: Call,
  ): Promise<{ runs: AskingRun[]; nextToken: string | null }>

  /** Whether the engine has schedules in the namespace. */
  schedulesSupported(call: Call): Promise<boolean>

  /** Rejects with `ScheduleNotFoundError`, as all calls about a schedule do unless they say otherwise. */
  describeSchedule(scheduleId: string, call: Call): Promise<DescribedSchedule>

  /**
   * False if the id is in use, maybe because of an earlier attempt whose response was lost. Rejects with
   * `ValidationError` for what the engine rejects.
   */
  createSchedule(schedule: EngineSchedule, mark: ScheduleMark, call: Call): Promise<boolean>

  /**
   * Replaces the document, unless the schedule has another version than the given one; null: whatever version it has.
   * True does not say that it has done so: read the mark. False if the schedule does not exist.
   */
  updateSchedule(schedule: EngineSchedule, mark: ScheduleMark, version: string | null, call: Call): Promise<boolean>

  deleteSchedule(scheduleId: string, call: Call): Promise<void>

  /** A trigger or a backfill is sent once: a lost response is an `EngineUnavailableError`. */
  changeSchedule(scheduleId: string, change: ScheduleChange, call: Call): Promise<void>

  /** The times at which the schedule acts, both ends included, at most `MAX_SCHEDULE_TIMES`. */
  scheduleTimes(times: ScheduleTimesCommand, call: Call): Promise<Date[]>

  /** The schedules that match the filter, the newest first. `token` is the `nextToken` of the previous page. */
  listSchedules(
    filter: ScheduleFilter,
    page: { size: number; token: string | null },
    call: Call,
  ): Promise<{ schedules: ListedSchedule[]; nextToken: string | null }>

  countRuns(filter: TypedRunFilter, byStatus: boolean, call: Call): Promise<RunCount>

  /** The search attributes of the namespace, by name. */
  searchAttributeTypes(call: Call): Promise<ReadonlyMap<string, SearchAttributeType>>

  /** The events of the run's history that follow a position. */
  events(run: RunRef, request: EventsRequest, call: Call): Promise<EventPage>

  /** A reader of the run's history as trace entries. Each read continues where the last one has ended. */
  followEntries(run: RunRef): Promise<(range: EventsRange, call: Call) => Promise<EventPage<TraceEntry>>>

  /**
   * A reader of what the run publishes, from an offset on; with `now` from what is published next. Rejects with
   * `ResourceExhaustedError` while this service has too many long polls. `status` is the last known one: what prevented
   * reading an open run may not hold for the closed one. Close the reader.
   */
  openStream(run: RunRef & Pick<StreamRun, 'status'>, from: number | 'now', call: Call): Promise<StreamReader>

  /**
   * Publishes items in the stream of the run. Rejects with `StreamNotFoundError` if its workflow has none, and like a
   * signal. For each `key`, they are published once in the chain of the run.
   */
  publish(run: RunRef, items: readonly Omit<StreamItem, 'offset'>[], key: string | null, call: Call): Promise<void>

  /** The run's history as trace entries, oldest first. */
  readEntries(run: RunRef, call: Call): AsyncIterable<TraceEntry>

  /** Decodes archived payloads; the unreadable become `{encoding, data}`. Rejects when the codec server fails. */
  decode(payloads: readonly EncodedPayload[], call: Call): Promise<unknown[]>

  /** All zeros for a queue that does not exist: the engine does not know which ones do. */
  describeTaskQueue(taskQueue: string, call: Call): Promise<TaskQueue>
  /** When a worker last polled for such tasks (default: workflow tasks); null when none has polled recently. */
  lastPolledAt(taskQueue: string, call: Call, tasks?: TaskKind): Promise<Date | null>

  /** Whether the engine can serve requests; never rejects. */
  readiness(call: Call): Promise<EngineReadiness>

  /** Resolves when the engine responds. */
  ping(call: Call): Promise<{ version: string }>
}

/** The engine with some of its calls replaced. Does not read the others: they may be created when they are used. */
export function decorated(engine: Engine, calls: Partial<Engine>): Engine {
  return Object.setPrototypeOf({ ...calls }, engine)
}
