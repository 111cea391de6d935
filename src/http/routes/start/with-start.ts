import { type Context, Hono } from 'hono'
import * as z from 'zod/mini'
import type { MessageCommand, StartCommand } from '../../../domain/model/workflows.ts'
import { type Env, toCall } from '../../context.ts'
import { reportReplayed } from '../../idempotency-key.ts'
import { jsonResponse } from '../../json-response.ts'
import { handlerName, resultPath } from '../../path.ts'
import { setHeader } from '../../response.ts'
import { withWarnings } from '../../warnings.ts'
import { argumentFields, NOT_BOTH_ARGUMENTS, payloadOrArgs, toArguments } from '../fields/handler-arguments.ts'
import { jsonForms } from '../fields/json-forms.ts'
import {
  compatibleWithSignal,
  compatibleWithUpdate,
  OPTION_CONFLICTS,
  SIGNAL_CONFLICTS,
  UPDATE_CONFLICTS,
} from '../fields/option-conflicts.ts'
import type { StartOptions } from './start.ts'
import { argumentList, inputOrList, inputOrListForm, startCommand, startFields } from './start-fields.ts'

/** Starts a workflow and signals or updates it in one step. The response does not wait for the workflow to complete. */
export function withStart({ workflows, json, defaultCatalog, maxTimeoutMs }: StartOptions) {
  const { signalRequest, updateRequest } = withStartRequests(maxTimeoutMs)

  async function readCommand(
    c: Context<Env>,
    schema: typeof signalRequest,
  ): Promise<{ start: StartCommand; message: MessageCommand }> {
    const name = handlerName(c)
    const body = await json(c, schema)
    const start = startCommand(c, body, defaultCatalog, 'startArgs')
    return { start, message: { name, ...toArguments(body), ...(body.headers && { headers: body.headers }) } }
  }

  return new Hono<Env>()
    .post('/signal-with-start/:name', async (c) => {
      const { start, message } = await readCommand(c, signalRequest)
      const run = await workflows.signalWithStart({ start, signal: message }, toCall(c))
      const { workflowId, runId, started, isRepeated, warnings } = run
      if (isRepeated) reportReplayed(c)
      setHeader(c, 'Location', resultPath(c, workflowId))
      return jsonResponse(c, withWarnings(c, { workflowId, runId, started }, warnings))
    })
    .post('/update-with-start/:name', async (c) => {
      const { start, message } = await readCommand(c, updateRequest)
      const run = await workflows.updateWithStart({ start, update: message }, toCall(c))
      const { workflowId, runId, started, result, isRepeated } = run
      if (isRepeated) reportReplayed(c)
      setHeader(c, 'Location', resultPath(c, workflowId))
      return jsonResponse(c, { workflowId, runId, started, result })
    })
}

/** The bodies of both requests. */
export function withStartRequests(maxTimeoutMs: number) {
  const request = z
    .strictObject({ ...startFields(maxTimeoutMs), startArgs: argumentList, ...argumentFields })
    .check(inputOrList('startArgs'), payloadOrArgs)
  const form = (conflicts: readonly object[]) =>
    inputOrListForm('startArgs', [NOT_BOTH_ARGUMENTS, ...OPTION_CONFLICTS, ...conflicts])
  return {
    signalRequest: request.check(compatibleWithSignal).register(jsonForms, form(SIGNAL_CONFLICTS)),
    updateRequest: request.check(compatibleWithUpdate).register(jsonForms, form(UPDATE_CONFLICTS)),
  }
}
