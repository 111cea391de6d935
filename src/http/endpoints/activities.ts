/** Ends activities that complete outside their worker. */
import * as z from 'zod/mini'
import { checkedString } from '../../protocol/checked-string.ts'
import { characterIssue } from '../../protocol/names.ts'
import { endpoint, type RequestBody } from '../endpoint.ts'
import { idempotencyKey } from '../idempotency-key.ts'
import { ref as schemaOf } from '../openapi/schemas/schema.ts'
import { jsonResponse } from '../response.ts'
import { BODY_ERRORS, RUN_ERRORS } from './errors.ts'
import { jsonForms, optional } from './fields/json-forms.ts'
import { requiredText, text } from './fields/names.ts'

const ACTIVITY_ERRORS = [...RUN_ERRORS, ...BODY_ERRORS, 'ActivityNotFoundError', 'WorkflowNotRunningError'] as const

const completeRequest = {
  name: 'CompleteActivityRequest',
  schema: z.strictObject({ output: optional(z.unknown(), 'What the activity returns. Default: nothing') }),
  isRequired: false,
  adviceFor: () => 'wrap the value: {"output": …}',
} satisfies RequestBody<unknown>

const message = checkedString(characterIssue).register(jsonForms, {
  ...jsonForms.get(text),
  description: 'What has happened',
})

const failRequest = {
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

const heartbeatRequest = {
  name: 'HeartbeatRequest',
  schema: z.strictObject({ details: optional(z.unknown(), 'The progress, as `status` shows it') }),
  isRequired: false,
} satisfies RequestBody<unknown>

const complete = endpoint({
  method: 'post',
  path: '/workflow/:id/activities/:activityId/complete',
  id: 'completeWorkflowActivity',
  tag: 'Messages',
  summary: 'Complete an activity that completes outside its worker',
  docs: 'activities',
  headers: ['Idempotency-Key'],
  body: completeRequest,
  responses: { 200: { description: 'The activity has completed', schema: schemaOf('CompletedActivity') } },
  errors: ACTIVITY_ERRORS,
  takes: 'work',
  key: 'taken',
  access: 'complete',
  async handle(c, { ref, activityId, body, call, workflows }) {
    const activity = { ref: ref(c), activityId: activityId(c) }
    const command = { ...activity, ...(await body(c)), ...idempotencyKey(c) }
    const { isRepeated: _, ...completed } = await workflows.completeActivity(command, call(c))
    return jsonResponse(c, { ...completed, completed: true })
  },
})

const fail = endpoint({
  method: 'post',
  path: '/workflow/:id/activities/:activityId/fail',
  id: 'failWorkflowActivity',
  tag: 'Messages',
  summary: 'Fail an activity that completes outside its worker',
  docs: 'activities',
  headers: ['Idempotency-Key'],
  body: failRequest,
  responses: {
    200: { description: 'The attempt has failed; the activity may be retried', schema: schemaOf('FailedActivity') },
  },
  errors: [...ACTIVITY_ERRORS, 'WorkflowNotReadyError'],
  takes: 'work',
  key: 'taken',
  access: 'complete',
  async handle(c, { ref, activityId, body, call, workflows }) {
    const activity = { ref: ref(c), activityId: activityId(c) }
    const command = { ...activity, failure: await body(c), ...idempotencyKey(c) }
    return jsonResponse(c, { ...(await workflows.failActivity(command, call(c))), failed: true })
  },
})

const heartbeat = endpoint({
  method: 'post',
  path: '/workflow/:id/activities/:activityId/heartbeat',
  id: 'heartbeatWorkflowActivity',
  tag: 'Messages',
  summary: 'Report the progress of an activity that completes outside its worker',
  docs: 'activities',
  body: heartbeatRequest,
  responses: { 200: { description: 'The activity is open', schema: schemaOf('ActivityHeartbeat') } },
  errors: [...ACTIVITY_ERRORS, 'WorkflowNotReadyError'],
  takes: 'work',
  key: 'rejected',
  access: 'complete',
  async handle(c, { ref, activityId, body, call, workflows }) {
    const command = { ref: ref(c), activityId: activityId(c), ...(await body(c)) }
    return jsonResponse(c, await workflows.heartbeatActivity(command, call(c)))
  },
})

export const activityEndpoints = [complete, fail, heartbeat]
