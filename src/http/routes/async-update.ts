import type { Context } from 'hono'
import * as z from 'zod/mini'
import { attachIds } from '../../domain/model/attach-ids.ts'
import type { UpdateState } from '../../domain/model/engine.ts'
import { hasErrorName } from '../../domain/model/errors.ts'
import type { SendCommand, Workflows } from '../../domain/model/workflows.ts'
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
  setHeader(c, 'Location', updatePath(c, sent, name))
  const accepted: UpdateState = { ...sent, stage: 'accepted' }
  const read = () => workflows.readUpdate({ ref: { workflowId, runId }, name, updateId, waitMs }, call)
  const state = waitMs === 0 ? accepted : await readAccepted(accepted, read)
  preferenceApplied(c, { waitMs })
  return stateResponse(c, state)
}

/** The client must not send an update again because only its result cannot be read now. */
async function readAccepted(accepted: UpdateState, read: () => Promise<UpdateState>): Promise<UpdateState> {
  try {
    return await read()
  } catch (error) {
    if (hasErrorName(error, 'EngineUnavailableError', 'ResourceExhaustedError')) return accepted
    const { workflowId, runId, updateId } = accepted
    throw attachIds(error, { workflowId, runId, updateId })
  }
}

/** How far an update is: its result, or a 202 while it is running. */
export async function readAsyncUpdate(c: Context<Env>, workflows: Workflows): Promise<Response> {
  const command = { ref: execution(c), name: handlerName(c), updateId: updateIdOf(c) }
  const { wait: waitMs = 0 } = queryParameters(c, updateParameters)
  return stateResponse(c, await workflows.readUpdate({ ...command, waitMs }, toCall(c)))
}

export const updateParameters = z.strictObject({ wait: z.exactOptional(duration(MAX_WAIT_MS)) })

function stateResponse(c: Context<Env>, state: UpdateState): Response {
  if (state.stage === 'completed') return jsonResponse(c, state.result)
  const { workflowId, runId, updateId, stage } = state
  return jsonResponse(c, { workflowId, runId, updateId, stage }, 202)
}
