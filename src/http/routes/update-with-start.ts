import { Hono } from 'hono'
import * as z from 'zod/mini'
import { answer } from '../answer.ts'
import { call, type Env } from '../context.ts'
import { handlerName, resultPath } from '../path.ts'
import { argumentFields, notBoth, toArguments } from './arguments.ts'
import type { StartOptions } from './start.ts'
import { inputOr, severalArguments, startCommand, startFields } from './start-fields.ts'

/** A start and an update in one step: the answer comes while the run goes on. */
export function updateWithStart({ workflows, json, defaultCatalog, maxTimeoutMs }: StartOptions) {
  const request = z
    .strictObject({ ...startFields(maxTimeoutMs), startArgs: severalArguments, ...argumentFields })
    .check(inputOr('startArgs'), notBoth)

  return new Hono<Env>().post('/update-with-start/:name', async (c) => {
    const name = handlerName(c)
    const body = await json(c, request)
    const command = startCommand(c, body, defaultCatalog, 'startArgs')
    const { workflowId, runId, started, result } = await workflows.updateWithStart(
      command,
      { name, ...toArguments(body) },
      call(c),
    )
    c.header('Location', resultPath(c, workflowId))
    return answer(c, { workflowId, runId, started, result })
  })
}
