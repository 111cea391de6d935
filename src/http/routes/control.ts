import { Hono } from 'hono'
import * as z from 'zod/mini'
import type { Workflows } from '../../domain/workflows.ts'
import { characterFault } from '../../protocol/names.ts'
import { answer } from '../answer.ts'
import { call, type Env } from '../context.ts'
import type { ReadJson } from '../json.ts'
import { execution } from '../path.ts'
import { textWithout } from '../text.ts'

/** How an execution is ended from outside. */
export function control(workflows: Workflows, json: ReadJson) {
  return new Hono<Env>()
    .patch('/stop', async (c) => {
      const ref = execution(c)
      const { reason = null } = await json(c, endRequest)
      const { workflowId, runId, cancelRequested, status } = await workflows.stop(ref, reason, call(c))
      return answer(c, { workflowId, runId, cancelRequested, status })
    })
    .post('/terminate', async (c) => {
      const ref = execution(c)
      const { reason = null } = await json(c, endRequest)
      const { workflowId, runId } = await workflows.terminate(ref, reason, call(c))
      return answer(c, { workflowId, runId, terminated: true })
    })
}

const endRequest = z.strictObject({ reason: z.exactOptional(textWithout(characterFault)) })
