import type { NativeConnection } from '@temporalio/worker'
import type { RunRef } from '../../protocol/run-ref.ts'
import { type DescribedRun, describeRun } from '../../temporal/describe-run.ts'
import { ActivityIdConflictPolicy, ActivityIdReusePolicy } from '../../temporal/enums.ts'
import { GrpcCode, hasGrpcCode, nullOnGrpcNotFound } from '../../temporal/grpc-code.ts'
import type { HistoryEvent } from '../../temporal/outcome.ts'
import { toPayload } from '../../temporal/payload.ts'
import { toDuration } from '../../temporal/time.ts'
import { createEngineCall } from '../archive/engine-call.ts'

/** The engine calls of webhooks. Each rejects when `signal` aborts or the engine does not respond in time. */
export interface WebhookEngine {
  /** Starts the delivery unless it was started before, whether it has ended or not. */
  startDelivery(endpoint: string, input: DeliveryInput, signal: AbortSignal): Promise<void>
  /** Null when the engine no longer has the run. */
  describe(run: RunRef, signal: AbortSignal): Promise<FinalRun | null>
  /** The last events of a closed run, oldest first. */
  lastEvents(run: RunRef, signal: AbortSignal): Promise<HistoryEvent[]>
}

/** What a delivery knows of its run before it reads it. */
export interface DeliveryInput extends RunRef {
  /** The workers of the catalog redact values. */
  isCatalogRedacted: boolean
}

export interface FinalRun extends DescribedRun {
  /** The run that continues this one after a reset. */
  resetRunId: string | null
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
const GIVE_UP_AFTER_MS = 3 * 24 * 60 * 60_000

// The request to the receiver and two calls of the engine, each with its own deadline.
const ATTEMPT_TIMEOUT_MS = 60_000

// Enough for the request to cancel, which stands before the events of the cleanup.
const LAST_EVENTS = 100

export interface WebhookEngineOptions {
  connection: Pick<NativeConnection, 'withDeadline' | 'workflowService'>
  namespace: string
  catalog: string
  identity: string
}

export function createWebhookEngine(options: WebhookEngineOptions): WebhookEngine {
  const { connection, namespace, catalog, identity } = options
  const { workflowService } = connection
  const call = createEngineCall(connection)

  return {
    async startDelivery(endpoint, input, signal) {
      await call(signal, () =>
        workflowService.startActivityExecution({
          namespace,
          identity,
          requestId: crypto.randomUUID(),
          activityId: `$webhook:${endpoint}:${input.runId}`,
          activityType: { name: DELIVERY_TYPE },
          taskQueue: { name: deliveryQueue(endpoint, catalog) },
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
          input: { payloads: [toPayload(input)] },
        }),
      ).catch((error) => {
        if (!hasGrpcCode(error, GrpcCode.ALREADY_EXISTS)) throw error
      })
    },

    async describe({ workflowId, runId }, signal) {
      const described = await call(signal, () =>
        workflowService.describeWorkflowExecution({ namespace, execution: { workflowId, runId } }),
      ).catch(nullOnGrpcNotFound)
      if (described === null) return null
      const { workflowExecutionInfo, workflowExtendedInfo } = described
      return { ...describeRun(workflowExecutionInfo), resetRunId: workflowExtendedInfo?.resetRunId || null }
    },

    async lastEvents({ workflowId, runId }, signal) {
      const execution = { workflowId, runId }
      const { history } = await call(signal, () =>
        workflowService.getWorkflowExecutionHistoryReverse({ namespace, execution, maximumPageSize: LAST_EVENTS }),
      )
      return (history?.events ?? []).toReversed()
    },
  }
}
