import type { WebhookEndpoint } from '../../../shared/config/webhooks.ts'
import { MAX_JSON_DEPTH } from '../../../shared/lib/json.ts'
import { ActivityIdConflictPolicy, ActivityIdReusePolicy } from '../../../shared/temporal/enums.ts'
import { toTraceError } from '../../../shared/temporal/failure.ts'
import { toClosing } from '../../../shared/temporal/outcome.ts'
import { createPayloadReader, type PayloadReader } from '../../../shared/temporal/payload.ts'
import { toDuration } from '../../../shared/temporal/time.ts'
import type { Closing, ErrorCause } from '../../../shared/wire/execution.ts'
import type { RunRef } from '../../../shared/wire/run-ref.ts'
import type { TraceError } from '../../../shared/wire/trace/entry.ts'
import type { Redact } from '../../tracing/redact.ts'
import type { ClosedRunsEngine, FinalRun, StandaloneActivity } from '../engine.ts'
import { protectEntry } from '../protect-entry.ts'
import { type DeliveryResult, sendWebhook } from './standard-webhook.ts'
import { subscribesTo } from './subscriptions.ts'

/** What a delivery knows of its run before it reads it. */
export interface DeliveryInput extends RunRef {
  /** The workers of the catalog redact values. */
  isCatalogRedacted: boolean
}

export const DELIVERY_TYPE = 'portico.deliver-webhook'

/**
 * The task queue of an endpoint's deliveries. Endpoints do not share one: a receiver that hangs takes the slots of its
 * own queue only, and a worker without the endpoint polls for none of its deliveries. Nor do catalogs, whose workers
 * may have different codecs.
 */
export function deliveryQueue(endpoint: string, catalog: string): string {
  return `$webhook:${endpoint}:${catalog}`
}

// The engine retries after 5 s, 20 s, 80 s … up to 12 h.
const RETRY = { initialMs: 5000, coefficient: 4, maxMs: 12 * 60 * 60_000 }

/** How long the engine waits after the attempt, the first of which is 1. */
export function retryIntervalMs(attempt: number): number {
  return Math.min(RETRY.initialMs * RETRY.coefficient ** (attempt - 1), RETRY.maxMs)
}

const GIVE_UP_AFTER_MS = 3 * 24 * 60 * 60_000

// The request to the receiver and two calls of the engine, each with its own deadline.
const ATTEMPT_TIMEOUT_MS = 60_000

/**
 * The delivery, which is started once for each endpoint and `subject`, whether it has ended or not. A subject is a run,
 * or a problem of a run.
 */
export function deliveryActivity(
  type: string,
  { endpoint, catalog, subject }: { endpoint: string; catalog: string; subject: string },
  input: DeliveryInput,
): StandaloneActivity {
  return {
    activityId: `$webhook:${endpoint}:${subject}`,
    type,
    queue: deliveryQueue(endpoint, catalog),
    scheduleToCloseTimeout: toDuration(GIVE_UP_AFTER_MS),
    startToCloseTimeout: toDuration(ATTEMPT_TIMEOUT_MS),
    retryPolicy: {
      initialInterval: toDuration(RETRY.initialMs),
      backoffCoefficient: RETRY.coefficient,
      maximumInterval: toDuration(RETRY.maxMs),
      maximumAttempts: 0,
    },
    idReusePolicy: ActivityIdReusePolicy.REJECT_DUPLICATE,
    idConflictPolicy: ActivityIdConflictPolicy.FAIL,
    input,
  }
}

export interface DeliveryPorts {
  engine: Pick<ClosedRunsEngine, 'describe' | 'lastEvents'>
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
  const values = shownValues(valuesOf(closing), run, { endpoint, input, ports })
  const message = toMessage(run, { type: `workflow.${run.status}`, at: run.completedAt, data: values }, ports)
  return sendWebhook({ id: `msg_${run.runId}_${endpoint.name}`, body: JSON.stringify(message) }, endpoint, signal)
}

const PLAIN = createPayloadReader(null)

export class RunDeletedError extends Error {
  constructor({ workflowId, runId }: RunRef) {
    super(`The engine no longer has run ${runId} of workflow ${workflowId}`)
    this.name = 'RunDeletedError'
  }
}

export interface Values {
  output?: unknown
  error?: ErrorCause
  /** The size of an output that is in a store of the workers, and so null. */
  storedElsewhere?: { sizeBytes: number }
}

/** A message about the run. `data` is added to what each message says. */
export function toMessage(
  { workflowId, runId, workflowName, status, startedAt, completedAt }: FinalRun,
  { type, at, data }: { type: string; at: Date | null; data: object },
  { namespace, catalog }: Pick<DeliveryPorts, 'catalog' | 'namespace'>,
) {
  const run = { namespace, workflowId, runId, workflowName, catalog, status, startedAt, completedAt }
  return { type, timestamp: at, data: { ...run, ...data } }
}

function valuesOf({ outcome }: Closing): Values {
  if (outcome.status === 'continued') return {}
  return outcome.status === 'completed' ? outcome : { error: outcome.error }
}

/** The values that the endpoint is to get, redacted as in the trace of the run. */
export function shownValues(
  { output, error, storedElsewhere }: Values,
  run: FinalRun,
  { endpoint: { include }, input, ports }: { endpoint: WebhookEndpoint; input: DeliveryInput; ports: DeliveryPorts },
): Values {
  const values: Values = {
    ...(include.includes('output') && output !== undefined && { output, ...(storedElsewhere && { storedElsewhere }) }),
    ...(include.includes('error') && error !== undefined && { error }),
  }
  return ports.redactedBy !== ports.catalog && !input.isCatalogRedacted ? values : protect(values, run, input, ports)
}

function protect(
  values: Values,
  { runId, workflowName }: FinalRun,
  { isCatalogRedacted }: DeliveryInput,
  { redact, redactedBy, catalog }: DeliveryPorts,
): Values {
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
    { redact, redactedBy, catalog, isCatalogRedacted, limits: LIMITS },
  )
  return {
    ...values,
    ...('output' in values && { output: output ?? null }),
    ...(values.error && error && { error: { ...values.error, ...toErrorCause(error) } }),
  }
}

// The engine limits the values, and a message adds three levels around them.
const LIMITS = { maxBytes: Number.POSITIVE_INFINITY, maxDepth: MAX_JSON_DEPTH - 3 }

function toErrorCause({ details = [], cause, ...error }: TraceError): ErrorCause {
  return { ...error, details, cause: cause && toErrorCause(cause) }
}
