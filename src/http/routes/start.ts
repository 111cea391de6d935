import { type Context, Hono } from 'hono'
import * as z from 'zod/mini'
import type { WorkflowResult } from '../../domain/execution.ts'
import type { RunCommand, RunStart, StartCommand, Workflows } from '../../domain/workflows.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import { type Env, toCall } from '../context.ts'
import { problemBody } from '../errors.ts'
import { eventStream, prefersEvents, type SendEvent } from '../events.ts'
import type { ReadJson } from '../json.ts'
import { jsonResponse } from '../json-response.ts'
import { resultPath } from '../path.ts'
import { setHeader } from '../response.ts'
import { compatibleOptions } from './fields/option-conflicts.ts'
import { argumentList, inputOrList, startCommand, startFields } from './start-fields.ts'

export interface StartOptions {
  workflows: Workflows
  json: ReadJson
  /** For requests that do not name a catalog. */
  defaultCatalog: string
  maxTimeoutMs: number
  /** Interval of the comments in an event stream. */
  commentEveryMs: number
}

const DEFAULT_TIMEOUT_MS = 30_000

/** Starts workflows: `/workflow/run` waits for the result, `/workflow/start` does not. */
export function start({ workflows, json, defaultCatalog, maxTimeoutMs, commentEveryMs }: StartOptions) {
  const runRequest = z
    .strictObject({ ...startFields(maxTimeoutMs), args: argumentList })
    .check(inputOrList('args'), compatibleOptions)

  return new Hono<Env>()
    .post('/run', async (c) => {
      const body = await json(c, runRequest)
      const { timeout: timeoutMs = Math.min(DEFAULT_TIMEOUT_MS, maxTimeoutMs) } = body
      const command = startCommand(c, body, defaultCatalog, 'args')
      const onStarted = (run: RunStart) => reportExisting(c, command, run)
      const runCommand = { ...command, timeoutMs, ...(mayFindRun(command) && { onStarted }) }
      return prefersEvents(c)
        ? runAsEvents(c, workflows, runCommand, commentEveryMs)
        : jsonResponse(c, await workflows.run(runCommand, toCall(c)))
    })
    .post('/start', async (c) => {
      const command = startCommand(c, await json(c, runRequest), defaultCatalog, 'args')
      const run = await workflows.start(command, toCall(c))
      const { workflowId, runId } = run
      setHeader(c, 'Location', resultPath(c, workflowId))
      reportExisting(c, command, run)
      return jsonResponse(c, { workflowId, runId, status: 'running' })
    })
}

/** Whether the run of the response may be one that the request did not start. */
function mayFindRun({ options }: StartCommand): boolean {
  return options?.workflowIdConflictPolicy === 'use-existing'
}

/** In a header, because a result has exactly the keys of the specification. */
function reportExisting(c: Context<Env>, command: StartCommand, { isExisting }: RunStart): void {
  if (mayFindRun(command)) setHeader(c, 'Portico-Started', String(isExisting === undefined))
}

/** Sends `started` at once and the outcome later, so that a client that loses the connection knows the ids of the run. */
async function runAsEvents(
  c: Context<Env>,
  workflows: Workflows,
  command: RunCommand,
  commentEveryMs: number,
): Promise<Response> {
  const { promise: started, resolve } = Promise.withResolvers<RunRef>()
  function onStarted(run: RunStart): void {
    command.onStarted?.(run)
    resolve(run)
  }
  const ended = workflows.run({ ...command, onStarted }, toCall(c))
  // An error before the start is an ordinary error response.
  const { workflowId, runId } = await Promise.race([started, ended])
  return eventStream(c, (send) => sendRun(c, send, { workflowId, runId }, ended), commentEveryMs)
}

async function sendRun(c: Context<Env>, send: SendEvent, run: RunRef, ended: Promise<WorkflowResult>): Promise<void> {
  const [, end] = await Promise.allSettled([send('started', run), ended])
  if (end.status === 'fulfilled') return void (await send('result', end.value))
  c.error = end.reason
  const body = problemBody(c, end.reason)
  await send(body.error === 'WorkflowExecutionTimedOutError' ? 'timeout' : 'server_error', body)
}
