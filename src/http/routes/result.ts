import { type Context, Hono } from 'hono'
import * as z from 'zod/mini'
import type { WaitCommand, Workflows } from '../../domain/model/workflows.ts'
import { type Env, toCall } from '../context.ts'
import { prefersEvents } from '../events.ts'
import { bodyParameter, resultResponder } from '../output-body.ts'
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
  const parameters = z.extend(resultParameters(maxTimeoutMs), bodyParameter)

  function waitCommand(c: Context<Env>, waitMs: number): WaitCommand {
    const ref = execution(c)
    return { ref, followsChain: ref.runId === undefined, waitMs }
  }

  return new Hono<Env>().get('/result', async (c) => {
    if (prefersEvents(c)) {
      const { wait: waitMs = Math.min(DEFAULT_STREAM_MS, maxTimeoutMs), ...given } = queryParameters(c, parameters)
      resultResponder(c, given)
      const command = waitCommand(c, waitMs)
      const last = lastReadRun(c, command.ref)
      const ref = last?.run ?? command.ref
      const wait: Parameters<typeof runEvents>[1]['wait'] = (onFound) =>
        workflows.waitForResult({ ...command, ref, onFound }, toCall(c))
      return runEvents(c, { last, commentEveryMs, wait })
    }
    // Without these, other parameters have always been ignored.
    const isPlain = c.req.query('wait') === undefined && c.req.query('body') === undefined
    const { wait: waitMs, ...given } = isPlain ? {} : queryParameters(c, parameters)
    const respond = resultResponder(c, given)
    if (waitMs === undefined) return respond(await workflows.result(execution(c), toCall(c)))
    const command = waitCommand(c, waitMs)
    const ref = lastReadRun(c, command.ref)?.run ?? command.ref
    return respond(await workflows.waitForResult({ ...command, ref }, toCall(c)))
  })
}

export function resultParameters(maxTimeoutMs: number) {
  return z.strictObject({ wait: z.exactOptional(duration(maxTimeoutMs)) })
}
