import type { temporal } from '@temporalio/proto'
import { closeStatus, type TemporalEvent } from '../../../shared/temporal/outcome.ts'
import { fromPayload } from '../../../shared/temporal/payload.ts'
import { toDate } from '../../../shared/temporal/time.ts'
import type { RunRef } from '../../../shared/wire/run-ref.ts'
import type { Call } from '../../model/call.ts'
import { type FoundMessage, type MessageSearch, parseLinkMark } from '../../model/link.ts'
import { type EngineContext, executionIds } from '../context.ts'
import { toServiceError } from '../errors.ts'
import { readLast, type TemporalEventPage } from './history-pages.ts'

const PAGE_SIZE = 100
// For all pages after the first one: a run with so many events does more than wait for the message.
const LATER_PAGE_SIZE = 1000

/** Reads the history backwards, so that the message of a run that waits for it is on the first page. */
export async function findMessage(
  context: EngineContext,
  run: RunRef,
  { id, header, afterEventId }: MessageSearch,
  call: Call,
): Promise<FoundMessage> {
  let [nextPageToken, isOpen]: [Uint8Array | null, boolean | null] = [null, null]
  try {
    do {
      const maximumPageSize = nextPageToken === null ? PAGE_SIZE : LATER_PAGE_SIZE
      const page: TemporalEventPage = await readLast(context, run, call, { maximumPageSize, nextPageToken })
      const [last] = page.events
      isOpen ??= last === undefined || closeStatus(last) === null
      const event = page.events.find((one) => messageOf(one)?.id === id)
      if (event !== undefined) {
        const { name, header: fields, choice } = messageOf(event) ?? {}
        const field = fields?.fields?.[header]
        const found = { header: choice ?? (field && fromPayload(field)), at: toDate(event.eventTime) }
        return { message: { ...found, ...(name && { name }) }, isOpen }
      }
      nextPageToken = Number(page.events.at(-1)?.eventId ?? 0) > afterEventId ? page.nextPageToken : null
    } while (nextPageToken !== null)
    return { message: null, isOpen }
  } catch (error) {
    throw toServiceError(error, { kind: 'read', details: executionIds(run) })
  }
}

interface Recorded {
  id: string | null | undefined
  name?: string | null | undefined
  header?: temporal.api.common.v1.IHeader | null | undefined
  choice?: string
}

/** The signal, the update that the workflow has accepted, or the activity that a link has completed. */
function messageOf(event: TemporalEvent): Recorded | null {
  const signal = event.workflowExecutionSignaledEventAttributes
  if (signal) return { id: signal.requestId, name: signal.signalName, header: signal.header }
  const update = event.workflowExecutionUpdateAcceptedEventAttributes
  if (update) return { id: update.protocolInstanceId, header: update.acceptedRequest?.input?.header }
  // The mark of a link is the last word of the identity.
  const identity = event.activityTaskCompletedEventAttributes?.identity ?? ''
  return parseLinkMark(identity.slice(identity.lastIndexOf(' ') + 1))
}
