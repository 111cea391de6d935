/** What the verbs take, which is called a command, and what they return. */
import type { AccessRequest } from '../../shared/access/grant.ts'
import type { Status } from '../../shared/wire/execution.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import type { Batch, EngineBatch, OnBatch } from './batch.ts'
import type { Call } from './call.ts'
import type { EngineStart, ResetResult, ResetTarget, SignaledRun } from './engine.ts'
import type { ExecutionRef, OnRun } from './execution.ts'
import type { ListedRun, RunFilter, VisibleRuns } from './run-filter.ts'
import type { OnSchedule, Precondition, ScheduleDocument } from './schedule.ts'
import type { Headers, RunOptionsChange, WorkflowOptions } from './workflow-options.ts'

/** What a verb does with its ports, once its caller may. Rejects with a `ServiceError`. */
export type Act<Ports, Input, Output> = (ports: Ports, input: Input, call: Call) => Promise<Output>

/** Whether the caller may make a request. */
export type May = (request: AccessRequest) => boolean

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
  /** That of `StartRequest`. */
  objectionTo?: EngineStart['objectionTo']
}

export interface PutScheduleCommand extends OnSchedule {
  precondition: Precondition
  document: ScheduleDocument
  start: StartCommand
  /** Throws if the caller may not replace a schedule of this workflow. */
  admitReplaced?: (workflowName: string) => void
}

/** One operation on all open runs that match a filter. */
export interface CreateBatchCommand extends Pick<EngineBatch, 'operation' | 'signal'> {
  filter: RunFilter
  reason: string | null
  /** One batch is created for each key. */
  idempotencyKey?: string
  /** The runs on which the caller may do this, as in a filter. Absent: all. */
  visible?: readonly VisibleRuns[]
  /** Whether a run is one of them, to the letter. */
  admits?: (run: Pick<ListedRun, 'workflowId' | 'workflowName'>) => boolean
}

export interface CreatedBatch extends Pick<Batch, 'matching' | 'operation'> {
  /** Null if no run matches. */
  batchId: string | null
  /** Set if an earlier request with the same key has created it. */
  isRepeated?: true
}

export interface StopBatchCommand extends OnBatch {
  reason: string | null
}

export interface ListBatchesCommand {
  pageSize: number
  pageToken: string | null
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

/** Changes the options of an open run that it has. */
export interface SetOptionsCommand extends OnRun {
  options: RunOptionsChange
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

/** The answer to one line of a bulk. */
export interface BulkAnswer {
  /** Of the line, from 0. */
  index: number
  /** Status and body are those of the single request. */
  status: number
  /** Its header `Idempotency-Replayed`. */
  replayed?: boolean
  /** Its header `Portico-Started`. */
  started?: boolean
  body: unknown
}

/** The last line of a complete answer. */
export interface BulkEnd {
  done: true
  items: number
  succeeded: number
  /** Those with a status of 400 or more. */
  failed: number
}
