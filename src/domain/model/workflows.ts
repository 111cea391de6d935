import type { Status } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import type { ActivityRef, CompleteActivityCommand, FailActivityCommand, HeartbeatCommand } from './activity.ts'
import type { Call } from './call.ts'
import type { CatalogListing } from './catalog-listing.ts'
import type { ChainState } from './chain-state.ts'
import type { Capabilities } from './deployment.ts'
import type {
  EngineReadiness,
  ResetResult,
  ResetTarget,
  SignaledRun,
  StartedUpdate,
  UpdateRef,
  UpdateState,
} from './engine.ts'
import type { ExecutionRef, WorkflowResult } from './execution.ts'
import type { Explanation } from './explanation.ts'
import type { FollowCommand, HistoryCommand, HistoryFeed, RunHistory } from './history-page.ts'
import type { CreatedLink, CreateLinkCommand, Link, LinkAnswer, UsedLink, UseLinkCommand } from './link.ts'
import type { ListedRun, RunCount, RunFilter } from './run-filter.ts'
import type { FollowStreamCommand, PublishCommand, ReadStreamCommand, StreamBatch, StreamFeed } from './stream.ts'
import type { Trace } from './trace-source.ts'
import type { Headers, WorkflowOptions } from './workflow-options.ts'
import type { WorkflowStatus } from './workflow-status.ts'

/** What the service does: one verb for each endpoint. Every verb rejects with a `ServiceError`. */
export interface Workflows {
  /** Starts a workflow without waiting for its result. */
  start(command: StartCommand, call: Call): Promise<RunStart>
  /**
   * Starts a workflow and waits for the end of its chain, at most `timeoutMs`. A timeout does not stop the workflow.
   */
  run(command: RunCommand, call: Call): Promise<WorkflowResult>
  /** Makes the checks of `run` that are possible without sending the start to the engine. Starts nothing. */
  validate(command: StartCommand, call: Call): Promise<void>
  /** Signals the open run of the workflow id, or starts one and signals it, in one step. */
  signalWithStart(command: SignalWithStartCommand, call: Call): Promise<SignaledWithStart>
  /** Updates the open run of the workflow id, or starts one and updates it, in one step. */
  updateWithStart(command: UpdateWithStartCommand, call: Call): Promise<WithStart<StartedUpdate>>
  status(ref: ExecutionRef, call: Call): Promise<WorkflowStatus>
  /**
   * The result of a run. Waits for it at most `waitMs`, then rejects with `WorkflowExecutionTimedOutError`. Without
   * `waitMs` it rejects with `WorkflowNotCompletedError` if the run is open.
   */
  result(command: ResultCommand, call: Call): Promise<WorkflowResult>
  /** Rejects as `result` does if the caller may not read the run. */
  checkRead(ref: ExecutionRef, call: Call): Promise<void>
  /** The state of a run and of those that continue it, as one. Also after the first of them was deleted. */
  readChain(ref: ExecutionRef, call: Call): Promise<ChainState>
  /** Why the run does not move, and what a person can do about it. */
  explain(ref: ExecutionRef, call: Call): Promise<Explanation>
  /** The workflow name and the arguments of the run, also while it is open. */
  input(ref: ExecutionRef, call: Call): Promise<RunInput>
  /** One page of the events of a run. Can wait for the next event. */
  history(command: HistoryCommand, call: Call): Promise<RunHistory>
  /**
   * The events of a run as they are recorded, until it closes. Null when it is closed and has no events after `after`.
   */
  followHistory(command: FollowCommand, call: Call): Promise<HistoryFeed | null>
  /**
   * What a run and those that continue it publish. Null if the reader has received the last event already. Rejects with
   * `StreamNotFoundError` if a worker says soon that the workflow has no stream; `events` rejects if one says it later.
   */
  followStream(command: FollowStreamCommand, call: Call): Promise<StreamFeed | null>
  /** The items after a position, at most `maxItems`. Waits for the first one at most `waitMs`. */
  readStream(command: ReadStreamCommand, call: Call): Promise<StreamBatch>
  /** Publishes items in the stream of a run, and returns the run. */
  publish(command: PublishCommand, call: Call): Promise<RunRef>
  /**
   * Lists runs, open ones first. A run that keeps its status while a client pages through the list appears exactly
   * once.
   */
  list(command: ListCommand, call: Call): Promise<RunPage>
  count(command: CountCommand, call: Call): Promise<RunCount>
  signal(command: SendCommand, call: Call): Promise<SignalAccepted>
  /** Returns the handler's result; null when it has none. */
  query(command: SendCommand, call: Call): Promise<unknown>
  /** Returns the handler's result; null when it has none. */
  update(command: SendCommand, call: Call): Promise<unknown>
  /** Sends an update, and returns as soon as the workflow has accepted it. */
  startUpdate(command: SendCommand, call: Call): Promise<UpdateRef>
  /** How far an update is, and its result once it has completed. Rejects with `UpdateFailedError` if it has failed. */
  readUpdate(command: ReadUpdateCommand, call: Call): Promise<UpdateState>
  /** Creates a link with which a person without a credential sends one signal or update to the run. */
  createLink(command: CreateLinkCommand, call: Call): Promise<CreatedLink>
  /** The answer; null while the link can be used. Rejects with `WorkflowNotRunningError` if it cannot. */
  readLink(link: Link, call: Call): Promise<LinkAnswer | null>
  /** Sends the choice once, whoever uses the link. Rejects with `LinkUsedError` if another choice is recorded. */
  useLink(command: UseLinkCommand, call: Call): Promise<UsedLink>
  /** Requests cancellation of the run, which can clean up. */
  stop(command: ControlCommand, call: Call): Promise<Stopped>
  /** Ends the run at once, without cleanup. */
  terminate(command: ControlCommand, call: Call): Promise<RunRef>
  /** Stops the progress of the run until `unpause`. Succeeds if the run is paused already. */
  pause(command: ControlCommand, call: Call): Promise<Paused>
  unpause(command: ControlCommand, call: Call): Promise<Paused>
  /** Creates a run that continues from an earlier point of the run, which is terminated if it is open. */
  reset(command: ResetCommand, call: Call): Promise<ResetRun>
  /**
   * Completes an activity that completes outside its worker. `isRepeated` says whether an earlier request with the same
   * key has done so.
   */
  completeActivity(command: CompleteActivityCommand, call: Call): Promise<ActivityRef & { isRepeated: boolean }>
  failActivity(command: FailActivityCommand, call: Call): Promise<ActivityRef>
  /** Reports that the activity makes progress, and returns whether it should end because of a cancellation. */
  heartbeatActivity(command: HeartbeatCommand, call: Call): Promise<ActivityRef & { cancelRequested: boolean }>
  catalog(catalog: string, call: Call): Promise<CatalogListing>
  /** The catalog, with only the workflows that the caller may start. */
  startable(catalog: string, call: Call): Promise<CatalogListing>
  trace(ref: ExecutionRef, call: Call): Promise<Trace>
  capabilities(call: Call): Promise<Capabilities>
  /** Whether the engine can serve requests; at most a second old. */
  ready(): Promise<EngineReadiness>
}

