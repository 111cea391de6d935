import type { Context } from 'hono'
import * as z from 'zod/mini'
import type { UpdateState } from '../../domain/engine.ts'
import type { SendCommand, Workflows } from '../../domain/workflows.ts'
import { type Env, toCall } from '../context.ts'
import { jsonResponse } from '../json-response.ts'
import { execution, handlerName, updateIdOf, updatePath } from '../path.ts'
import { type AsyncPreference, preferenceApplied } from '../prefer.ts'
import { queryParameters } from '../query-parameters.ts'
import { setHeader } from '../response.ts'
import { duration, MAX_WAIT_MS } from './fields/query-values.ts'

/** Sends an update, and responds when the workflow has accepted it, or has completed it within the preferred time. */
export async function sendAsyncUpdate(
  c: Context<Env>,
  workflows: Workflows,
  command: SendCommand,
  preference: AsyncPreference,
): Promise<Response> {
  const { name } = command.message
  const waitMs = Math.min(preference.waitMs, MAX_WAIT_MS)
  const call = toCall(c)
  const sent = await workflows.startUpdate(command, call)
  const { workflowId, runId, updateId } = sent
  const read = { ref: { workflowId, runId }, name, updateId, waitMs }
  const state: UpdateState = waitMs === 0 ? { ...sent, stage: 'accepted' } : await workflows.readUpdate(read, call)
  setHeader(c, 'Location', updatePath(c, sent, name))
  preferenceApplied(c, { waitMs })
  return stateResponse(c, state)
}

/** How far an update is: its result, or a 202 while it is running. */
export async function readAsyncUpdate(c: Context<Env>, workflows: Workflows): Promise<Response> {
  const command = { ref: execution(c), name: handlerName(c), updateId: updateIdOf(c) }
  const { wait: waitMs = 0 } = queryParameters(c, parameters)
  return stateResponse(c, await workflows.readUpdate({ ...command, waitMs }, toCall(c)))
}

const parameters = z.strictObject({ wait: z.exactOptional(duration(MAX_WAIT_MS)) })

function stateResponse(c: Context<Env>, state: UpdateState): Response {
  if (state.stage === 'completed') return jsonResponse(c, state.result)
  const { workflowId, runId, updateId, stage } = state
  return jsonResponse(c, { workflowId, runId, updateId, stage }, 202)
}
