import type { Closing, Execution } from '../protocol/execution.ts'
import type { RunRef } from '../protocol/run-ref.ts'
import type { EncodedPayload, TraceEntry } from '../protocol/trace/entry.ts'
import type { Call } from './call.ts'
import type { Description, ExecutionRef } from './execution.ts'

export interface StartRequest {
  workflowId: string
  workflowName: string
  catalog: string
  /** The workflow's arguments. */
  args: unknown[]
}

export interface Started extends RunRef {
  firstRunId: string
}

/** The answer of an update that found, or started, its run. */
export interface StartedUpdate extends RunRef {
  /** Whether this call started the run. */
  started: boolean
  /** The handler's value; null when it returns nothing. */
  result: unknown
}

/** What is sent to a handler of a workflow. */
export interface Message {
  /** Name of the signal, query or update handler. */
  name: string
  args: unknown[]
}

/** Whether a feature is supported and, when it is not, the reason that the client is given. */
export type Support = { supported: true } | { supported: false; reason: string }

/** Features that depend on how the engine is reached. */
export interface EngineFeatures {
  /** Ids and names may contain "/", or be "." or "..". */
  slashInIds: Support
  /** Starting a workflow and sending it an update in one step. */
  updateWithStart: Support
}

/** `misconfigured`: it answers, and refuses the namespace or the key that this service has. */
export type EngineReadiness = 'reachable' | 'unreachable' | 'misconfigured'

/**
 * Port: a workflow engine, in our words.
 *
 * Every verb rejects with a `ServiceError`: `WorkflowNotFoundError` for what is not there, `EngineUnavailableError`
 * when the engine does not answer before `call.deadlineAt`, `ResourceExhaustedError`, `EngineError`.
 * A verb without a pinned run acts on the latest one.
 */
export interface Engine {
  /**
   * Starts once, however often the call has to be repeated. Rejects with `WorkflowAlreadyStartedError` when the id is in
   * use, and with `EngineUnavailableError` when an answer was lost and the id has been used by others since.
   */
  start(request: StartRequest, call: Call): Promise<Started>

  /** How exactly this run ended; null when it is still open at `call.deadlineAt` or when `call.signal` aborts. Outlives outages of the engine. */
  wait(run: RunRef, call: Call): Promise<Closing | null>

  describe(ref: ExecutionRef, call: Call): Promise<Description>

  /** The run with its input and how it ended. `closing`, when known from `wait`, is not read again. */
  read(ref: ExecutionRef, call: Call, closing?: Closing): Promise<Execution>

  /** What the run was started with: the one argument, null for none, the array for several. */
  input(run: RunRef, call: Call): Promise<unknown>

  /**
   * Rejects with `WorkflowNotRunningError` when the run is closed. `runId` is the run that took the signal.
   *
   * Delivered at most once, also without a pinned run: it never reaches a run that came after the one it was first sent
   * to. Rejects with `EngineUnavailableError` when an answer was lost and that run cannot be known.
   */
  signal(ref: ExecutionRef, message: Message, call: Call): Promise<{ runId: string | null }>

  /** Rejects with `HandlerNotFoundError`, `QueryFailedError`, `WorkflowNotReadyError`, `DeadlineExceededError`. */
  query(ref: ExecutionRef, message: Message, call: Call): Promise<unknown>

  /**
   * Rejects like `query`, with `UpdateFailedError`. Carried out at most once, as `signal` is delivered; the engine knows
   * an `updateId` within one run only, so two calls with the same one are one update only on the same run.
   */
  update(ref: ExecutionRef, message: Message, updateId: string, call: Call): Promise<unknown>

  /**
   * Updates the open run of that id, and starts it before when there is none, in one step. Rejects like `update`.
   *
   * Neither is done twice, however often the call has to be repeated: where that can't be known it rejects with
   * `EngineUnavailableError`. `NotSupportedError` where the way to the engine has no such step.
   */
  updateWithStart(request: StartRequest, message: Message, updateId: string, call: Call): Promise<StartedUpdate>

  /** Asks the chain of `run` to cancel; with `pinned` only that run. No error when it is closed. */
  cancel(run: Started, options: { reason: string | null; pinned: boolean }, call: Call): Promise<void>

  /** Rejects with `WorkflowNotRunningError` when the run is closed. */
  terminate(run: RunRef, reason: string | null, call: Call): Promise<void>

  /** The run's history as trace entries, oldest first. */
  readEntries(run: RunRef, call: Call): AsyncIterable<TraceEntry>

  /** The values of archived payloads; what cannot be decoded is `{encoding, data}`. Rejects when the codec does not answer. */
  decode(payloads: readonly EncodedPayload[], call: Call): Promise<unknown[]>

  /** When a worker last asked the task queue for workflow tasks; null when none has lately. */
  lastPolledAt(catalog: string, call: Call): Promise<Date | null>

  /** Whether the engine can serve requests; never rejects. */
  readiness(call: Call): Promise<EngineReadiness>

  /** Resolves when the engine answers. */
  ping(call: Call): Promise<{ version: string }>
}
