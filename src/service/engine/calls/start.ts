/** Starts a workflow at most once, and gives a start the engine's form. */

import type { temporal } from '@temporalio/proto'
import { creationTimeOf } from '../../../shared/lib/new-id.ts'
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '../../../shared/temporal/enums.ts'
import { toStatus } from '../../../shared/temporal/outcome.ts'
import { type Payload, toMemo } from '../../../shared/temporal/payload.ts'
import { TYPE_NAMES, toSearchAttribute } from '../../../shared/temporal/search-attributes.ts'
import { toDuration } from '../../../shared/temporal/time.ts'
import { isOpen } from '../../../shared/wire/execution.ts'
import type { RunRef } from '../../../shared/wire/run-ref.ts'
import type { Call } from '../../model/call.ts'
import type { EngineStart, StartedRun } from '../../model/engine.ts'
import type {
  ConflictPolicy,
  RetryOptions,
  ReusePolicy,
  SearchAttributeValue,
  VersioningOverride,
  WorkflowOptions,
} from '../../model/workflow-options.ts'
import { type EngineContext, identityOf, requestHeaders, toExecution, toPayloads } from '../context.ts'
import { isGoneOrClosed, toServiceError } from '../errors.ts'
import { type LostResponseAction, withEngineWatchdog } from '../rpc.ts'
import type { Request, RpcError } from '../transport/transport.ts'
import { type FoundRun, toLookupError } from './at-most-once/find-run.ts'
import { findLatestRun, unknownOutcomeError } from './at-most-once/lost-response.ts'
import { rejectedOption } from './rejected-option.ts'

export async function start(context: EngineContext, request: EngineStart, call: Call): Promise<StartedRun> {
  const { rpc, clock } = context
  const { workflowId, options = {} } = request
  const { startWorkflow } = await toStartWorkflow(context, request, call)
  const atMostOnce = { details: { workflowId }, requestId: startWorkflow.requestId }
  const sentAt = Date.now()

  async function onLostResponse(
    error: RpcError,
    call: Call,
  ): Promise<LostResponseAction<'startWorkflowExecution', StartedRun>> {
    const latest = await findLatestRun(context, atMostOnce, sentAt, call)
    switch (latest.kind) {
      case 'started by request':
        return { result: { workflowId, runId: latest.run.runId, firstRunId: latest.run.runId } }
      case 'none':
        return { retryRequest: await withoutTermination(null, call) }
      case 'older than request':
        return { retryRequest: await withoutTermination(latest.run, call) }
      case 'maybe newer than request':
        // Another client has used the id since, or at about the same time: our run may have ended before.
        throw unknownOutcomeError(atMostOnce.details, error)
    }
  }

  /**
   * The request to send again, which itself terminates no run: with `terminate-existing`, the older run is terminated
   * here, by its run id.
   */
  async function withoutTermination(older: FoundRun | null, call: Call): Promise<Request<'startWorkflowExecution'>> {
    if (options.workflowIdConflictPolicy !== 'terminate-existing') return startWorkflow
    if (older !== null && isOpen(older.status)) await terminateOnce(context, { workflowId, runId: older.runId }, call)
    return { ...startWorkflow, workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL }
  }

  try {
    const response = await withEngineWatchdog(rpc, call, (watched) =>
      rpc('startWorkflowExecution', startWorkflow, watched, {
        onLostResponse: (error) => onLostResponse(error, watched),
      }),
    )
    // With a request id of the caller the engine may return the run of an earlier request.
    const isNew = request.requestId === undefined && 'started' in response && response.started
    clock.observe(creationTimeOf(response.runId), { isNew })
    if ('firstRunId' in response) return response
    const { runId, firstExecutionRunId, started } = response
    const status = toStatus(response.status)
    // Older engines do not set `started`, but only with `use-existing` can the engine return a run that it has not
    // started.
    const isExisting = !started && options.workflowIdConflictPolicy === 'use-existing'
    return {
      workflowId,
      runId,
      firstRunId: firstExecutionRunId || runId,
      ...(isExisting && { isExisting }),
      ...(!isOpen(status) && { endedStatus: status }),
    }
  } catch (error) {
    throw rejectedOption(error, request) ?? toServiceError(error, { kind: 'write', details: atMostOnce.details })
  }
}

/** Checks the size and the encoding of a start without sending it. */
export async function checkStart(context: EngineContext, request: EngineStart, call: Call): Promise<void> {
  await toStartWorkflow(context, request, call)
}

/**
 * The engine's form of a start, with a new request id. `others` are arguments that the same call carries, which
 * `otherPayloads` returns encoded.
 */