/** The arguments of a workflow or of a handler. */
export interface Arguments {
  args: unknown[]
  /** JSON Pointer to the first argument in the request body, for issues. Without arguments: to where one belongs. */
  argumentPointer: string
}

export interface StartCommand extends Arguments {
  /** Generated when absent. */
  workflowId?: string
  workflowName: string
  catalog: string
  options?: WorkflowOptions
  /** The workflow is started once for each key, with any `workflowId`. */
  idempotencyKey?: string
  /** Set if the result may be returned, too: then the caller must be allowed to read the run. */
  mayRead?: true
}

export interface RunStart extends RunRef {
  /** Set for an open run that was found instead of starting one (`use-existing`). */
  isExisting?: true
  /** Set for a run that an earlier request with the same key has started: the status of its chain. */
  repeatedStatus?: Status
}

export interface MessageCommand extends Arguments {
  /** Name of the signal, query or update handler. */
  name: string
  /** Temporal headers for the interceptors of workers. */
  headers?: Headers
}

export interface SignalWithStartCommand {
  start: StartCommand
  signal: MessageCommand
}

export interface UpdateWithStartCommand {
  start: StartCommand
  update: MessageCommand
}

/** What signal-with-start and update-with-start return about their run. */
export type WithStart<Result> = Result & {
  /** Set for a run that an earlier request with the same key has started or signaled. */
  isRepeated?: true
}

/** A signal, query or update for an execution. */
export interface SendCommand {
  ref: ExecutionRef
  message: MessageCommand
  /** A run receives one signal, and one update, for each key. */
  idempotencyKey?: string
}

export interface ReadUpdateCommand {
  ref: ExecutionRef
  name: string
  updateId: string
  /** Whether the update must be one of this handler. */
  checksName?: boolean
  /** How long to wait for the update to complete. */
  waitMs: number
}

/** Cancels, terminates, pauses or continues an execution. */
export interface ControlCommand {
  ref: ExecutionRef
  reason: string | null
}

export interface ResetCommand extends ControlCommand {
  target: ResetTarget
}

export interface RunCommand extends StartCommand {
  /** How long to wait for the result. */
  timeoutMs: number
  /** Called as soon as the run has started, or was found. */
  onStarted?: (run: RunStart) => void
}

export interface ResultCommand {
  ref: ExecutionRef
  /** Whether to wait for the end of the chain, or only of this run. */
  followsChain: boolean
  /** Null: do not wait. */
  waitMs: number | null
  /** Called as soon as the run to wait for is known. */
  onFound?: (run: RunRef) => void
}

export interface RunInput extends RunRef {
  /** The one argument, null for none, the array for several. */
  input: unknown
  args: unknown[]
}

export interface ListCommand {
  filter: RunFilter
  pageSize: number
  /** From the previous page; null for the first page. */
  pageToken: string | null
}

export interface RunPage {
  runs: ListedRun[]
  /** Null after the last page. */
  nextPageToken: string | null
}

export interface CountCommand {
  filter: RunFilter
  byStatus: boolean
}

export interface SignalAccepted {
  workflowId: string
  /** The run that received the signal. */
  runId: string | null
  /** Why the signal may have no effect. */
  warnings: string[]
}

/** A signal that was sent with a start. */
export interface SignaledWithStart extends WithStart<SignaledRun>, Pick<SignalAccepted, 'warnings'> {}

export interface Stopped extends RunRef {
  /** False when the run was already closed. */
  cancelRequested: boolean
  status: Status
}

export interface Paused extends RunRef {
  /** The state after the request. */
  paused: boolean
}

/** The new run. */
export interface ResetRun extends RunRef, Pick<ResetResult, 'runsAgain'> {}
