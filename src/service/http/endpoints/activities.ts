/** Ends activities that complete outside their worker, and repairs open ones. */
import * as z from 'zod/mini'
import { checkedString } from '../../../shared/wire/checked-string.ts'
import { characterIssue } from '../../../shared/wire/names.ts'
import { endpointOf, type RequestBody } from '../endpoint.ts'
import { ref as schemaOf } from '../openapi/schema.ts'
import { BODY_ERRORS, EFFECT_ERRORS, RUN_ERRORS } from './errors.ts'
import { type Alternatives, atMostOneOf, pairsOf } from './fields/field-values.ts'
import { jsonForms, optional } from './fields/json-forms.ts'
import { requiredText, text } from './fields/names.ts'
import { rawResult } from './fields/raw-payloads.ts'
import { pauseRequest, retryRequest, setRequest } from './fields/repair-fields.ts'

const ACTIVITY_ERRORS = [...RUN_ERRORS, ...BODY_ERRORS, 'ActivityNotFoundError', 'WorkflowNotRunningError'] as const

const RESULT_KEYS: Alternatives = ['output', 'payloads']

export const completeRequest = {
  name: 'CompleteActivityRequest',
  schema: z.pipe(
    z
      .strictObject({
        output: optional(z.unknown(), 'What the activity returns. Default: nothing'),
        payloads: rawResult,
      })
      .check(atMostOneOf(RESULT_KEYS, 'must not contain both output and payloads'))
      .register(jsonForms, { not: { anyOf: pairsOf(RESULT_KEYS) } }),
    z.transform(({ payloads = [], ...body }) => (payloads.length === 0 ? body : { output: payloads[0] })),
  ),
  isRequired: false,
  adviceFor: () => 'wrap the value: {"output": …}',
} satisfies RequestBody<unknown>

const message = checkedString(characterIssue).register(jsonForms, {
  ...jsonForms.get(text),
  description: 'What has happened',
})

export const failRequest = {
  name: 'FailActivityRequest',
  schema: z.strictObject({
    message,
    name: optional(requiredText, 'Type of the error, which a retry policy can exclude. Default: `Error`'),
    details: optional(z.array(z.unknown()), 'Values for the workflow, as in `errorDetails`'),
    retryable: optional(
      z.boolean(),
      'False: the activity is not executed again. Default: true, the retry policy of the activity decides',
    ),
  }),
  isRequired: true,
} satisfies RequestBody<unknown>

const cancelRequest = {
  name: 'CancelActivityRequest',
  schema: z.strictObject({ details: optional(z.unknown(), 'What the workflow gets with the cancellation') }),
  isRequired: false,
} satisfies RequestBody<unknown>

export const heartbeatRequest = {
  name: 'HeartbeatRequest',
  schema: z.strictObject({ details: optional(z.unknown(), 'The progress, as `status` shows it') }),
  isRequired: false,
} satisfies RequestBody<unknown>

const complete = endpointOf('completeActivity', {
  method: 'post',
  path: '/workflow/:id/activities/:activityId/complete',
  id: 'completeWorkflowActivity',
  tag: 'Messages',
  summary: 'Complete an activity that completes outside its worker',
  docs: 'api/activities.md#activities',
  headers: ['Idempotency-Key'],
  body: completeRequest,
  responses: { 200: { description: 'The activity has completed', schema: schemaOf('CompletedActivity') } },
  errors: [...ACTIVITY_ERRORS, ...EFFECT_ERRORS],
  takes: 'work',
  key: 'taken',
  input: ({ ref, activityId, body, key }) => ({ ref, activityId, ...body, ...key }),
  output: ({ isRepeated: _, ...completed }) => ({ ...completed, completed: true }),
})

const fail = endpointOf('failActivity', {
  method: 'post',
  path: '/workflow/:id/activities/:activityId/fail',
  id: 'failWorkflowActivity',
  tag: 'Messages',
  summary: 'Fail an activity that completes outside its worker',
  docs: 'api/activities.md#activities',
  headers: ['Idempotency-Key'],
  body: failRequest,
  responses: {
    200: { description: 'The attempt has failed; the activity may be retried', schema: schemaOf('FailedActivity') },
  },
  errors: [...ACTIVITY_ERRORS, ...EFFECT_ERRORS, 'WorkflowNotReadyError'],
  takes: 'work',
  key: 'taken',
  input: ({ ref, activityId, body: failure, key }) => ({ ref, activityId, failure, ...key }),
  output: (activity) => ({ ...activity, failed: true }),
})