export async function toStartWorkflow(
  { namespace, payloads }: EngineContext,
  request: EngineStart,
  call: Call,
  { others = [], otherHeaders = [] }: { others?: readonly unknown[]; otherHeaders?: readonly Payload[] } = {},
) {
  const { workflowId, workflowName, catalog, args, options = {}, protocolMemo } = request
  const { requestId = crypto.randomUUID() } = request
  const { header, payloads: headerPayloads } = requestHeaders(call, options.headers)
  const lists = [args, others, ...encodedValues(options)]
  const [input = [], otherPayloads = [], ...encoded] = await payloads.encodeLists(lists, [
    ...headerPayloads,
    ...otherHeaders,
  ])
  const { memo, ...startOptions } = toStartOptions(options, encoded)
  const fields = { ...memo?.fields, ...(protocolMemo && toMemo(protocolMemo).fields) }
  const startWorkflow = {
    ...startOptions,
    ...(Object.keys(fields).length > 0 && { memo: { fields } }),
    namespace,
    workflowId,
    workflowType: { name: workflowName },
    taskQueue: { name: catalog },
    input: toPayloads(input),
    identity: identityOf(call),
    // All attempts share it: the engine starts one run, as long as that run is the latest of the workflow id.
    requestId,
    ...(header !== null && { header }),
  }
  return { startWorkflow, otherPayloads }
}

/** Terminates this run, unless it is closed already, for a start with `terminate-existing` whose response was lost. */
async function terminateOnce({ rpc, namespace }: EngineContext, run: RunRef, call: Call): Promise<void> {
  const request = {
    namespace,
    workflowExecution: toExecution(run),
    reason: 'a new run of the workflow id starts',
    identity: identityOf(call),
  }
  try {
    await rpc('terminateWorkflowExecution', request, call)
  } catch (error) {
    if (!isGoneOrClosed(error)) throw toLookupError(error, { workflowId: run.workflowId })
  }
}

type StartWorkflow = temporal.api.workflowservice.v1.IStartWorkflowExecutionRequest

/** The values of the options that the codec encodes. */
export function encodedValues({ memo = {}, summary, details }: WorkflowOptions): [unknown[], unknown[], unknown[]] {
  const list = (value: unknown) => (value === undefined ? [] : [value])
  return [Object.values(memo), list(summary), list(details)]
}

/** `encoded` are the payloads of `encodedValues`. */
export function toStartOptions(options: WorkflowOptions, encoded: readonly Payload[][]): StartWorkflow {
  const [memo = [], [summary] = [], [details] = []] = encoded
  const { workflowIdConflictPolicy: conflict, workflowIdReusePolicy: reuse, versioningOverride, priority } = options
  const names = Object.keys(options.memo ?? {})
  return withoutUndefined({
    memo:
      names.length === 0 ? undefined : { fields: Object.fromEntries(names.map((name, at) => [name, memo[at] ?? {}])) },
    searchAttributes: options.searchAttributes && toSearchAttributes(options.searchAttributes),
    workflowStartDelay: duration(options.startDelayMs),
    workflowExecutionTimeout: duration(options.executionTimeoutMs),
    workflowRunTimeout: duration(options.runTimeoutMs),
    workflowTaskTimeout: duration(options.taskTimeoutMs),
    retryPolicy: options.retry && toRetryPolicy(options.retry),
    cronSchedule: options.cronSchedule,
    workflowIdConflictPolicy: conflict && CONFLICT[conflict],
    workflowIdReusePolicy: reuse && REUSE[reuse],
    priority,
    versioningOverride: versioningOverride && toVersioningOverride(versioningOverride),
    userMetadata: summary || details ? withoutUndefined({ summary, details }) : undefined,
  })
}

const CONFLICT = {
  fail: WorkflowIdConflictPolicy.FAIL,
  'use-existing': WorkflowIdConflictPolicy.USE_EXISTING,
  'terminate-existing': WorkflowIdConflictPolicy.TERMINATE_EXISTING,
} as const satisfies Record<ConflictPolicy, number>

const REUSE = {
  'allow-duplicate': WorkflowIdReusePolicy.ALLOW_DUPLICATE,
  'allow-duplicate-failed-only': WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
  'reject-duplicate': WorkflowIdReusePolicy.REJECT_DUPLICATE,
} as const satisfies Record<ReusePolicy, number>

function toSearchAttributes(attributes: Readonly<Record<string, SearchAttributeValue>>) {
  const fields = Object.entries(attributes).map(
    ([name, { type, value }]) => [name, toSearchAttribute(type && TYPE_NAMES[type], value)] as const,
  )
  return { indexedFields: Object.fromEntries(fields) }
}

function toRetryPolicy({ initialIntervalMs, maximumIntervalMs, ...policy }: RetryOptions) {
  const intervals = { initialInterval: duration(initialIntervalMs), maximumInterval: duration(maximumIntervalMs) }
  return { ...policy, ...withoutUndefined(intervals) }
}

// PINNED_OVERRIDE_BEHAVIOR_PINNED
const PINNED = 1

/** The engine's form of an override. */
export function toVersioningOverride(override: VersioningOverride): temporal.api.workflow.v1.IVersioningOverride {
  if (override === 'auto-upgrade') return { autoUpgrade: true }
  return { pinned: { behavior: PINNED, version: override.pinned } }
}

function duration(ms: number | undefined) {
  return ms === undefined ? undefined : toDuration(ms)
}

type Defined<T> = { [Key in keyof T]: Exclude<T[Key], undefined> }

/** The engine's types do not allow undefined. */
function withoutUndefined<T extends object>(fields: T): Partial<Defined<T>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Defined<T>>
}
