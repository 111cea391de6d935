import { type Context, Hono } from 'hono'
import * as z from 'zod/mini'
import type { RunStart, StartCommand, Workflows } from '../../../domain/model/workflows.ts'
import type { Status } from '../../../protocol/execution.ts'
import type { RunRef } from '../../../protocol/run-ref.ts'
import { type Env, toCall } from '../../context.ts'
import { reportReplayed } from '../../idempotency-key.ts'
import type { ReadJson } from '../../json.ts'
import { jsonResponse } from '../../json-response.ts'
import { resultPath } from '../../path.ts'
import { setHeader } from '../../response.ts'
import { jsonForms } from '../fields/json-forms.ts'
import { compatibleOptions, OPTION_CONFLICTS } from '../fields/option-conflicts.ts'
import { argumentList, inputOrList, inputOrListForm, startCommand, startFields } from './start-fields.ts'

export interface StartOptions {
  workflows: Workflows
  json: ReadJson
  /** For requests that do not name a catalog. */
  defaultCatalog: string
  maxTimeoutMs: number
  /** Interval of the comments in an event stream. */
  commentEveryMs: number
}

/** Starts a workflow without waiting for its result. */
export function start({ workflows, json, defaultCatalog, maxTimeoutMs }: StartOptions) {
  const request = startRequest(maxTimeoutMs)
  return new Hono<Env>().post('/start', async (c) => {
    const command = startCommand(c, await json(c, request), defaultCatalog, 'args')
    return jsonResponse(c, await startNow(c, workflows, command))
  })
}

/** The body of `start` and of `run`. */
export function startRequest(maxTimeoutMs: number) {
  return z
    .strictObject({ ...startFields(maxTimeoutMs), args: argumentList })
    .check(inputOrList('args'), compatibleOptions)
    .register(jsonForms, inputOrListForm('args', OPTION_CONFLICTS))
}

/** Starts the workflow, and returns the body of the response. */
export async function startNow(
  c: Context<Env>,
  workflows: Workflows,
  command: StartCommand,
): Promise<RunRef & { status: Status }> {
  const run = await workflows.start(command, toCall(c))
  const { workflowId, runId, repeatedStatus: status = 'running' } = run
  reportRun(c, command, run)
  setHeader(c, 'Location', resultPath(c, workflowId))
  return { workflowId, runId, status }
}

/** Whether the run of the response may be one that the request did not start. */
export function mayFindRun({ options, idempotencyKey }: StartCommand): boolean {
  return options?.workflowIdConflictPolicy === 'use-existing' || idempotencyKey !== undefined
}

/** In headers, because a result has exactly the keys of the specification. */
export function reportRun(c: Context<Env>, { options }: StartCommand, { isExisting, repeatedStatus }: RunStart): void {
  if (options?.workflowIdConflictPolicy === 'use-existing')
    setHeader(c, 'Portico-Started', String(isExisting === undefined))
  if (repeatedStatus !== undefined) reportReplayed(c)
}
