/** What lists of runs and single runs look like. */

import type { ActivityProgress, RunVersion } from '../../../domain/model/execution.ts'
import type { Explanation } from '../../../domain/model/explanation.ts'
import type { HistoryRun, RunHistory } from '../../../domain/model/history-page.ts'
import type { ListedRun, RunCount } from '../../../domain/model/run-filter.ts'
import type { Trace } from '../../../domain/model/trace-source.ts'
import type { WorkflowStatus } from '../../../domain/model/workflow-status.ts'
import type { RunInput, RunPage } from '../../../domain/model/workflows.ts'
import type { TraceError } from '../../../protocol/trace/entry.ts'
import type { TraceNode } from '../../../protocol/trace/tree.ts'
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
} from './schema.ts'
import { runIds } from './workflow-result.ts'

const nextPageToken = described(orNull(string), '`pageToken` of the next page; null after the last one')
const times = { startedAt: orNull(time), completedAt: described(orNull(time), 'Null while the run is open') }
const anyByName = { type: 'object', additionalProperties: {} }
const error = orNull(ref('TraceError'))

const VERDICTS: readonly Explanation['verdict'][] = [
  'closed',
  'paused',
  'workflow_task_failing',
  'no_workers',
  'canceling',
  'activity_retrying',
  'activity_running',
  'waiting_child',
  'waiting_timer',
  'waiting_handler',
  'healthy',
]

/** All facts that a reason can have besides `kind`, `since` and `advice`. */
const FACTS: Record<string, Schema> = {
  status: ref('Status'),
  attempt: integer,
  message: string,
  taskQueue: string,
  tasks: enumOf(['workflow', 'activity']),
  activityId: string,
  name: string,
  state: enumOf(['scheduled', 'started', 'cancel_requested', 'paused', 'pause_requested']),
  maximumAttempts: described(orNull(integer), 'Null for no limit'),
  nextAttemptAt: orNull(time),
  lastFailure: orNull(object<{ name: string; message: string }>({ name: string, message: string })),
  childWorkflowId: string,
  childRunId: orNull(string),
  childWorkflowName: string,
  timerId: described(orNull(string), 'Null before the run begins'),
  firesAt: orNull(time),
  signals: described(orNull(array(string)), 'Null if the catalog does not say'),
  updates: described(orNull(array(string)), 'Null if the catalog does not say'),
  workflowTask: orNull(
    object<{ scheduledAt: unknown; startedAt: unknown }>({ scheduledAt: orNull(time), startedAt: orNull(time) }),
  ),
}

export const runSchemas = {
  WorkflowStatus: object<WorkflowStatus>({
    ...runIds,
    workflowName: string,
    catalog: string,
    status: ref('Status'),
    ...times,
    historyLength: described(integer, 'Number of events in the history so far'),
    problem: orNull(ref('WorkflowTaskProblem')),
    progress: described(
      orNull(array(ref('ActivityProgress'))),
      'What open activities have reported with their heartbeats, the latest first; null without any',
    ),
    memo: described(orNull(anyByName), 'Values by name; null if they could not be decoded'),
    searchAttributes: described(anyByName, 'Values by name'),
    parent: described(orNull(ref('RunIds')), 'The run that started this one as its child; null for a root'),
    workerVersion: described(
      orNull(
        object<RunVersion>({
          deploymentName: string,
          buildId: string,
          pinned: described(boolean, 'Whether the run stays on it, whatever is deployed later'),
        }),
      ),
      'Null for workers without versions, and before the first workflow task',
    ),
    executionTimeoutMs: described(orNull(integer), 'For the whole chain; null for no limit'),
    runTimeoutMs: described(orNull(integer), 'For this run; null for no limit'),
  }),
  ActivityProgress: object<ActivityProgress>({
    activityId: string,
    activityType: string,
    attempt: described(integer, 'The current attempt, which may be later than that of the heartbeat'),
    details: described(any, 'The details of the last heartbeat, an array of several; null if they cannot be shown'),
    heartbeatAt: orNull(time),
  }),
  Explanation: object<Explanation>({
    ...runIds,
    verdict: described(enumOf(VERDICTS), 'The `kind` of the first reason'),
    since: orNull(time),
    reasons: described(array(ref('Reason')), 'Everything that holds, at least one'),
  }),
  Reason: object<Record<string, unknown>>(
    {
      kind: enumOf(VERDICTS),
      since: described(orNull(time), 'Null if it is not known'),
      advice: described(string, 'What a person can do; the wording may change'),
      ...FACTS,
    },
    { optional: Object.keys(FACTS), description: 'Which facts a reason has depends on its `kind`' },
  ),
  RunInput: object<RunInput>({
    ...runIds,
    input: described(any, 'The only argument; null without arguments, an array of several'),
    args: described(array(any), 'All arguments'),
  }),
  RunPage: object<RunPage>({ runs: array(ref('ListedRun')), nextPageToken }),
  ListedRun: object<ListedRun & { workflowType: string }>({
    ...runIds,
    workflowName: string,
    workflowType: described(string, 'The same as `workflowName`'),
    catalog: string,
    status: ref('Status'),
    ...times,
  }),
  RunCount: object<RunCount>({
    count: integer,
    groups: described(
      array(object<{ status: string; count: number }>({ status: ref('Status'), count: integer })),
      'Empty without `groupBy`',
    ),
  }),
  HistoryPage: object<RunHistory>({
    workflow: ref('HistoryRun'),
    events: array(ref('HistoryEvent')),
    nextPageToken: described(orNull(string), '`pageToken` of the next page; null after the last event of a closed run'),
  }),
  HistoryRun: object<HistoryRun>({
    ...runIds,
    status: ref('Status'),
    ...times,
    historyLength: integer,
    catalog: string,
  }),
  HistoryEvent: {
    ...object<{ eventId: number; eventType: string; eventTime: unknown }>(
      {
        eventId: integer,
        eventType: described(string, 'As `WorkflowExecutionStarted`; `Unknown` for an event of a newer engine'),
        eventTime: orNull(time),
      },
      { description: 'An event, with the attributes that Temporal documents for its type' },
    ),
    additionalProperties: true,
  },
  Trace: object<Trace>(
    {
      source: described(
        string,
        'The first source that contained data for this run: `remote`, `kvstore`, `local` or `history`',
      ),
      localPath: described(
        string,
        'With the source `local`, if the run is archived: absolute path of the file on the host of the service',
      ),
      runId: string,
      complete: described(boolean, 'False while the run is open'),
      warnings: array(string),
      data: ref('TraceNode'),
    },
    { optional: ['localPath'] },
  ),
  TraceNode: object<TraceNode>({
    id: string,
    kind: described(
      string,
      '`workflow`, `step`, `timer`, `signal`, `update`, `child_workflow`, `nexus_operation`, `workflow_task`, or a kind that a worker records',
    ),
    name: string,
    startedAt: described({ type: 'number' }, 'Milliseconds since 1970'),
    endedAt: described(orNull({ type: 'number' }), 'Null while it is open'),
    input: any,
    output: any,
    error,
    attributes: { type: 'object', additionalProperties: true },
    children: array(ref('TraceNode')),
  }),
  TraceError: object<TraceError>(
    { name: string, message: string, details: described(array(any), 'Values of the failure'), cause: error },
    { optional: ['details'] },
  ),
}
