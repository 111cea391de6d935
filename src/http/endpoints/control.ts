/** Cancels, terminates, resets, pauses or continues an execution. */
import * as z from 'zod/mini'
import { isObject } from '../../lib/json.ts'
import { endpoint, type RequestBody } from '../endpoint.ts'
import { ref as schemaOf } from '../openapi/schemas/schema.ts'
import { jsonResponse } from '../response.ts'
import { BODY_ERRORS, RUN_ERRORS } from './errors.ts'
import { jsonForms, optional } from './fields/json-forms.ts'
import { requiredText, text } from './fields/names.ts'

const reason = optional(text, 'Recorded in the history')

const controlRequest = {
  name: 'ControlRequest',
  schema: z.strictObject({ reason }),
  isRequired: false,
} satisfies RequestBody<unknown>

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

const stop = endpoint({
  method: 'patch',
  path: '/workflow/:id/stop',
  id: 'stopWorkflow',
  tag: 'Control',
  summary: 'Request cancellation; cleanup code runs',
  docs: 'stop',
  body: controlRequest,
  responses: {
    200: { description: 'Cancellation was requested, or the run was closed already', schema: schemaOf('StoppedRun') },
  },
  errors: [...RUN_ERRORS, ...BODY_ERRORS],
  takes: 'work',
  key: 'rejected',
  access: 'stop',
  async handle(c, { ref, body, call, workflows }) {
    const run = ref(c)
    const { reason = null } = await body(c)
    const { workflowId, runId, cancelRequested, status } = await workflows.stop({ ref: run, reason }, call(c))
    return jsonResponse(c, { workflowId, runId, cancelRequested, status })
  },
})

const terminate = endpoint({
  method: 'post',
  path: '/workflow/:id/terminate',
  id: 'terminateWorkflow',
  tag: 'Control',
  summary: 'Terminate it immediately; no cleanup code runs',
  docs: 'terminate',
  body: controlRequest,
  responses: { 200: { description: 'The run has ended', schema: schemaOf('TerminatedRun') } },
  errors: [...RUN_ERRORS, ...BODY_ERRORS, 'WorkflowNotRunningError'],
  takes: 'work',
  key: 'rejected',
  access: 'terminate',
  async handle(c, { ref, body, call, workflows }) {
    const run = ref(c)
    const { reason = null } = await body(c)
    const { workflowId, runId } = await workflows.terminate({ ref: run, reason }, call(c))
    return jsonResponse(c, { workflowId, runId, terminated: true })
  },
})

const pause = endpoint({
  method: 'post',
  path: '/workflow/:id/pause',
  id: 'pauseWorkflow',
  tag: 'Control',
  summary: 'Stop the progress of a run',
  docs: 'pause',
  body: controlRequest,
  responses: { 200: { description: 'The run is paused', schema: schemaOf('PausedRun') } },
  errors: [...RUN_ERRORS, ...BODY_ERRORS, 'WorkflowNotRunningError', 'WorkflowNotReadyError'],
  takes: 'work',
  key: 'rejected',
  access: 'pause',
  async handle(c, { ref, body, call, workflows }) {
    const run = ref(c)
    const { reason = null } = await body(c)
    const { workflowId, runId, paused } = await workflows.pause({ ref: run, reason }, call(c))
    return jsonResponse(c, { workflowId, runId, paused })
  },
})

const unpause = endpoint({
  method: 'post',
  path: '/workflow/:id/unpause',
  id: 'unpauseWorkflow',
  tag: 'Control',
  summary: 'Let a paused run continue',
  docs: 'pause',
  body: controlRequest,
  responses: { 200: { description: 'The run is not paused', schema: schemaOf('PausedRun') } },
  errors: [...RUN_ERRORS, ...BODY_ERRORS, 'WorkflowNotRunningError', 'WorkflowNotReadyError'],
  takes: 'work',
  key: 'rejected',
  access: 'pause',
  async handle(c, { ref, body, call, workflows }) {
    const run = ref(c)
    const { reason = null } = await body(c)
    const { workflowId, runId, paused } = await workflows.unpause({ ref: run, reason }, call(c))
    return jsonResponse(c, { workflowId, runId, paused })
  },
})

const reset = endpoint({
  method: 'post',
  path: '/workflow/:id/reset',
  id: 'resetWorkflow',
  tag: 'Control',
  summary: 'Execute a run again from one of its steps',
  docs: 'reset',
  body: { name: 'ResetRequest', schema: resetRequest, isRequired: true },
  responses: { 200: { description: 'The new run', schema: schemaOf('ResetRun'), links: ['getWorkflowResult'] } },
  errors: [...RUN_ERRORS, ...BODY_ERRORS, 'StepNotFoundError', 'StepNotCompletedError'],
  takes: 'work',
  key: 'rejected',
  access: 'reset',
  async handle(c, { ref, body, call, workflows }) {
    const run = ref(c)
    const { reason = null, stepName, eventId = 0 } = await body(c)
    const target = stepName === undefined ? { eventId } : { stepName }
    const { workflowId, runId, runsAgain } = await workflows.reset({ ref: run, target, reason }, call(c))
    return jsonResponse(c, { workflowId, runId, runsAgain })
  },
})

export const controlEndpoints = [stop, terminate, pause, unpause, reset]
