import { type Context, Hono } from 'hono'
import * as z from 'zod/mini'
import type { WorkflowResult } from '../../domain/execution.ts'
import type { RunCommand, Workflows } from '../../domain/workflows.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import { answer } from '../answer.ts'
import { call, type Env } from '../context.ts'
import { problemBody } from '../errors.ts'
import { asksForEvents, events, type Send } from '../events.ts'
import type { ReadJson } from '../json.ts'
import { resultPath } from '../path.ts'
import { inputOr, severalArguments, startCommand, startFields } from './start-fields.ts'

export interface StartOptions {
  workflows: Workflows
  json: ReadJson
  /** For requests that name none. */
  defaultCatalog: string
  maxTimeoutMs: number
  /** How often an event stream gets a comment. */
  commentEveryMs: number
}

const DEFAULT_TIMEOUT_MS = 30_000

/** `/workflow/run` waits for the end, `/workflow/start` does not. */
export function start({ workflows, json, defaultCatalog, maxTimeoutMs, commentEveryMs }: StartOptions) {
  const runRequest = z.strictObject({ ...startFields(maxTimeoutMs), args: severalArguments }).check(inputOr('args'))

  return new Hono<Env>()
    .post('/run', async (c) => {
      const body = await json(c, runRequest)
      const { timeout: timeoutMs = Math.min(DEFAULT_TIMEOUT_MS, maxTimeoutMs) } = body
      const runCommand = { ...startCommand(c, body, defaultCatalog, 'args'), timeoutMs }
      return asksForEvents(c)
        ? runAsEvents(c, workflows, runCommand, commentEveryMs)
        : answer(c, await workflows.run(runCommand, call(c)))
    })
    .post('/start', async (c) => {
      const command = startCommand(c, await json(c, runRequest), defaultCatalog, 'args')
      const { workflowId, runId } = await workflows.start(command, call(c))
      c.header('Location', resultPath(c, workflowId))
      return answer(c, { workflowId, runId, status: 'running' })
    })
}

/** `started` at once, then how it ended: whoever loses the connection knows by then what has been started. */
async function runAsEvents(
  c: Context<Env>,
  workflows: Workflows,
  command: RunCommand,
  commentEveryMs: number,
): Promise<Response> {
  const { promise: started, resolve: onStarted } = Promise.withResolvers<RunRef>()
  const ended = workflows.run({ ...command, onStarted }, call(c))
  // Refused before anything was started, it is an answer like any other.
  const { workflowId, runId } = await Promise.race([started, ended])
  return events(c, (send) => tellRun(c, send, { workflowId, runId }, ended), commentEveryMs)
}

async function tellRun(c: Context<Env>, send: Send, run: RunRef, ended: Promise<WorkflowResult>): Promise<void> {
  const [, end] = await Promise.allSettled([send('started', run), ended])
  if (end.status === 'fulfilled') return void (await send('result', end.value))
  c.error = end.reason
  const body = problemBody(c, end.reason)
  await send(body.error === 'WorkflowExecutionTimedOutError' ? 'timeout' : 'server_error', body)
}
