/** Standalone activities: starts, reads, ends and lists them, and receives reports about them. */
import type { Context } from 'hono'
import * as z from 'zod/mini'
import { checkedString } from '../../../shared/wire/checked-string.ts'
import { catalogIssue, filterValueIssue, workflowNameIssue } from '../../../shared/wire/names.ts'
import type { ActivityStart, StartActivityCommand } from '../../model/activity-commands.ts'
import { hasErrorName } from '../../model/errors.ts'
import { ACTIVITY_STATUSES } from '../../model/standalone-activity.ts'
import { type Env, jsonResponse, setHeader } from '../context.ts'
import { endpoint, endpointOf } from '../endpoint.ts'
import { ref as schemaOf } from '../openapi/schema.ts'
import { activityResultPath, standaloneInPath } from '../path.ts'
import { reportReplayed } from '../pipeline/request-checks.ts'
import { asyncPreference, bodyParameter, OUTPUT_ALONE, preferenceApplied, resultResponder } from '../prefer.ts'
import { completeRequest, failRequest, heartbeatRequest } from './activities.ts'
import { controlRequest } from './control.ts'
import { BODY_ERRORS, EFFECT_ERRORS, ENGINE_ERRORS, RESULT_ERRORS } from './errors.ts'
import { activityCommand, activityRequest } from './fields/activity-fields.ts'
import { jsonForms, optional } from './fields/json-forms.ts'
import { CATALOG_FILTER_FORM, FILTER_FORM, WORKFLOW_FILTER_FORM } from './fields/names.ts'
import { DEFAULT_PAGE_SIZE, pageParameters, queryDuration } from './fields/query-values.ts'

const START_ERRORS = [
  ...ENGINE_ERRORS,
  ...BODY_ERRORS,
  'ActivityAlreadyStartedError',
  'IdempotencyKeyReusedError',
  'UnsupportedActivityError',
  'PayloadCodecError',
  'CatalogNotAvailableError',
] as const
const RUN_ERRORS = [...ENGINE_ERRORS, 'ActivityNotFoundError', 'PayloadCodecError'] as const
const REPORT_ERRORS = [...RUN_ERRORS, ...BODY_ERRORS] as const
const RESULT_HEADERS = ['Portico-Activity-Id', 'Portico-Run-Id', 'Portico-Output-Warning'] as const
const START_HEADERS = ['Idempotency-Replayed', 'Portico-Started', 'Location'] as const
const DEFAULT_TIMEOUT_MS = 30_000

const run = endpoint({
  verb: 'runActivity',
  method: 'post',
  path: '/activity/run',
  id: 'runActivity',
  tag: 'Activities',
  summary: 'Start an activity and wait for its result',
  docs: 'api/activities-alone.md#run',
  description: OUTPUT_ALONE,
  query: z.strictObject(bodyParameter),
  headers: ['Idempotency-Key', 'traceparent', 'tracestate', 'Prefer'],
  body: activityRequest,
  responses: {
    200: {
      description: 'The activity has ended. A failed activity is a result, not an error of the request',
      schema: schemaOf('ActivityResult'),
      headers: [...START_HEADERS, ...RESULT_HEADERS],
    },
    202: {
      description: 'With `Prefer: respond-async`: the activity has started and is still running',
      schema: schemaOf('AcceptedActivity'),
      headers: [...START_HEADERS, 'Preference-Applied', 'Retry-After'],
    },
  },
  errors: [
    ...START_ERRORS,
    ...RESULT_ERRORS,
    'ActivityNotFoundError',
    'ActivityExecutionTimedOutError',
    'ActivityFailedError',
  ],
  takes: 'wait',
  key: 'taken',
  async handle(c, { body, query, call, workflows, defaultCatalog, maxTimeoutMs }) {
    const given = await body(c)
    // Without `body`, unknown parameters are ignored.
    const respond = resultResponder(c, c.req.query('body') === undefined ? {} : query(c))
    const command = activityCommand(c, given, defaultCatalog)
    const preference = asyncPreference(c)
    const limitMs = given.timeout ?? (preference ? maxTimeoutMs : Math.min(DEFAULT_TIMEOUT_MS, maxTimeoutMs))
    const timeoutMs = Math.min(preference?.waitMs ?? limitMs, limitMs)
    const onStarted = (run: ActivityStart) => reportStart(c, command, run)
    try {
      return respond(await workflows.runActivity({ ...command, timeoutMs, onStarted }, call(c)))
    } catch (error) {
      if (preference === null || !hasErrorName(error, 'ActivityExecutionTimedOutError')) throw error
      const { activityId = '', runId, activityStatus: status = null } = error.details
      preferenceApplied(c, { waitMs: timeoutMs })
      setHeader(c, 'Location', activityResultPath(c, activityId))
      setHeader(c, 'Retry-After', '1')
      return jsonResponse(c, { activityId, runId, status }, 202)
    }
  },
})

