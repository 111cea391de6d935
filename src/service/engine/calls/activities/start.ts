/** Starts a standalone activity at most once. */
import { creationTimeOf } from '../../../../shared/lib/new-id.ts'
import { toPayload } from '../../../../shared/temporal/payload.ts'
import { toDuration } from '../../../../shared/temporal/time.ts'
import { atMost, type Call } from '../../../model/call.ts'
import { TIMEOUT_MS } from '../../../model/deadlines.ts'
import type { EngineActivity, StartedActivity } from '../../../model/standalone-activity.ts'
import { type EngineContext, identityOf, requestHeaders, toPayloads } from '../../context.ts'
import { type LostResponseAction, withEngineWatchdog } from '../../rpc.ts'
import type { RpcError } from '../../transport/transport.ts'
import { toLookupError } from '../at-most-once/find-run.ts'
import { isOlder, unknownOutcomeError } from '../at-most-once/lost-response.ts'
import { rejectedOption } from '../rejected-option.ts'
import { encodedValues, toStartOptions } from '../start.ts'
import { findActivity, KEY_HEADER, toActivityError } from './read.ts'

type Method = 'startActivityExecution'

export async function startActivity(
  context: EngineContext,
  activity: EngineActivity,
  call: Call,
): Promise<StartedActivity> {
  const { rpc, clock } = context
  const { activityId, options } = activity
  const request = await toRequest(context, activity, call)
  const sentAt = Date.now()

  /** As for the start of a workflow: another client may have used the id since. */
  async function onLostResponse(error: RpcError, call: Call): Promise<LostResponseAction<Method, StartedActivity>> {
    const latest = await findActivity(context, { activityId }, atMost(call, TIMEOUT_MS.describe)).catch((failure) => {
      throw toLookupError(failure, { activityId })
    })
    if (latest === null) return { retryRequest: request }
    if (latest.requestId === request.requestId) return { result: { activityId, runId: latest.runId } }
    const startedAt = latest.startedAt?.getTime() ?? null
    if (isOlder({ startedAt }, clock.earliest(sentAt))) return { retryRequest: request }
    throw unknownOutcomeError({ activityId }, error)
  }

  try {
    const response = await withEngineWatchdog(rpc, call, (watched) =>
      rpc('startActivityExecution', request, watched, { onLostResponse: (error) => onLostResponse(error, watched) }),
    )
    const runId = response.runId ?? ''
    clock.observe(creationTimeOf(runId), { isNew: 'started' in response && response.started === true })
    if ('activityId' in response) return response
    const isExisting = !response.started && options?.workflowIdConflictPolicy === 'use-existing'
    return { activityId, runId, ...(isExisting && { isExisting }) }
  } catch (error) {
    throw (
      rejectedOption(error, { activityId, options: options ?? {} }) ?? toActivityError(error, { activityId }, 'write')
    )
  }
}

async function toRequest({ namespace, payloads }: EngineContext, activity: EngineActivity, call: Call) {
  const { activityId, activityName, catalog, args, limits, options = {}, startKey } = activity
  const { requestId = crypto.randomUUID() } = activity
  // The engine does not return the request id, which tells whose run it is after a lost response.
  const key = toPayload({ ...startKey, requestId })
  const { header, payloads: headerPayloads } = requestHeaders(call, options.headers)
  const [input = [], ...encoded] = await payloads.encodeLists(
    [args, ...encodedValues(options)],
    [...headerPayloads, key],
  )
  const { workflowStartDelay, workflowIdConflictPolicy, workflowIdReusePolicy, ...others } = toStartOptions(
    options,
    encoded,
  )
  const { retryPolicy, searchAttributes, priority, userMetadata } = others
  return {
    ...(retryPolicy && { retryPolicy }),
    ...(searchAttributes && { searchAttributes }),
    ...(priority && { priority }),
    ...(userMetadata && { userMetadata }),
    ...(workflowStartDelay && { startDelay: workflowStartDelay }),
    // The numbers are the same.
    ...(workflowIdConflictPolicy && { idConflictPolicy: workflowIdConflictPolicy as number }),
    ...(workflowIdReusePolicy && { idReusePolicy: workflowIdReusePolicy as number }),
    ...toTimeouts(limits),
    namespace,
    activityId,
    activityType: { name: activityName },
    taskQueue: { name: catalog },
    input: toPayloads(input),
    identity: identityOf(call),
    requestId,
    header: { fields: { ...header?.fields, [KEY_HEADER]: key } },
  }
}

/** `startToCloseTimeoutMs` becomes `startToCloseTimeout`. */
function toTimeouts(limits: EngineActivity['limits']) {
  const given = Object.entries(limits).map(([name, ms]) => [name.slice(0, -'Ms'.length), toDuration(ms)])
  return Object.fromEntries(given)
}
