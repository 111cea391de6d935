import { type Context, Hono } from 'hono'
import * as z from 'zod/mini'
import type { RunRef, WorkflowResult } from '../../domain/execution.ts'
import type { RunCommand, Workflows } from '../../domain/workflows.ts'
import { durationMs } from '../../protocol/duration.ts'
import { catalogFault, workflowIdFault, workflowNameFault } from '../../protocol/names.ts'
import { answer } from '../answer.ts'
import { call, type Env } from '../context.ts'
import { problemBody } from '../errors.ts'
import { asksForEvents, events, type Send } from '../events.ts'
import type { ReadJson } from '../json.ts'
import { resultPath } from '../path.ts'
import { textWithout } from '../text.ts'

export interface StartOptions {
  workflows: Workflows
  json: ReadJson
  /** For requests that name none. */
  defaultCatalog: string
  maxTimeoutMs: number
}

const DEFAULT_TIMEOUT_MS = 30_000

/** `/workflow/run` waits for the end, `/workflow/start` does not. */
export function start({ workflows, json, defaultCatalog, maxTimeoutMs }: StartOptions) {
  const runRequest = runRequestSchema(maxTimeoutMs)

  async function command(c: Context<Env>): Promise<RunCommand> {
    const { taskQueue, catalog = taskQueue ?? defaultCatalog, timeout, ...rest } = await json(c, runRequest)
    if (taskQueue !== undefined) deprecateTaskQueue(c)
    return { ...rest, catalog, timeoutMs: timeout ?? Math.min(DEFAULT_TIMEOUT_MS, maxTimeoutMs) }
  }

  return new Hono<Env>()
    .post('/run', async (c) => {
      const runCommand = await command(c)
      return asksForEvents(c) ? runAsEvents(c, workflows, runCommand) : answer(c, await workflows.run(runCommand, call(c)))
    })
    .post('/start', async (c) => {
      const { timeoutMs: _, ...startCommand } = await command(c)
      const { workflowId, runId } = await workflows.start(startCommand, call(c))
      c.header('Location', resultPath(workflowId))
      return answer(c, { workflowId, runId, status: 'running' })
    })
}

/** `started` at once, then how it ended: whoever loses the connection knows by then what has been started. */
async function runAsEvents(c: Context<Env>, workflows: Workflows, command: RunCommand): Promise<Response> {
  const { promise: started, resolve: onStarted } = Promise.withResolvers<RunRef>()
  const ended = workflows.run({ ...command, onStarted }, call(c))
  // Refused before anything was started, it is an answer like any other.
  const { workflowId, runId } = await Promise.race([started, ended])
  return events(c, (send) => tellRun(c, send, { workflowId, runId }, ended))
}

async function tellRun(c: Context<Env>, send: Send, run: RunRef, ended: Promise<WorkflowResult>): Promise<void> {
  const [, end] = await Promise.allSettled([send('started', run), ended])
  if (end.status === 'fulfilled') return void (await send('result', end.value))
  c.error = end.reason
  const body = problemBody(c, end.reason)
  await send(body.error === 'WorkflowExecutionTimedOutError' ? 'timeout' : 'server_error', body)
}

function runRequestSchema(maxTimeoutMs: number) {
  return z.strictObject({
    workflowName: textWithout(workflowNameFault),
    input: z.unknown(),
    workflowId: z.exactOptional(textWithout(workflowIdFault)),
    catalog: z.exactOptional(textWithout(catalogFault)),
    taskQueue: z.exactOptional(textWithout(catalogFault)),
    timeout: z.exactOptional(timeout(maxTimeoutMs)),
  })
}

/** In milliseconds: a number of them, or a string with its unit. */
function timeout(maxTimeoutMs: number) {
  const message = `must be a number of milliseconds or a duration with its unit, like "30s", above 0 and at most ${maxTimeoutMs} ms`
  return z.transform((input, { issues }): number => {
    const ms = typeof input === 'string' ? durationMs(input) : input
    if (typeof ms === 'number' && ms > 0 && ms <= maxTimeoutMs) return Math.ceil(ms)
    issues.push({ code: 'custom', input, message })
    return z.NEVER
  })
}

// 2026-01-01: the specification that introduced `catalog` made `taskQueue` its old name.
const TASK_QUEUE_DEPRECATED_SINCE = 1_767_225_600

/** RFC 9745. */
function deprecateTaskQueue(c: Context<Env>): void {
  c.header('Deprecation', `@${TASK_QUEUE_DEPRECATED_SINCE}`)
  c.header('Link', '<urn:portico:deprecation:task-queue>; rel="deprecation"')
}
