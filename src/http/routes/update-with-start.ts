import { Hono } from 'hono'
import * as z from 'zod/mini'
import { type Env, toCall } from '../context.ts'
import { jsonResponse } from '../json-response.ts'
import { handlerName, resultPath } from '../path.ts'
import { setHeader } from '../response.ts'
import { compatibleWithUpdate } from './fields/option-conflicts.ts'
import { argumentFields, payloadOrArgs, toArguments } from './handler-arguments.ts'
import type { StartOptions } from './start.ts'
import { argumentList, inputOrList, startCommand, startFields } from './start-fields.ts'

/** Starts a workflow and updates it in one step. The response does not wait for the workflow to complete. */
export function updateWithStart({ workflows, json, defaultCatalog, maxTimeoutMs }: StartOptions) {
  const request = z
    .strictObject({ ...startFields(maxTimeoutMs), startArgs: argumentList, ...argumentFields })
    .check(inputOrList('startArgs'), payloadOrArgs, compatibleWithUpdate)

  return new Hono<Env>().post('/update-with-start/:name', async (c) => {
    const name = handlerName(c)
    const body = await json(c, request)
    const start = startCommand(c, body, defaultCatalog, 'startArgs')
    const { workflowId, runId, started, result } = await workflows.updateWithStart(
      { start, update: { name, ...toArguments(body), ...(body.headers && { headers: body.headers }) } },
      toCall(c),
    )
    setHeader(c, 'Location', resultPath(c, workflowId))
    return jsonResponse(c, { workflowId, runId, started, result })
  })
}
