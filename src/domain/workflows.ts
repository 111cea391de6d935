import { v7 as uuidv7 } from 'uuid'
import type { CatalogEntry } from '../protocol/catalog.ts'
import { accept } from './accept.ts'
import { type Call, within } from './call.ts'
import type { Catalogs } from './catalog.ts'
import type { Engine, Message } from './engine.ts'
import { ServiceError } from './errors.ts'
import type { ExecutionRef, RunRef, Status, WorkflowResult } from './execution.ts'
import { readListing } from './listing.ts'
import { createReady } from './ready.ts'
import { toResult } from './result.ts'
import { run } from './run.ts'
import { startAccepted } from './start.ts'
import { catalogRun, stop, terminate } from './stop.ts'
import { readTrace } from './trace.ts'
import { traceOf } from './trace-destination.ts'
import type { Trace, TraceSource } from './traces.ts'

/** What the service does: one verb an endpoint. Each rejects with a `ServiceError` that names what went wrong. */
export interface Workflows {
  /** Starts a workflow and does not wait for it. */
  start(command: StartCommand, call: Call): Promise<RunRef>
  /** Starts a workflow and waits for the end of its chain, `timeoutMs` at most; the workflow goes on either way. */
  run(command: RunCommand, call: Call): Promise<WorkflowResult>
  status(ref: ExecutionRef, call: Call): Promise<WorkflowStatus>
  /** Rejects with `WorkflowNotCompletedError` while the run is open. */
  result(ref: ExecutionRef, call: Call): Promise<WorkflowResult>
  signal(ref: ExecutionRef, message: Message, call: Call): Promise<SignalAccepted>
  /** The handler's value; null when it returns nothing. */
  query(ref: ExecutionRef, message: Message, call: Call): Promise<unknown>
  /** The handler's value; null when it returns nothing. */
  update(ref: ExecutionRef, message: Message, call: Call): Promise<unknown>
  /** Asks the run to cancel itself: its cleanup runs. */
  stop(ref: ExecutionRef, reason: string | null, call: Call): Promise<Stopped>
  /** Ends the run at once, without cleanup. */
  terminate(ref: ExecutionRef, reason: string | null, call: Call): Promise<RunRef>
  catalog(catalog: string, call: Call): Promise<CatalogListing>
  trace(ref: ExecutionRef, call: Call): Promise<Trace>
  /** Whether the engine answers; the truth of at most 2 s ago. */
  ready(): Promise<boolean>
}

export interface StartCommand {
  /** Generated when absent. */
  workflowId?: string
  workflowName: string
  catalog: string
  input: unknown
}

export interface RunCommand extends StartCommand {
  /** How long to wait for the end. */
  timeoutMs: number
}

export interface WorkflowStatus extends RunRef {
  workflowName: string
  catalog: string
  status: Status
  startedAt: Date | null
  completedAt: Date | null
  historyLength: number
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

export interface CatalogListing {
  catalog: string
  workflows: CatalogEntry[]
}

export interface WorkflowsOptions {
  engine: Engine
  catalogs: Catalogs
  /** In the order in which they are asked. */
  traceSources: readonly TraceSource[]
  /** How long a query or an update may wait for a worker. */
  messageTimeoutMs: number
}

export function createWorkflows({ engine, catalogs, traceSources, messageTimeoutMs }: WorkflowsOptions): Workflows {
  return {
    async start(command, call) {
      const { workflowId, runId } = await startAccepted(engine, command, await accept(catalogs, command, call), call)
      return { workflowId, runId }
    },

    run: (command, call) => run(engine, catalogs, command, call),

    async status(ref, call) {
      const { workflowId, runId, workflowName, catalog, status, startedAt, completedAt, historyLength } = await engine.describe(ref, call)
      return { workflowId, runId, workflowName, catalog, status, startedAt, completedAt, historyLength }
    },

    async result(ref, call) {
      const execution = await engine.read(ref, call)
      const { workflowId, runId, status, closing } = execution
      if (closing !== null) return toResult(execution, closing, await traceOf(execution, catalogs))
      throw new ServiceError('WorkflowNotCompletedError', `Workflow ${workflowId} has no result yet: it is ${status}`, {
        details: { workflowId, runId, workflowStatus: status },
      })
    },

    async signal(ref, message, call) {
      if (catalogs.isOlderForm(ref.workflowId)) throw catalogRun(ref)
      return { workflowId: ref.workflowId, ...(await engine.signal(ref, message, call)) }
    },

    query: (ref, message, call) => engine.query(ref, message, within(call, messageTimeoutMs)),

    async update(ref, message, call) {
      if (catalogs.isOlderForm(ref.workflowId)) throw catalogRun(ref)
      return engine.update(ref, message, uuidv7(), within(call, messageTimeoutMs))
    },

    stop: (ref, reason, call) => stop(engine, ref, reason, call),
    terminate: (ref, reason, call) => terminate(engine, ref, reason, call),
    catalog: (catalog) => readListing(catalogs, catalog),
    trace: (ref, call) => readTrace(engine, traceSources, ref, call),
    ready: createReady(engine),
  }
}
