/** What standalone activities look like. */
import {
  any,
  array,
  boolean,
  described,
  enumOf,
  integer,
  object,
  orNull,
  ref,
  type Schema,
  string,
  time,
} from '../../http/openapi/schema.ts'
import type { StoppedActivity } from '../../model/activity-commands.ts'
import {
  ACTIVITY_STATUSES,
  type ActivityPage,
  type ActivityResult,
  type ActivityState,
  type ListedActivity,
  type StandaloneRun,
} from '../../model/standalone-activity.ts'

const ids = { activityId: string, runId: string }
const isTrue = described(boolean, 'Always true')
const status = ref('ActivityStatus')
const about = {
  activityName: string,
  catalog: string,
  status,
  startedAt: orNull(time),
  completedAt: described(orNull(time), 'Null while the run is open'),
}

/** The result of an activity, whose `output` has this schema. */
export function activityResult(output: Schema) {
  return object<ActivityResult>({
    ...ids,
    status,
    input: described(any, 'The only argument; null without arguments, an array of several'),
    output: { ...output },
    error: described(orNull(string), 'Why the activity did not complete'),
    errorDetails: orNull(ref('ErrorDetails')),
  })
}

export const activitySchemas = {
  ActivityStatus: enumOf(ACTIVITY_STATUSES),
  StartedActivity: object<StandaloneRun & { status: unknown }>({ ...ids, status }),
  AcceptedActivity: object<StandaloneRun & { status: unknown }>({
    ...ids,
    status: described(orNull(status), 'Null if it could not be read'),
  }),
  ActivityResult: activityResult(described(any, 'What the activity returned; null unless `status` is `completed`')),
  ActivityState: object<ActivityState>({
    ...ids,
    ...about,
    attempt: described(integer, 'The current attempt, or the last one'),
    nextAttemptAt: described(orNull(time), 'Null unless the activity waits for its next attempt'),
    cancelRequested: boolean,
    lastFailure: orNull(object<{ name: string; message: string }>({ name: string, message: string })),
    progress: described(
      orNull(object<{ details: unknown; heartbeatAt: unknown }>({ details: any, heartbeatAt: orNull(time) })),
      'What the last heartbeat has reported',
    ),
    searchAttributes: described({ type: 'object', additionalProperties: {} }, 'Values by name'),
  }),
  StoppedActivity: object<StoppedActivity>({
    ...ids,
    cancelRequested: described(boolean, 'False if the run was already closed'),
    status: described(status, 'The status before the request'),
  }),
  TerminatedActivity: object<StandaloneRun & { terminated: true }>({ ...ids, terminated: isTrue }),
  CompletedStandalone: object<StandaloneRun & { completed: true }>({ ...ids, completed: isTrue }),
  FailedStandalone: object<StandaloneRun & { failed: true }>({ ...ids, failed: isTrue }),
  StandaloneHeartbeat: object<StandaloneRun & { cancelRequested: boolean }>({
    ...ids,
    cancelRequested: described(boolean, 'Whether the activity should end'),
  }),
  ActivityPage: object<ActivityPage>({
    activities: array(object<ListedActivity>({ ...ids, ...about })),
    nextPageToken: described(orNull(string), '`pageToken` of the next page; null after the last one'),
  }),
} satisfies Record<string, Schema>
