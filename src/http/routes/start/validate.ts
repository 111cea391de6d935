import { Hono } from 'hono'
import { type Env, toCall } from '../../context.ts'
import { jsonResponse } from '../../json-response.ts'
import { type StartOptions, startRequest } from './start.ts'
import { startCommand } from './start-fields.ts'

/** Checks the body of `run` or `start`, and starts nothing. */
export function validate({ workflows, json, defaultCatalog, maxTimeoutMs }: StartOptions) {
  const request = startRequest(maxTimeoutMs)
  return new Hono<Env>().post('/validate', async (c) => {
    const command = startCommand(c, await json(c, request), defaultCatalog, 'args')
    await workflows.validate(command, toCall(c))
    return jsonResponse(c, { valid: true })
  })
}
