/** Cancels, terminates, resets, pauses or continues an execution, or changes its options. */
import * as z from 'zod/mini'
import { isObject } from '../../../shared/lib/json.ts'
import type { ControlCommand } from '../../model/commands.ts'
import type { ExecutionRef } from '../../model/execution.ts'
import { endpointOf, type RequestBody } from '../endpoint.ts'
import { ref as schemaOf } from '../openapi/schema.ts'
import { BODY_ERRORS, EFFECT_ERRORS, RUN_ERRORS } from './errors.ts'
import { jsonForms, optional } from './fields/json-forms.ts'
import { requiredText, text } from './fields/names.ts'
import { optionsRequest } from './fields/repair-fields.ts'

const reason = optional(text, 'Recorded in the history')

export const controlRequest = {
  name: 'ControlRequest',
  schema: z.strictObject({ reason }),
  isRequired: false,
} satisfies RequestBody<unknown>

function withReason({ ref, body }: { ref: ExecutionRef; body: { reason?: string } }): ControlCommand {
  return { ref, reason: body.reason ?? null }
}

const EVENT_ID = { error: 'must be the id of an event: an integer of at least 1' }

const eventId = z
  .number(EVENT_ID)
  .check(z.refine(Number.isInteger, EVENT_ID), z.minimum(1, EVENT_ID), z.maximum(Number.MAX_SAFE_INTEGER, EVENT_ID))
  .register(jsonForms, { type: 'integer' })

const resetRequest = z
  .strictObject({
    stepName: optional(requiredText, 'Name of an activity: the run is reset to the last completed step of that name'),
    eventId: optional(eventId, 'Instead of `stepName`: the id of an event of the history, which is kept'),
    reason,
  })
  .check(
    z.refine((body) => 'stepName' in body !== 'eventId' in body, {
      message: 'must contain either stepName (the last completed step of that name) or eventId',
      when: ({ value }) => isObject(value),
    }),
  )
  .register(jsonForms, {
    if: { required: ['stepName'] },
    else: { required: ['eventId'] },
    not: { required: ['stepName', 'eventId'] },
  })

const stop = endpointOf('stop', {
  method: 'patch',
  path: '/workflow/:id/stop',
  id: 'stopWorkflow',
  tag: 'Control',
  summary: 'Request cancellation; cleanup code runs',
  docs: 'api/control.md#stop',
  body: controlRequest,
  responses: {
    200: { description: 'Cancellation was requested, or the run was closed already', schema: schemaOf('StoppedRun') },
  },
  errors: [...RUN_ERRORS, ...BODY_ERRORS],
  takes: 'work',
  key: 'rejected',
  input: withReason,
})

const terminate = endpointOf('terminate', {
  method: 'post',
  path: '/workflow/:id/terminate',
  id: 'terminateWorkflow',
  tag: 'Control',
  summary: 'Terminate it immediately; no cleanup code runs',
  docs: 'api/control.md#terminate',
  body: controlRequest,
  responses: { 200: { description: 'The run has ended', schema: schemaOf('TerminatedRun') } },
  errors: [...RUN_ERRORS, ...BODY_ERRORS, 'WorkflowNotRunningError'],
  takes: 'work',
  key: 'rejected',
  input: withReason,
  output: (run) => ({ ...run, terminated: true }),
})

const pause = endpointOf('pause', {
  method: 'post',
  path: '/workflow/:id/pause',
  id: 'pauseWorkflow',
  tag: 'Control',
  summary: 'Stop the progress of a run',
  docs: 'api/control.md#pause',
  body: controlRequest,
  responses: { 200: { description: 'The run is paused', schema: schemaOf('PausedRun') } },
  errors: [...RUN_ERRORS, ...BODY_ERRORS, 'WorkflowNotRunningError', 'WorkflowNotReadyError'],
  takes: 'work',
  key: 'rejected',
  input: withReason,
})

const unpause = endpointOf('unpause', {
  method: 'post',
  path: '/workflow/:id/unpause',
  id: 'unpauseWorkflow',
  tag: 'Control',
  summary: 'Let a paused run continue',
  docs: 'api/control.md#pause',
  body: controlRequest,
  responses: { 200: { description: 'The run is not paused', schema: schemaOf('PausedRun') } },
  errors: [...RUN_ERRORS, ...BODY_ERRORS, 'WorkflowNotRunningError', 'WorkflowNotReadyError'],
  takes: 'work',
  key: 'rejected',
  input: withReason,
})

const reset = endpointOf('reset', {
  method: 'post',
  path: '/workflow/:id/reset',
  id: 'resetWorkflow',
  tag: 'Control',
  summary: 'Execute a run again from one of its steps',
  docs: 'api/control.md#reset',
  body: { name: 'ResetRequest', schema: resetRequest, isRequired: true },
  responses: { 200: { description: 'The new run', schema: schemaOf('ResetRun'), links: ['getWorkflowResult'] } },
  errors: [...RUN_ERRORS, ...BODY_ERRORS, ...EFFECT_ERRORS, 'StepNotFoundError', 'StepNotCompletedError'],
  takes: 'work',
  key: 'rejected',
  input: ({ ref, body: { reason = null, stepName, eventId = 0 } }) => ({
    ref,
    reason,
    target: stepName === undefined ? { eventId } : { stepName },
  }),
})

const setOptions = endpointOf('setOptions', {
  method: 'patch',
  path: '/workflow/:id/options',
  id: 'setWorkflowOptions',
  tag: 'Control',
  summary: 'Change the worker version or the priority of a run',
  docs: 'api/control.md#options',
  body: optionsRequest,
  responses: { 200: { description: 'The options of the run', schema: schemaOf('ChangedRun') } },
  errors: [...RUN_ERRORS, ...BODY_ERRORS, 'WorkflowNotRunningError'],
  takes: 'work',
  key: 'rejected',
  input: ({ ref, body: options }) => ({ ref, options }),
})

export const controlEndpoints = [stop, terminate, pause, unpause, setOptions, reset]
