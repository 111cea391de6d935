import type { Failure } from '../../../shared/temporal/failure.ts'
import type { TemporalEvent } from '../../../shared/temporal/outcome.ts'
import type { ActivityFailure, ActivityRef, ActivityReport, EndedActivity } from '../../model/activity.ts'
import { atMost, type Call } from '../../model/call.ts'
import { TIMEOUT_MS } from '../../model/deadlines.ts'
import { ServiceError } from '../../model/errors.ts'
import type { StandaloneRun } from '../../model/standalone-activity.ts'
import { type EngineContext, executionIds, identityOf, type Payloads, toExecution, toPayloads } from '../context.ts'
import { isGoneOrClosed, toServiceError } from '../errors.ts'
import { RpcError } from '../transport/transport.ts'
import { findActivity } from './activities/read.ts'
import { toLookupError } from './at-most-once/find-run.ts'
import { unknownOutcomeError } from './at-most-once/lost-response.ts'
import { failureMarkOf, failureSource } from './failure-mark.ts'
import { readLast, type TemporalEventPage } from './history-pages.ts'

export async function reportActivity(
  context: EngineContext,
  activity: ActivityRef | StandaloneRun,
  report: ActivityReport,
  mark: string,
  call: Call,
): Promise<{ cancelRequested: boolean }> {
  const { rpc, namespace, payloads } = context
  const { runId, activityId } = activity
  const details = { ...activity }
  const workflowId = 'workflowId' in activity ? activity.workflowId : ''
  const task = { namespace, workflowId, runId, activityId }
  const identity = identityOf(call)
  const marked = { ...task, identity: `${identity} ${mark}` }

  /**
   * The engine does not recognize a repeated report, which could end another attempt, or a later activity of the same
   * id. So after a lost response the report is looked up, and never sent again.
   */
  async function onLostResponse(error: RpcError): Promise<{ result: null }> {
    if (await isReported(context, activity, mark, call)) return { result: null }
    throw unknownOutcomeError(details, error)
  }

  async function send(): Promise<boolean> {
    if (report.kind === 'heartbeat') {
      const request = { ...task, identity, details: await payloads.encode(report.values) }
      return (await rpc('recordActivityTaskHeartbeatById', request, call)).cancelRequested === true
    }
    if (report.kind === 'fail') {
      const request = { ...marked, failure: await toFailure(report.failure, mark, payloads) }
      await rpc('respondActivityTaskFailedById', request, call, { onLostResponse })
    } else if (report.kind === 'cancel') {
      const request = { ...marked, details: await payloads.encode(report.values) }
      await rpc('respondActivityTaskCanceledById', request, call, { onLostResponse })
    } else {
      const request = { ...marked, result: await payloads.encode(report.values) }
      await rpc('respondActivityTaskCompletedById', request, call, { onLostResponse })
    }
    return false
  }

  try {
    return { cancelRequested: await send() }
  } catch (error) {
    if (!isGoneOrClosed(error) && !isEnded(error)) throw toServiceError(error, { kind: 'write', details })
    const message = `Activity "${activityId}"${workflowId && ` of workflow ${workflowId}`} is not open`
    throw new ServiceError('ActivityNotFoundError', message, { cause: error, details })
  }
}

/** With a codec, the message is in `encodedAttributes`, as in failures of SDKs that encode messages of failures. */
async function toFailure(
  { message, name, details = [], retryable = true }: ActivityFailure,
  mark: string,
  payloads: Payloads,
): Promise<Failure> {
  const attributes = payloads.hasCodec ? [{ message, stack_trace: '' }] : []
  const [encoded = [], values = []] = await payloads.encodeLists([attributes, details])
  const [encodedAttributes] = encoded
  return {
    message: encodedAttributes ? 'Encoded failure' : message,
    ...(encodedAttributes && { encodedAttributes }),
    // The engine keeps the failure of an attempt that it retries, but not the identity of the request.
    source: failureSource(mark),
    applicationFailureInfo: { type: name ?? 'Error', nonRetryable: !retryable, details: toPayloads(values) },
  }
}

