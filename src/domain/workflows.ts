import type { CatalogEntry } from '../protocol/catalog.ts'
import type { Status } from '../protocol/execution.ts'
import type { RunRef } from '../protocol/run-ref.ts'
import type { Arguments } from './admission/check-argument.ts'
import type { Call } from './call.ts'
import type { EngineFeatures, EngineReadiness, StartedUpdate } from './engine.ts'
import type { ExecutionRef, WorkflowResult } from './execution.ts'
import type { Problem } from './status/problem.ts'
import type { Trace } from './trace/trace-source.ts'

/** What the service does: one verb an endpoint. Each rejects with a `ServiceError` that names what went wrong. */
export interface Workflows {
  /** Starts a workflow and does not wait for it. */
  start(command: StartCommand, call: Call): Promise<RunRef>
  /** Starts a workflow and waits for the end of its chain, `timeoutMs` at most; the workflow goes on either way. */
  run(command: RunCommand, call: Call): Promise<WorkflowResult>
  /** Updates the open run of that id, and starts it before when there is none, in one step. */
  updateWithStart(command: StartCommand, message: MessageCommand, call: Call): Promise<StartedUpdate>
  status(ref: ExecutionRef, call: Call): Promise<WorkflowStatus>
  /** Rejects with `WorkflowNotCompletedError` while the run is open. */
  result(ref: ExecutionRef, call: Call): Promise<WorkflowResult>
  signal(ref: ExecutionRef, message: MessageCommand, call: Call): Promise<SignalAccepted>
  /** The handler's value; null when it returns nothing. */
  query(ref: ExecutionRef, message: MessageCommand, call: Call): Promise<unknown>
  /** The handler's value; null when it returns nothing. */
  update(ref: ExecutionRef, message: MessageCommand, call: Call): Promise<unknown>
  /** Asks the run to cancel itself: its cleanup runs. */
  stop(ref: ExecutionRef, reason: string | null, call: Call): Promise<Stopped>
  /** Ends the run at once, without cleanup. */
  terminate(ref: ExecutionRef, reason: string | null, call: Call): Promise<RunRef>
  catalog(catalog: string, call: Call): Promise<CatalogListing>
  trace(ref: ExecutionRef, call: Call): Promise<Trace>
  capabilities(call: Call): Promise<Capabilities>
  /** Whether the engine can serve requests, as seen at most a second ago. */
  ready(): Promise<EngineReadiness>
}

export interface StartCommand extends Arguments {
  /** Generated when absent. */
  workflowId?: string
  workflowName: string
  catalog: string
}

export interface MessageCommand extends Arguments {
  /** Name of the signal, query or update handler. */
  name: string
}

export interface RunCommand extends StartCommand {
  /** How long to wait for the end. */
  timeoutMs: number
  /** Told of the run as soon as it has started. */
  onStarted?: (run: RunRef) => void
}

export interface WorkflowStatus extends RunRef {
  workflowName: string
  catalog: string
  status: Status
  startedAt: Date | null
  completedAt: Date | null
  historyLength: number
  /** Why an open run does not go on; null when nothing is known to be in its way. */
  problem: Problem | null
}

export interface SignalAccepted {
  workflowId: string
  /** The run that took the signal. */
  runId: string | null
}

export interface Stopped extends RunRef {
  /** False on a run that was closed already. */
  cancelRequested: boolean
  status: Status
}

/** What the service is made of, known before it serves. */
export interface Deployment {
  /** Of the service. */
  version: string
  /** `node`, `bun`, `deno`, `workerd`, or what whoever embeds it calls it. */
  runtime: string
  /** What carries the calls to the engine. */
  transport: 'grpc' | 'http'
  features: Features
}

/** What not every deployment supports. */
export interface Features extends EngineFeatures {
  /** Payloads are encoded and decoded by a codec server. */
  codec: boolean
  /** Where traces are read from, before the engine's history. */
  traceRemote: boolean
  traceKvstore: boolean
  traceLocal: boolean
}

export interface Capabilities extends Omit<Deployment, 'features'> {
  features: Record<keyof Features, boolean>
  /** `version` is null while the engine does not answer. */
  engine: { version: string | null }
}

export interface CatalogListing {
  catalog: string
  workflows: CatalogEntry[]
}
