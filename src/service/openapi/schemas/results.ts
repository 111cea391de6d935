/** What starts, results and messages return. */

import type { ErrorCause, ErrorDetails } from '../../../shared/wire/execution.ts'
import { STATUSES } from '../../../shared/wire/execution.ts'
import type { RunRef } from '../../../shared/wire/run-ref.ts'
import type { TraceMeta } from '../../../shared/wire/trace/trace-meta.ts'
import { COMMENTS, type LinkState } from '../../fronts/links/link-state.ts'
import {
  any,
  array,
  boolean,
  described,
  enumOf,
  integer,
  number,
  object,
  orNull,
  ref,
  string,
  time,
} from '../../http/openapi/schema.ts'
import type { ActivityOptions, ActivityRef } from '../../model/activity.ts'
import type { BulkAnswer, BulkEnd, Paused, ResetRun, Stopped } from '../../model/commands.ts'
import type { AcceptedUpdate } from '../../model/engine.ts'
import type { UsedLink } from '../../model/link.ts'
import type { Problem } from '../../model/problem.ts'
import type { Answered } from '../../model/question.ts'
import type { RunOptions } from '../../model/workflow-options.ts'
import { runIds, workflowResult } from './workflow-result.ts'

const warnings = described(array(string), 'Why the signal may do nothing: its catalog does not list it')

const started = described(boolean, 'Whether this request started the run')

const pendingUpdate = {
  ...runIds,
  updateId: string,
  stage: described(enumOf(['admitted', 'accepted']), '`admitted`: no worker has seen the update yet'),
}

const cause = orNull(ref('ErrorCause'))
const failureValues = {
  details: described(array(any), "Values that the worker's code has added to the failure"),
  lastHeartbeatDetails: described(array(any), 'Of a timeout, if there was a heartbeat: the details of the last one'),
}

const activity = { ...runIds, activityId: string }
const limitMs = described(orNull(integer), 'Milliseconds; null for no limit')
const activityOptions = object<ActivityOptions>({
  taskQueue: string,
  startToCloseTimeoutMs: limitMs,
  scheduleToCloseTimeoutMs: limitMs,
  scheduleToStartTimeoutMs: limitMs,
  heartbeatTimeoutMs: limitMs,
  retry: object<ActivityOptions['retry']>({
    initialIntervalMs: limitMs,
    backoffCoefficient: orNull(number),
    maximumIntervalMs: limitMs,
    maximumAttempts: described(integer, '0 for no limit'),
  }),
})
// Without `enum`, which generators for Java do not compile for booleans.
const isTrue = described(boolean, 'Always true')