/** A standalone activity is found after it has ended. */
function isEnded(error: unknown): boolean {
  return error instanceof RpcError && error.message.startsWith('invalid transition from')
}

async function isReported(
  context: EngineContext,
  activity: ActivityRef | StandaloneRun,
  mark: string,
  call: Call,
): Promise<boolean> {
  const { rpc, namespace } = context
  const bounded = atMost(call, TIMEOUT_MS.describe)
  try {
    if (!('workflowId' in activity)) return (await findActivity(context, activity, bounded))?.isMarked(mark) === true
    if ((await findInHistory(context, activity, mark, bounded))?.isMarked) return true
    const request = { namespace, execution: toExecution(activity) }
    const { pendingActivities } = await rpc('describeWorkflowExecution', request, bounded)
    return (pendingActivities ?? []).some(({ lastFailure }) => failureMarkOf(lastFailure) === mark)
  } catch (error) {
    throw toLookupError(error, { ...activity })
  }
}

export async function endedActivity(
  context: EngineContext,
  activity: ActivityRef,
  mark: string | null,
  call: Call,
): Promise<EndedActivity | null> {
  try {
    return await findInHistory(context, activity, mark, call)
  } catch (error) {
    throw toServiceError(error, { kind: 'read', details: executionIds(activity) })
  }
}

const PAGE_SIZE = 250

// The maximum number of pages. For a mark, pages count only from the one that has the latest activity of the id.
const MAX_PAGES = 5

/** Reads backwards. The events that end an activity do not have its id, but refer to the event that scheduled it. */
async function findInHistory(
  context: EngineContext,
  { activityId, ...run }: ActivityRef,
  mark: string | null,
  call: Call,
): Promise<EndedActivity | null> {
  const search = createSearch(activityId, mark)
  let latest: EndedActivity | null = null
  let nextPageToken: Uint8Array | null = null
  for (let pages = 0; pages < MAX_PAGES; pages += mark === null || latest !== null ? 1 : 0) {
    const page: TemporalEventPage = await readLast(context, run, call, { maximumPageSize: PAGE_SIZE, nextPageToken })
    const found = page.events.flatMap(search)
    const wanted = found.find(({ isMarked }) => mark === null || isMarked)
    if (wanted !== undefined) return wanted
    latest ??= found[0] ?? null
    nextPageToken = page.nextPageToken
    if (nextPageToken === null) break
  }
  return latest
}

type End = Omit<EndedActivity, 'activityType'>

/** Call it with each event, latest first. Returns the activity when its first event is reached. */
function createSearch(activityId: string, mark: string | null): (event: TemporalEvent) => EndedActivity[] {
  const ends = new Map<string, End>()

  function isMarked({ identity, lastFailure }: { identity?: string | null; lastFailure?: Failure | null }): boolean {
    return mark !== null && (identity?.endsWith(` ${mark}`) === true || failureMarkOf(lastFailure) === mark)
  }

  return (event) => {
    const { activityTaskScheduledEventAttributes: scheduled, activityTaskCompletedEventAttributes: completed } = event
    const ended = event.activityTaskFailedEventAttributes ?? event.activityTaskCanceledEventAttributes
    const attributes = completed ?? ended ?? event.activityTaskStartedEventAttributes
    if (attributes) {
      const scheduledBy = String(attributes.scheduledEventId)
      const { completed: before = false, isMarked: was = false } = ends.get(scheduledBy) ?? {}
      ends.set(scheduledBy, { completed: before || Boolean(completed), isMarked: was || isMarked(attributes) })
    }
    if (scheduled?.activityId !== activityId) return []
    const end = ends.get(String(event.eventId)) ?? { completed: false, isMarked: false }
    return [{ activityType: scheduled.activityType?.name ?? '', ...end }]
  }
}
