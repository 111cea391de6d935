import { type Context, Hono } from 'hono'
import * as z from 'zod/mini'
import type { MessageCommand, Workflows } from '../../domain/workflows.ts'
import { isObject } from '../../lib/is-object.ts'
import { answer } from '../answer.ts'
import { call, type Env } from '../context.ts'
import type { ReadJson } from '../json.ts'
import { execution, handlerName } from '../path.ts'
import { argumentFields, notBoth, toArguments } from './arguments.ts'

/** What is sent to an execution's own handlers. */
export function message(workflows: Workflows, json: ReadJson) {
  async function messageOf(c: Context<Env>): Promise<MessageCommand> {
    const name = handlerName(c)
    return { name, ...(await json(c, messageRequest, { adviceFor: wrapAdvice })) }
  }

  return new Hono<Env>()
    .post('/signal/:name', async (c) => {
      const ref = execution(c)
      const message = await messageOf(c)
      const { workflowId, runId } = await workflows.signal(ref, message, call(c))
      return answer(c, { workflowId, runId, signal: message.name, accepted: true })
    })
    .post('/query/:name', async (c) => {
      const ref = execution(c)
      const message = await messageOf(c)
      return answer(c, await workflows.query(ref, message, call(c)))
    })
    .post('/update/:name', async (c) => {
      const ref = execution(c)
      const message = await messageOf(c)
      return answer(c, await workflows.update(ref, message, call(c)))
    })
}

const messageRequest = z.pipe(z.strictObject(argumentFields).check(notBoth), z.transform(toArguments))

/** Most callers send the bare value first, as a start has its `input`. */
function wrapAdvice(body: unknown): string | null {
  if (isObject(body) && ('payload' in body || 'args' in body)) return null
  return Array.isArray(body)
    ? 'wrap the value: {"payload": …}, or {"args": […]} for several arguments'
    : 'wrap the value: {"payload": …}'
}