export const resultSchemas = {
  Status: enumOf(STATUSES),
  WorkflowResult: workflowResult({ description: 'What the workflow returned; null unless `status` is `completed`' }),
  TraceMeta: object<TraceMeta>({
    destinations: object<TraceMeta['destinations']>(
      { local: string, remote: string },
      { optional: ['local', 'remote'], description: 'Where the trace was written' },
    ),
  }),
  ErrorDetails: object<ErrorDetails>(
    {
      message: string,
      name: string,
      retryable: described(boolean, 'False if the failure is marked as non-retryable'),
      activityId: described(orNull(string), 'Id of the activity that failed; null if none did'),
      ...failureValues,
      cause,
    },
    { optional: ['lastHeartbeatDetails'] },
  ),
  ErrorCause: object<ErrorCause>(
    { name: string, message: string, ...failureValues, cause },
    { optional: ['lastHeartbeatDetails'] },
  ),
  WorkflowTaskProblem: object<Problem>(
    {
      kind: enumOf(['workflow_task_failing']),
      attempt: described(integer, 'The pending attempt, 2 or more'),
      since: orNull(time),
      message: described(string, 'The last failure that a worker reported'),
    },
    { description: 'Why an open run makes no progress: its code fails' },
  ),
  Validation: object<{ valid: true }>({ valid: isTrue }),
  StartedRun: object<RunRef & { status: unknown }>({ ...runIds, status: ref('Status') }),
  AcceptedRun: object<RunRef & { status: unknown; problem?: unknown }>(
    {
      ...runIds,
      status: described(orNull(ref('Status')), 'Null if it could not be read'),
      problem: ref('WorkflowTaskProblem'),
    },
    { optional: ['problem'] },
  ),
  SignaledRun: object<RunRef & { started: boolean; warnings?: unknown }>(
    { ...runIds, started, warnings },
    { optional: ['warnings'] },
  ),
  UpdatedRun: object<RunRef & { started: boolean; result: unknown }>({
    ...runIds,
    started,
    result: described(any, 'What the update handler returned'),
  }),
  BulkAnswer: {
    anyOf: [
      object<BulkAnswer>(
        {
          index: described(integer, 'Of the line, from 0'),
          status: described(integer, 'Of the single request'),
          replayed: described(boolean, '`Idempotency-Replayed` of the single request'),
          started: described(boolean, '`Portico-Started` of the single request'),
          body: described(any, 'Of the single request'),
        },
        { optional: ['replayed', 'started'] },
      ),
      object<BulkEnd>({
        done: described({ const: true }, 'The last line: the answer is complete'),
        items: integer,
        succeeded: integer,
        failed: described(integer, 'Those with a status of 400 or more'),
      }),
    ],
  },
  AcceptedSignal: object<RunRef & { signal: string; accepted: true; warnings?: unknown }>(
    {
      workflowId: runIds.workflowId,
      runId: described(orNull(string), 'The run that received the signal'),
      signal: string,
      accepted: isTrue,
      warnings,
    },
    { optional: ['warnings'] },
  ),
  PendingUpdate: object<RunRef & { updateId: string; stage: string }>(pendingUpdate),
  PendingUpdateWithStart: object<AcceptedUpdate & { stage: string }>({ ...pendingUpdate, started }),
  CreatedLink: object<RunRef & { url: string; linkId: string; expiresAt: string; warnings?: unknown }>(
    {
      ...runIds,
      url: described({ type: 'string', format: 'uri' }, 'Whoever has it can use the link'),
      linkId: described(string, 'The id of the message is `link-` and this id'),
      expiresAt: time,
      warnings,
    },
    { optional: ['warnings'] },
  ),
  LinkState: object<LinkState>({
    title: string,
    workflowName: string,
    details: array(object<LinkState['details'][number]>({ label: string, value: string })),
    choices: array(
      object<LinkState['choices'][number]>(
        { label: string, comment: enumOf(COMMENTS), style: enumOf(['danger']) },
        { optional: ['style'] },
      ),
    ),
    state: enumOf(['open', 'answered']),
    answer: orNull(
      object<NonNullable<LinkState['answer']>>(
        { label: string, at: orNull(time) },
        { description: 'What was recorded' },
      ),
    ),
    expiresAt: time,
  }),
  UsedLink: object<UsedLink>(
    {
      recorded: described(string, 'The label of the choice'),
      at: described(orNull(time), 'When it was recorded, by this request or an earlier one'),
      result: described(any, 'What the update handler returned; absent for a signal'),
    },
    { optional: ['result'] },
  ),
  Answered: object<Answered & { answered: true }>({
    ...runIds,
    key: string,
    answered: isTrue,
    at: described(orNull(time), 'When it was recorded, by this request or an earlier one'),
  }),
  StoppedRun: object<Stopped>({
    ...runIds,
    cancelRequested: described(boolean, 'False if the run was already closed'),
    status: described(ref('Status'), 'The status before the request'),
  }),
  TerminatedRun: object<RunRef & { terminated: true }>({ ...runIds, terminated: isTrue }),
  PausedRun: object<Paused>({ ...runIds, paused: boolean }),
  CompletedActivity: object<ActivityRef & { completed: true }>({ ...activity, completed: isTrue }),
  FailedActivity: object<ActivityRef & { failed: true }>({ ...activity, failed: isTrue }),
  CanceledActivity: object<ActivityRef & { canceled: true }>({ ...activity, canceled: isTrue }),
  ActivityHeartbeat: object<ActivityRef & { cancelRequested: boolean }>({
    ...activity,
    cancelRequested: described(boolean, 'Whether the activity should end, because it or its run is being canceled'),
  }),
  RetriedActivity: object<ActivityRef & { retried: true }>({ ...activity, retried: isTrue }),
  PausedActivity: object<ActivityRef & { paused: boolean }>({ ...activity, paused: boolean }),
  ChangedActivity: object<ActivityRef & { options: ActivityOptions }>({ ...activity, options: activityOptions }),
  ChangedRun: object<RunRef & RunOptions>({
    ...runIds,
    versioningOverride: described(any, 'As in the request, or an object with `oneTime`; null without an override'),
    priority: described(orNull(ref('Priority')), 'Null if it is not set'),
  }),
  ResetRun: object<ResetRun>({
    workflowId: runIds.workflowId,
    runId: described(string, 'Id of the new run'),
    runsAgain: described(array(string), 'The steps that the new run may execute again'),
  }),
}
