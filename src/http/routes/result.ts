import { type Context, Hono } from 'hono'
import * as z from 'zod/mini'
import type { WaitCommand, Workflows } from '../../domain/workflows.ts'
import { type Env, toCall } from '../context.ts'
import { prefersEvents } from '../events.ts'
import { jsonResponse } from '../json-response.ts'
import { execution } from '../path.ts'
import { queryParameters } from '../query-parameters.ts'
import { lastReadRun } from '../run-event-id.ts'
import { runEvents } from '../run-events.ts'
import { duration } from './fields/query-values.ts'

export interface ResultOptions {
  workflows: Workflows
  /** Maximum of `wait`. */
  maxTimeoutMs: number
  /** Interval of the comments in an event stream. */
  commentEveryMs: number
}

const DEFAULT_STREAM_MS = 300_000

/** The result of a run: now, as soon as there is one, or as events. */
export function result({ workflows, maxTimeoutMs, commentEveryMs }: ResultOptions) {
  const parameters = resultParameters(maxTimeoutMs)

  function waitCommand(c: Context<Env>, defaultWaitMs: number): WaitCommand {
    const ref = execution(c)
    const { wait: waitMs = defaultWaitMs } = queryParameters(c, parameters)
    return { ref, followsChain: ref.runId === undefined, waitMs }
  }

  return new Hono<Env>().get('/result', async (c) => {
    if (prefersEvents(c)) {
      const command = waitCommand(c, Math.min(DEFAULT_STREAM_MS, maxTimeoutMs))
      const last = lastReadRun(c, command.ref)
      const ref = last?.run ?? command.ref
      const wait: Parameters<typeof runEvents>[1]['wait'] = (onFound) =>
        workflows.waitForResult({ ...command, ref, onFound }, toCall(c))
      return runEvents(c, { last, commentEveryMs, wait })
    }
    // Without `wait` other parameters have always been ignored.
    if (c.req.query('wait') === undefined) return jsonResponse(c, await workflows.result(execution(c), toCall(c)))
    const command = waitCommand(c, 0)
    const ref = lastReadRun(c, command.ref)?.run ?? command.ref
    return jsonResponse(c, await workflows.waitForResult({ ...command, ref }, toCall(c)))
  })
}

export function resultParameters(maxTimeoutMs: number) {
  return z.strictObject({ wait: z.exactOptional(duration(maxTimeoutMs)) })
}