const start = endpoint({
  verb: 'startActivity',
  method: 'post',
  path: '/activity/start',
  id: 'startActivity',
  tag: 'Activities',
  summary: 'Start an activity and return its ids',
  docs: 'api/activities-alone.md#start',
  headers: ['Idempotency-Key', 'traceparent', 'tracestate'],
  body: activityRequest,
  responses: {
    200: {
      description: 'The engine has accepted the activity',
      schema: schemaOf('StartedActivity'),
      headers: START_HEADERS,
    },
  },
  errors: [...START_ERRORS, ...EFFECT_ERRORS],
  takes: 'work',
  key: 'taken',
  async handle(c, { body, call, workflows, defaultCatalog }) {
    const command = activityCommand(c, await body(c), defaultCatalog)
    const run = await workflows.startActivity(command, call(c))
    const { activityId, runId, status } = run
    reportStart(c, command, run)
    setHeader(c, 'Location', activityResultPath(c, activityId))
    return jsonResponse(c, { activityId, runId, status })
  },
})

function reportStart(c: Context<Env>, { options }: StartActivityCommand, { isExisting, isRepeated }: ActivityStart) {
  if (options?.workflowIdConflictPolicy === 'use-existing')
    setHeader(c, 'Portico-Started', String(isExisting === undefined))
  if (isRepeated) reportReplayed(c)
}

const status = endpointOf('activityStatus', {
  method: 'get',
  path: '/activity/:activityId/status',
  id: 'getActivityStatus',
  tag: 'Activities',
  summary: 'Get the state of an activity',
  docs: 'api/activities-alone.md#status',
  responses: { 200: { description: 'The state', schema: schemaOf('ActivityState') } },
  errors: RUN_ERRORS,
  takes: 'work',
  key: 'ignored',
  input: ({ c }) => ({ ref: standaloneInPath(c) }),
})

const result = endpoint({
  verb: 'activityResult',
  method: 'get',
  path: '/activity/:activityId/result',
  id: 'getActivityResult',
  tag: 'Activities',
  summary: 'Get the result of an activity, or wait for it',
  docs: 'api/activities-alone.md#result',
  description: OUTPUT_ALONE,
  query: (maxTimeoutMs) =>
    z.strictObject({
      wait: optional(
        queryDuration(maxTimeoutMs),
        'How long to wait for the end: milliseconds, or a duration such as `30s`. Default: do not wait',
      ),
      ...bodyParameter,
    }),
  responses: {
    200: {
      description: 'The result of the closed run',
      schema: schemaOf('ActivityResult'),
      headers: RESULT_HEADERS,
    },
  },
  errors: [...RUN_ERRORS, 'ActivityExecutionTimedOutError', 'ActivityNotCompletedError', 'ActivityFailedError'],
  takes: 'wait',
  key: 'ignored',
  async handle(c, { query, call, workflows }) {
    const { wait: waitMs = null, ...given } = query(c)
    const respond = resultResponder(c, given)
    const command = { ref: standaloneInPath(c), waitMs }
    return respond(await workflows.activityResult(command, call(c)))
  },
})

const stop = endpointOf('stopActivity', {
  method: 'patch',
  path: '/activity/:activityId/stop',
  id: 'stopActivity',
  tag: 'Activities',
  summary: 'Request the cancellation of an activity',
  docs: 'api/activities-alone.md#stop',
  body: controlRequest,
  responses: {
    200: { description: 'Cancellation was requested, or the run was closed', schema: schemaOf('StoppedActivity') },
  },
  errors: REPORT_ERRORS,
  takes: 'work',
  key: 'rejected',
  input: ({ c, body: { reason = null } }) => ({ ref: standaloneInPath(c), reason }),
})

