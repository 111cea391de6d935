import { Hono } from 'hono'
import * as z from 'zod/mini'
import type { Workflows } from '../../domain/model/workflows.ts'
import { isObject } from '../../lib/is-object.ts'
import { type Env, toCall } from '../context.ts'
import type { ReadJson } from '../json.ts'
import { jsonResponse } from '../json-response.ts'
import { execution } from '../path.ts'
import { jsonForms } from './fields/json-forms.ts'
import { requiredText, text } from './fields/names.ts'

/** Cancels, terminates, resets, pauses or continues an execution. */
export function control(workflows: Workflows, json: ReadJson) {
  return new Hono<Env>()
    .patch('/stop', async (c) => {
      const ref = execution(c)
      const { reason = null } = await json(c, controlRequest)
      const { workflowId, runId, cancelRequested, status } = await workflows.stop({ ref, reason }, toCall(c))
      return jsonResponse(c, { workflowId, runId, cancelRequested, status })
    })
    .post('/terminate', async (c) => {
      const ref = execution(c)
      const { reason = null } = await json(c, controlRequest)
      const { workflowId, runId } = await workflows.terminate({ ref, reason }, toCall(c))
      return jsonResponse(c, { workflowId, runId, terminated: true })
    })
    .post('/reset', async (c) => {
      const ref = execution(c)
      const { reason = null, stepName, eventId = 0 } = await json(c, resetRequest)
      const target = stepName === undefined ? { eventId } : { stepName }
      const { workflowId, runId, runsAgain } = await workflows.reset({ ref, target, reason }, toCall(c))
      return jsonResponse(c, { workflowId, runId, runsAgain })
    })
    .post('/pause', async (c) => {
      const ref = execution(c)
      const { reason = null } = await json(c, controlRequest)
      const { workflowId, runId, paused } = await workflows.pause({ ref, reason }, toCall(c))
      return jsonResponse(c, { workflowId, runId, paused })
    })
    .post('/unpause', async (c) => {
      const ref = execution(c)
      const { reason = null } = await json(c, controlRequest)
      const { workflowId, runId, paused } = await workflows.unpause({ ref, reason }, toCall(c))
      return jsonResponse(c, { workflowId, runId, paused })
    })
}

const reason = z.exactOptional(text)

export const controlRequest = z.strictObject({ reason })

const EVENT_ID = { error: 'must be the id of an event: an integer of at least 1' }

export const resetRequest = z
  .strictObject({
    stepName: z.exactOptional(requiredText),
    eventId: z.exactOptional(
      z
        .number(EVENT_ID)
        .check(
          z.refine(Number.isInteger, EVENT_ID),
          z.minimum(1, EVENT_ID),
          z.maximum(Number.MAX_SAFE_INTEGER, EVENT_ID),
        )
        .register(jsonForms, { type: 'integer' }),
    ),
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
