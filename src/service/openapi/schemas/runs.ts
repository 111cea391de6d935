/** What lists of runs and single runs look like. */

import type { TraceEntry, TraceError } from '../../../shared/wire/trace/entry.ts'
import type { TraceNode } from '../../../shared/wire/trace/tree.ts'
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
import type { RunInput, RunPage } from '../../model/commands.ts'
import type { ActivityProgress, RunVersion } from '../../model/execution.ts'
import type { Action, Explanation } from '../../model/explanation.ts'
import type { HistoryRun, RunHistory } from '../../model/history-page.ts'
import type { Question, QuestionPage, RunQuestions } from '../../model/question.ts'
import type { ListedRun, RunCount } from '../../model/run-filter.ts'
import type { Trace } from '../../model/trace-source.ts'
import type { WorkflowStatus } from '../../model/workflow-status.ts'
import { runIds } from './workflow-result.ts'

const nextPageToken = described(orNull(string), '`pageToken` of the next page; null after the last one')
const times = { startedAt: orNull(time), completedAt: described(orNull(time), 'Null while the run is open') }
const kind = described(
  string,
  '`workflow`, `step`, `timer`, `signal`, `update`, `child_workflow`, `nexus_operation`, `workflow_task`, or a kind that a worker records',
)
const anyByName = { type: 'object', additionalProperties: {} }
const error = orNull(ref('TraceError'))

const VERDICTS: readonly Explanation['verdict'][] = [
  'closed',
  'paused',
  'workflow_task_failing',
  'no_workers',
  'waiting_worker',
  'canceling',
  'activity_retrying',
  'waiting_answer',
  'activity_running',
  'waiting_child',
  'waiting_handler',
  'waiting_timer',
  'healthy',
]

/** All facts that a reason can have besides those that every reason has. */
const FACTS: Record<string, Schema> = {
  status: ref('Status'),
  attempt: integer,
  message: string,
  taskQueue: string,
  tasks: enumOf(['workflow', 'activity']),
  lastPolledAt: orNull(time),
  messages: described(array(string), 'What waits for the worker'),
  key: described(string, 'Of a question'),
  schema: described(anyByName, 'JSON Schema of the answer'),
  signal: described(string, 'The signal that takes the answer'),
  to: described(orNull(array(string)), 'Whom the question is for'),
  due: described(orNull(time), 'Until when the workflow needs the answer'),
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
    summary: described(orNull(string), 'As the start said'),
    details: described(orNull(string), 'As the start said'),
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
    run: ref('WorkflowStatus'),
  }),
  Reason: object<Record<string, unknown>>(
    {
      kind: enumOf(VERDICTS),
      since: described(orNull(time), 'Null if it is not known'),
      advice: described(string, 'What a person can do; the wording may change'),
      action: described(
        orNull(ref('Action')),
        'A request that does it; null if there is none, or if the caller may not',
      ),
      ...FACTS,
    },
    { optional: Object.keys(FACTS), description: 'Which facts a reason has depends on its `kind`' },
  ),
  Action: object<Action>({
    method: enumOf(['GET', 'POST']),
    path: string,
    body: described({ type: 'null' }, 'Null: the request needs no body, or for a question one with the answer'),
  }),
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
    problem: described(boolean, 'The run is open and its workflow task fails again and again'),
  }),
  QuestionPage: object<QuestionPage>({ questions: array(ref('Question')), nextPageToken }),
  RunQuestions: object<RunQuestions>({ ...runIds, questions: array(ref('Question')) }),
  Question: object<Question>({
    ...runIds,
    workflowName: string,
    catalog: string,
    key: described(string, 'Names the question in the path of its answer'),
    message: string,
    schema: described(anyByName, 'JSON Schema of the `content` of the answer'),
    signal: described(string, 'The signal that takes the answer'),
    to: described(orNull(array(string)), 'Whom the question is for; null if it does not say'),
    askedAt: orNull(time),
    due: described(orNull(time), 'Until when the workflow needs the answer'),
    mayAnswer: described(boolean, 'Whether the caller may answer'),
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
    kind,
    name: string,
    startedAt: described({ type: 'number' }, 'Milliseconds since 1970'),
    endedAt: described(orNull({ type: 'number' }), 'Null while it is open'),
    input: any,
    output: any,
    error,
    attributes: { type: 'object', additionalProperties: true },
    children: array(ref('TraceNode')),
  }),
  TraceEntry: object<Omit<TraceEntry, 'encoded' | 'redacted'>>(
    {
      id: described(string, 'That of the node. Each node has an entry for its beginning, and one for its end'),
      parentId: described(orNull(string), 'The node around it; null for the workflow itself'),
      kind,
      name: string,
      at: described({ type: 'number' }, 'Milliseconds since 1970'),
      phase: enumOf(['began', 'ended']),
      input: any,
      output: any,
      error: ref('TraceError'),
      attributes: { type: 'object', additionalProperties: true },
    },
    { optional: ['input', 'output', 'error', 'attributes'] },
  ),
  TraceError: object<TraceError>(
    {
      name: string,
      message: string,
      details: described(array(any), 'Values of the failure'),
      lastHeartbeatDetails: described(array(any), 'Of a timeout: the details of the last heartbeat'),
      cause: error,
    },
    { optional: ['details', 'lastHeartbeatDetails'] },
  ),
}
