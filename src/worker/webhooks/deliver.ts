import type { WebhookEndpoint } from '../../config/webhooks.ts'
import { MAX_JSON_DEPTH } from '../../lib/json.ts'
import type { Closing, ErrorCause, ErrorDetails } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import type { TraceError } from '../../protocol/trace/entry.ts'
import { toTraceError } from '../../temporal/failure.ts'
import { toClosing } from '../../temporal/outcome.ts'
import { createPayloadReader, type PayloadReader } from '../../temporal/payload.ts'
import { protectEntry } from '../archive/protect-entry.ts'
import type { Redact } from '../tracing/redact.ts'
import type { DeliveryInput, FinalRun, WebhookEngine } from './engine.ts'
import { type DeliveryResult, sendWebhook } from './standard-webhook.ts'
import { subscribesTo } from './subscriptions.ts'

export interface DeliveryPorts {
  engine: Pick<WebhookEngine, 'describe' | 'lastEvents'>
  namespace: string
  /** The task queue whose runs are reported. */
  catalog: string
  payloads: PayloadReader
  redact: Redact
  /** The task queue whose own `redact` it is; null if this process has none. */
  redactedBy: string | null
}

/** What an attempt did. Temporal's UI shows it as the result of the activity. */
export type DeliveryAttempt = DeliveryResult | { skipped: string }

/**
 * Sends the message about the end of a run to the endpoint. A chain of runs gets one message, about its last run.
 * Rejects with a `RunDeletedError` when the engine no longer has the run.
 */
export async function deliver(
  endpoint: WebhookEndpoint,
  input: DeliveryInput,
  ports: DeliveryPorts,
  signal: AbortSignal,
): Promise<DeliveryAttempt> {
  const { engine, payloads } = ports
  const run = await engine.describe(input, signal)
  if (run === null) throw new RunDeletedError(input)
  if (!subscribesTo(endpoint, run)) return { skipped: 'The endpoint does not subscribe to this run' }
  // A codec that fails delays only messages that need it.
  const reader = endpoint.include.length > 0 ? payloads : PLAIN
  const closing = await toClosing(await engine.lastEvents(input, signal), reader)
  if (closing === null) throw new Error(`The history of run ${input.runId} has no close event yet`)
  // A reset terminates the run that it continues.
  const nextRunId = closing.nextRunId ?? (run.status === 'terminated' ? run.resetRunId : null)
  if (nextRunId !== null) return { skipped: `Run ${nextRunId} continues this run` }
  const body = JSON.stringify(toMessage(run, endpoint, valuesOf(closing, run, input, ports), ports))
  return sendWebhook({ id: `msg_${run.runId}_${endpoint.name}`, body }, endpoint, signal)
}

const PLAIN = createPayloadReader(null)

export class RunDeletedError extends Error {
  constructor({ workflowId, runId }: RunRef) {
    super(`The engine no longer has run ${runId} of workflow ${workflowId}`)
    this.name = 'RunDeletedError'
  }
}

interface Values {
  output?: unknown
  error?: ErrorDetails
  /** The size of an output that is in a store of the workers, and so null. */
  storedElsewhere?: { sizeBytes: number }
}

function toMessage(
  run: FinalRun,
  { include }: Pick<WebhookEndpoint, 'include'>,
  { output, error, storedElsewhere }: Values,
  { namespace, catalog }: Pick<DeliveryPorts, 'catalog' | 'namespace'>,
) {
  const { workflowId, runId, workflowName, status, startedAt, completedAt } = run
  return {
    type: `workflow.${status}`,
    timestamp: completedAt,
    data: {
      namespace,
      workflowId,
      runId,
      workflowName,
      catalog,
      status,
      startedAt,
      completedAt,
      ...(include.includes('output') &&
        output !== undefined && { output, ...(storedElsewhere && { storedElsewhere }) }),
      ...(include.includes('error') && error !== undefined && { error }),
    },
  }
}

/** The output or the error of the run, redacted as in its trace. */
function valuesOf({ outcome }: Closing, run: FinalRun, input: DeliveryInput, ports: DeliveryPorts): Values {
  if (outcome.status === 'continued') return {}
  const values: Values = outcome.status === 'completed' ? outcome : { error: outcome.error }
  const { redact, redactedBy, catalog } = ports
  if (redactedBy !== catalog && !input.isCatalogRedacted) return values
  const { runId, workflowName } = run
  const { output, error } = protectEntry(
    {
      id: runId,
      parentId: null,
      kind: 'workflow',
      name: workflowName,
      at: 0,
      phase: 'ended',
      ...('output' in values && { output: values.output }),
      ...(values.error && { error: toTraceError(values.error) }),
    },
    { redact, redactedBy, catalog, isCatalogRedacted: input.isCatalogRedacted, limits: LIMITS },
  )
  return {
    ...values,
    ...('output' in values && { output: output ?? null }),
    ...(values.error && error && { error: { ...values.error, ...toErrorCause(error) } }),
  }
}

// The engine limits the values, and a message adds three levels around them.
const LIMITS = { maxBytes: Number.POSITIVE_INFINITY, maxDepth: MAX_JSON_DEPTH - 3 }

function toErrorCause({ name, message, details = [], cause }: TraceError): ErrorCause {
  return { name, message, details, cause: cause && toErrorCause(cause) }
}
