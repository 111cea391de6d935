import { v7 as uuidv7 } from 'uuid'
import { admitMessage } from './admission/admit-message.ts'
import { accept } from './admission/admit-start.ts'
import { addingStarts, createKnownRuns } from './admission/known-runs.ts'
import { assertSupportedId } from './admission/supported-id.ts'
import { within } from './call.ts'
import type { Catalogs } from './catalog/catalogs.ts'
import { readListing } from './catalog/read-catalog.ts'
import { catalogRun, stop, terminate } from './control/stop.ts'
import type { Engine } from './engine.ts'
import { ServiceError } from './errors.ts'
import { toResult } from './result.ts'
import { run } from './start/run.ts'
import { startAccepted } from './start/start.ts'
import { updateWithStart } from './start/update-with-start.ts'
import { readCapabilities } from './status/capabilities.ts'
import { createReady } from './status/readiness.ts'
import { traceOrNull } from './trace/destinations.ts'
import { readTrace } from './trace/read-trace.ts'
import type { TraceSource } from './trace/trace-source.ts'
import type { Deployment, Workflows } from './workflows.ts'

export interface WorkflowsOptions {
  engine: Engine
  catalogs: Catalogs
  /** In the order in which they are asked; the last is the engine's history. */
  traceSources: readonly TraceSource[]
  /** Of the entries of one answer of `trace`, as JSON. */
  traceMaxBytes: number
  deployment: Deployment
  /** How long a query or an update may wait for a worker. */
  messageTimeoutMs: number
  /** False where one request can't wait for what another reads (workerd). */
  sharesPending?: boolean
}

/** The verbs over their ports. */
export function createWorkflows(options: WorkflowsOptions): Workflows {
  const { catalogs, traceSources, traceMaxBytes, deployment, messageTimeoutMs, sharesPending = true } = options
  const knownRuns = createKnownRuns({ engine: options.engine, sharesPending })
  const engine = addingStarts(options.engine, knownRuns)
  const admission = { catalogs, knownRuns }
  return {
    async start(command, call) {
      assertSupportedId(deployment.features, command)
      const { workflowId, runId } = await startAccepted(engine, command, await accept(catalogs, command, call), call)
      return { workflowId, runId }
    },

    async run(command, call) {
      assertSupportedId(deployment.features, command)
      return run(engine, catalogs, command, call)
    },

    updateWithStart: (command, message, call) =>
      updateWithStart(
        { engine, ...admission, features: deployment.features, messageTimeoutMs },
        command,
        message,
        uuidv7(),
        call,
      ),

    async status(ref, call) {
      const run = await engine.describe(ref, call)
      const { workflowId, runId, workflowName, catalog, status, startedAt, completedAt, historyLength } = run
      const problem = (await run.failingTask?.problem(call)) ?? null
      return { workflowId, runId, workflowName, catalog, status, startedAt, completedAt, historyLength, problem }
    },

    async result(ref, call) {
      const execution = await engine.read(ref, call)
      const { workflowId, runId, status, closing } = execution
      if (closing !== null) return toResult(execution, closing, await traceOrNull(execution, catalogs, call))
      throw new ServiceError('WorkflowNotCompletedError', `Workflow ${workflowId} has no result yet: it is ${status}`, {
        details: { workflowId, runId, workflowStatus: status },
      })
    },

    async signal(ref, message, call) {
      if (catalogs.isOlderForm(ref.workflowId)) throw catalogRun(ref)
      await admitMessage(admission, ref, 'signal', message, call)
      return { workflowId: ref.workflowId, ...(await engine.signal(ref, message, call)) }
    },

    async query(ref, message, call) {
      const limited = within(call, messageTimeoutMs)
      await admitMessage(admission, ref, 'query', message, limited)
      return engine.query(ref, message, limited)
    },

    async update(ref, message, call) {
      if (catalogs.isOlderForm(ref.workflowId)) throw catalogRun(ref)
      const limited = within(call, messageTimeoutMs)
      await admitMessage(admission, ref, 'update', message, limited)
      return engine.update(ref, message, uuidv7(), limited)
    },

    stop: (ref, reason, call) => stop(engine, ref, reason, call),
    terminate: (ref, reason, call) => terminate(engine, ref, reason, call),
    catalog: (catalog, call) => readListing(catalogs, catalog, call),
    trace: (ref, call) => readTrace({ engine, catalogs, sources: traceSources, maxBytes: traceMaxBytes }, ref, call),
    capabilities: (call) => readCapabilities(engine, deployment, call),
    ready: createReady(engine, { sharesPending }),
  }
}
