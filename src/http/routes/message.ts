import { type Context, Hono } from 'hono'
import * as z from 'zod/mini'
import type { MessageCommand, Workflows } from '../../domain/model/workflows.ts'
import { isObject } from '../../lib/is-object.ts'
import { type Env, toCall } from '../context.ts'
import { idempotencyKey } from '../idempotency-key.ts'
import type { ReadJson } from '../json.ts'
import { jsonResponse } from '../json-response.ts'
import { execution, handlerName } from '../path.ts'
import { asyncPreference } from '../prefer.ts'
import { withWarnings } from '../warnings.ts'
import { readAsyncUpdate, sendAsyncUpdate } from './async-update.ts'
import { argumentFields, NOT_BOTH_ARGUMENTS, payloadOrArgs, toArguments } from './fields/handler-arguments.ts'
import { jsonForms } from './fields/json-forms.ts'
import { headersField } from './fields/json-object.ts'

/** Sends signals, queries and updates to an execution. */
export function message(workflows: Workflows, json: ReadJson) {
  async function readMessage(c: Context<Env>): Promise<MessageCommand> {
    const name = handlerName(c)
    return { name, ...(await json(c, messageRequest, { adviceFor: wrapAdvice })) }
  }

  return new Hono<Env>()
    .post('/signal/:name', async (c) => {
      const ref = execution(c)
      const message = await readMessage(c)
      const sent = await workflows.signal({ ref, message, ...idempotencyKey(c) }, toCall(c))
      const { workflowId, runId, warnings } = sent
      return jsonResponse(c, withWarnings(c, { workflowId, runId, signal: message.name, accepted: true }, warnings))
    })
    .post('/query/:name', async (c) => {
      const ref = execution(c)
      const message = await readMessage(c)
      return jsonResponse(c, await workflows.query({ ref, message }, toCall(c)))
    })
    .post('/update/:name', async (c) => {
      const ref = execution(c)
      const message = await readMessage(c)
      const command = { ref, message, ...idempotencyKey(c) }
      const preference = asyncPreference(c)
      return preference === null
        ? jsonResponse(c, await workflows.update(command, toCall(c)))
        : sendAsyncUpdate(c, workflows, command, preference)
    })
    .get('/update/:name/:updateId', (c) => readAsyncUpdate(c, workflows))
}

export const messageRequest = z.pipe(
  z
    .strictObject({ ...argumentFields, headers: headersField })
    .check(payloadOrArgs)
    .register(jsonForms, { not: NOT_BOTH_ARGUMENTS }),
  z.transform(({ headers, ...body }) => ({ ...toArguments(body), ...(headers && { headers }) })),
)

/** A hint for clients that send the bare value instead of `payload`. */
function wrapAdvice(body: unknown): string | null {
  if (isObject(body) && ('payload' in body || 'args' in body || 'headers' in body)) return null
  return Array.isArray(body)
    ? 'wrap the value: {"payload": …}, or {"args": […]} for several arguments'
    : 'wrap the value: {"payload": …}'
}
