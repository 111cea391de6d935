import type { temporal } from '@temporalio/proto'
import { type Payload, storedElsewhere } from '../../../shared/temporal/payload.ts'
import { toDate } from '../../../shared/temporal/time.ts'
import { toSingleValue } from '../../../shared/wire/execution.ts'
import type { Heartbeats } from '../../model/execution.ts'
import { type Payloads, sizeOf } from '../context.ts'

type Activity = temporal.api.workflow.v1.IPendingActivityInfo

// A run may have thousands of pending activities, each with details of up to 2 MB.
const MAX_LISTED = 50
const MAX_BYTES = 1024 * 1024

/** The latest heartbeats first, because only they are decoded if there are too many. Undefined if none has details. */
export function toHeartbeats(
  activities: readonly Activity[],
  payloads: Pick<Payloads, 'redactable'>,
): Heartbeats | undefined {
  const listed = activities
    .filter(({ heartbeatDetails }) => heartbeatDetails?.payloads?.length)
    .toSorted((one, other) => Number(toDate(other.lastHeartbeatTime)) - Number(toDate(one.lastHeartbeatTime)))
    .slice(0, MAX_LISTED)
  if (listed.length === 0) return undefined
  return {
    activities: listed.map(({ activityId, activityType, attempt, lastHeartbeatTime }) => ({
      activityId: activityId ?? '',
      activityType: activityType?.name ?? '',
      attempt: attempt ?? 1,
      heartbeatAt: toDate(lastHeartbeatTime),
    })),
    async decode() {
      const lists = withinLimit(listed.map(({ heartbeatDetails }) => heartbeatDetails?.payloads ?? []))
      const values = await payloads.redactable.decode(lists.flat())
      return lists.map(({ length }) => toSingleValue(values.splice(0, length)))
    },
  }
}

/** The lists, with an empty one in the place of each that does not fit into the limit any more. */
function withinLimit(lists: readonly Payload[][]): Payload[][] {
  let remaining = MAX_BYTES
  return lists.map((list) => {
    const bytes = list.reduce((sum, each) => sum + sizeOf(each) + (storedElsewhere(each)?.sizeBytes ?? 0), 0)
    if (bytes > remaining) return []
    remaining -= bytes
    return list
  })
}