const cancel = endpointOf('cancelActivity', {
  method: 'post',
  path: '/workflow/:id/activities/:activityId/cancel',
  id: 'cancelWorkflowActivity',
  tag: 'Messages',
  summary: 'Report that an activity has ended because its workflow canceled it',
  docs: 'api/activities.md#activities',
  headers: ['Idempotency-Key'],
  body: cancelRequest,
  responses: { 200: { description: 'The activity is canceled', schema: schemaOf('CanceledActivity') } },
  errors: [...ACTIVITY_ERRORS, ...EFFECT_ERRORS, 'WorkflowNotReadyError'],
  takes: 'work',
  key: 'taken',
  input: ({ ref, activityId, body, key }) => ({ ref, activityId, ...body, ...key }),
  output: (activity) => ({ ...activity, canceled: true }),
})

const heartbeat = endpointOf('heartbeatActivity', {
  method: 'post',
  path: '/workflow/:id/activities/:activityId/heartbeat',
  id: 'heartbeatWorkflowActivity',
  tag: 'Messages',
  summary: 'Report the progress of an activity that completes outside its worker',
  docs: 'api/activities.md#activities',
  body: heartbeatRequest,
  responses: { 200: { description: 'The activity is open', schema: schemaOf('ActivityHeartbeat') } },
  errors: [...ACTIVITY_ERRORS, 'WorkflowNotReadyError'],
  takes: 'work',
  key: 'rejected',
  input: ({ ref, activityId, body }) => ({ ref, activityId, ...body }),
})

const retry = endpointOf('retryActivity', {
  method: 'post',
  path: '/workflow/:id/activities/:activityId/retry',
  id: 'retryWorkflowActivity',
  tag: 'Control',
  summary: 'Retry an activity now instead of after its backoff',
  docs: 'api/activities.md#repair',
  body: retryRequest,
  responses: { 200: { description: 'The next attempt is due now', schema: schemaOf('RetriedActivity') } },
  errors: [...ACTIVITY_ERRORS, ...EFFECT_ERRORS, 'WorkflowNotReadyError'],
  takes: 'work',
  key: 'rejected',
  input: ({ ref, activityId, body: { dropHeartbeat = false, restoreOptions = false } }) => ({
    ref,
    activityId,
    dropHeartbeat,
    restoreOptions,
  }),
  output: (activity) => ({ ...activity, retried: true }),
})

const pause = endpointOf('pauseActivity', {
  method: 'post',
  path: '/workflow/:id/activities/:activityId/pause',
  id: 'pauseWorkflowActivity',
  tag: 'Control',
  summary: 'Start no further attempt of an activity',
  docs: 'api/activities.md#repair',
  body: pauseRequest,
  responses: { 200: { description: 'The activity is paused', schema: schemaOf('PausedActivity') } },
  errors: ACTIVITY_ERRORS,
  takes: 'work',
  key: 'rejected',
  input: ({ ref, activityId, body: { reason = null } }) => ({ ref, activityId, reason }),
})

const unpause = endpointOf('unpauseActivity', {
  method: 'post',
  path: '/workflow/:id/activities/:activityId/unpause',
  id: 'unpauseWorkflowActivity',
  tag: 'Control',
  summary: 'Let a paused activity continue',
  docs: 'api/activities.md#repair',
  body: pauseRequest,
  responses: { 200: { description: 'The activity is not paused', schema: schemaOf('PausedActivity') } },
  errors: ACTIVITY_ERRORS,
  takes: 'work',
  key: 'rejected',
  input: ({ ref, activityId }) => ({ ref, activityId }),
})

const set = endpointOf('setActivity', {
  method: 'patch',
  path: '/workflow/:id/activities/:activityId',
  id: 'setWorkflowActivity',
  tag: 'Control',
  summary: 'Change timeouts, retry policy or task queue of an activity',
  docs: 'api/activities.md#repair',
  body: setRequest,
  responses: { 200: { description: 'All options of the activity', schema: schemaOf('ChangedActivity') } },
  errors: ACTIVITY_ERRORS,
  takes: 'work',
  key: 'rejected',
  input({ ref, activityId, body: change }) {
    const toCatalog = change === 'restore' ? undefined : change.taskQueue
    return { ref, activityId, change, ...(toCatalog !== undefined && { toCatalog }) }
  },
})

export const activityEndpoints = [complete, fail, cancel, heartbeat, retry, pause, unpause, set]
