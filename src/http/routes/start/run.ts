import { type Context, Hono } from 'hono'
import { hasErrorName } from '../../../domain/model/errors.ts'
import type { WorkflowResult } from '../../../domain/model/execution.ts'
import type { RunStart, StartCommand, Workflows } from '../../../domain/model/workflows.ts'
import { isOpen, type Status } from '../../../protocol/execution.ts'
import type { RunRef } from '../../../protocol/run-ref.ts'
import { type Env, toCall } from '../../context.ts'
import { prefersEvents } from '../../events.ts'
import { reportReplayed } from '../../idempotency-key.ts'
import { jsonResponse } from '../../json-response.ts'
import { readBodyParameter, resultResponder } from '../../output-body.ts'
import { resultPath } from '../../path.ts'
import { type AsyncPreference, asyncPreference, preferenceApplied } from '../../prefer.ts'
import { setHeader } from '../../response.ts'
import { lastReadRun } from '../../run-event-id.ts'
import { runEvents } from '../../run-events.ts'
import { mayFindRun, reportRun, type StartOptions, startNow, startRequest } from './start.ts'
import { startCommand } from './start-fields.ts'

const DEFAULT_TIMEOUT_MS = 30_000

type WaitForResult = (waitMs: number, onFound?: (run: RunRef) => void) => Promise<WorkflowResult>

/** Starts a workflow and waits for its result, or waits for the run whose events the client has read before. */
export function run({ workflows, json, defaultCatalog, maxTimeoutMs, commentEveryMs }: StartOptions) {
  const request = startRequest(maxTimeoutMs)

  return new Hono<Env>().post('/run', async (c) => {
    const body = await json(c, request)
    const respond = resultResponder(c, readBodyParameter(c))
    const command = startCommand(c, body, defaultCatalog, 'args')
    const last = lastReadRun(c, command)
    if (last !== null && command.idempotencyKey !== undefined) reportReplayed(c)
    const wait = last === null ? startAndWait(c, workflows, command) : waitFor(c, workflows, last.run)
    const timeoutMs = body.timeout ?? Math.min(DEFAULT_TIMEOUT_MS, maxTimeoutMs)
    if (prefersEvents(c)) return runEvents(c, { last, commentEveryMs, wait: (onFound) => wait(timeoutMs, onFound) })
    const preference = asyncPreference(c)
    if (preference === null) return respond(await wait(timeoutMs))
    const waitMs = Math.min(preference.waitMs, body.timeout ?? maxTimeoutMs)
    const result = () => resultOrAccepted(c, { waitMs }, wait, respond)
    return waitMs === 0 && last === null ? acceptedOrResult(c, await startNow(c, workflows, command), result) : result()
  })
}

function startAndWait(c: Context<Env>, workflows: Workflows, command: StartCommand): WaitForResult {
  return (timeoutMs, onFound) => {
    const onStarted = (run: RunStart) => {
      reportRun(c, command, run)
      onFound?.(run)
    }
    const isAwaited = onFound !== undefined || mayFindRun(command)
    return workflows.run({ ...command, timeoutMs, ...(isAwaited && { onStarted }) }, toCall(c))
  }
}

function waitFor(c: Context<Env>, workflows: Workflows, run: RunRef): WaitForResult {
  return (waitMs, onFound) =>
    workflows.waitForResult({ ref: run, followsChain: true, waitMs, ...(onFound && { onFound }) }, toCall(c))
}

async function resultOrAccepted(
  c: Context<Env>,
  applied: AsyncPreference,
  wait: WaitForResult,
  respond: (result: WorkflowResult) => Response,
): Promise<Response> {
  try {
    return respond(await wait(applied.waitMs))
  } catch (error) {
    if (!hasErrorName(error, 'WorkflowExecutionTimedOutError')) throw error
    const { workflowId = '', runId, workflowStatus = null, problem } = error.details
    setHeader(c, 'Location', resultPath(c, workflowId))
    return accepted(c, { workflowId, runId, status: workflowStatus, ...(problem && { problem }) }, applied)
  }
}

/** The chain of a repeat may have ended: its result needs no wait. */
function acceptedOrResult(
  c: Context<Env>,
  run: RunRef & { status: Status },
  result: () => Promise<Response>,
): Response | Promise<Response> {
  return isOpen(run.status) ? accepted(c, run, { waitMs: 0 }) : result()
}

function accepted(c: Context<Env>, body: object, applied: AsyncPreference): Response {
  preferenceApplied(c, applied)
  return jsonResponse(c, body, 202)
}