const terminate = endpointOf('terminateActivity', {
  method: 'post',
  path: '/activity/:activityId/terminate',
  id: 'terminateActivity',
  tag: 'Activities',
  summary: 'Terminate an activity; its worker learns of it with a heartbeat',
  docs: 'api/activities-alone.md#stop',
  body: controlRequest,
  responses: { 200: { description: 'The run has ended', schema: schemaOf('TerminatedActivity') } },
  errors: [...REPORT_ERRORS, 'ActivityNotRunningError'],
  takes: 'work',
  key: 'rejected',
  input: ({ c, body: { reason = null } }) => ({ ref: standaloneInPath(c), reason }),
  output: (run) => ({ ...run, terminated: true }),
})

const complete = endpointOf('completeStandalone', {
  method: 'post',
  path: '/activity/:activityId/complete',
  id: 'completeActivity',
  tag: 'Activities',
  summary: 'Complete an activity that completes outside its worker',
  docs: 'api/activities-alone.md#reports',
  headers: ['Idempotency-Key'],
  body: completeRequest,
  responses: { 200: { description: 'The activity has completed', schema: schemaOf('CompletedStandalone') } },
  errors: [...REPORT_ERRORS, ...EFFECT_ERRORS],
  takes: 'work',
  key: 'taken',
  input: ({ c, body, key }) => ({ ref: standaloneInPath(c), ...body, ...key }),
  output: ({ isRepeated: _, ...completed }) => ({ ...completed, completed: true }),
})

const fail = endpointOf('failStandalone', {
  method: 'post',
  path: '/activity/:activityId/fail',
  id: 'failActivity',
  tag: 'Activities',
  summary: 'Fail an activity that completes outside its worker',
  docs: 'api/activities-alone.md#reports',
  headers: ['Idempotency-Key'],
  body: failRequest,
  responses: {
    200: {
      description: 'The attempt has failed; the activity may be retried',
      schema: schemaOf('FailedStandalone'),
    },
  },
  errors: [...REPORT_ERRORS, ...EFFECT_ERRORS, 'WorkflowNotReadyError'],
  takes: 'work',
  key: 'taken',
  input: ({ c, body: failure, key }) => ({ ref: standaloneInPath(c), failure, ...key }),
  output: (run) => ({ ...run, failed: true }),
})

const heartbeat = endpointOf('heartbeatStandalone', {
  method: 'post',
  path: '/activity/:activityId/heartbeat',
  id: 'heartbeatActivity',
  tag: 'Activities',
  summary: 'Report the progress of an activity that completes outside its worker',
  docs: 'api/activities-alone.md#reports',
  body: heartbeatRequest,
  responses: { 200: { description: 'The activity is open', schema: schemaOf('StandaloneHeartbeat') } },
  errors: [...REPORT_ERRORS, 'WorkflowNotReadyError'],
  takes: 'work',
  key: 'rejected',
  input: ({ c, body }) => ({ ref: standaloneInPath(c), ...body }),
})

const filterValue = (check: (value: string) => string | null, form: object) =>
  checkedString((value) => filterValueIssue(value) ?? check(value)).register(jsonForms, { ...form })

const list = endpointOf('activities', {
  method: 'get',
  path: '/activity/runs',
  id: 'listActivities',
  tag: 'Activities',
  summary: 'List activities',
  docs: 'api/activities-alone.md#list',
  query: z.strictObject({
    activityName: optional(filterValue(workflowNameIssue, WORKFLOW_FILTER_FORM), 'Exact name of the activity'),
    catalog: optional(filterValue(catalogIssue, CATALOG_FILTER_FORM), 'Exact name of the task queue'),
    status: optional(
      z.enum(ACTIVITY_STATUSES, { error: `must be one of ${ACTIVITY_STATUSES.join(', ')}` }),
      'Status of the run',
    ),
    query: optional(
      filterValue(() => null, FILTER_FORM),
      "A condition in Temporal's list filter language",
    ),
    ...pageParameters,
  }),
  responses: {
    200: {
      description: 'A page of activities: open ones first, then the one that closed last',
      schema: schemaOf('ActivityPage'),
    },
  },
  errors: [...ENGINE_ERRORS, 'InvalidPageTokenError'],
  takes: 'work',
  key: 'ignored',
  input: ({ query: { pageSize = DEFAULT_PAGE_SIZE, pageToken = null, ...filter } }) => ({
    filter,
    pageSize,
    pageToken,
  }),
})

export const standaloneEndpoints = [run, start, list, status, result, stop, terminate, complete, fail, heartbeat]
