import type { Context } from 'hono'
import * as z from 'zod/mini'
import type { StartCommand } from '../../domain/workflows.ts'
import { durationMs } from '../../lib/duration.ts'
import { isObject } from '../../lib/is-object.ts'
import { catalogFault, workflowIdFault, workflowNameFault } from '../../protocol/names.ts'
import type { Env } from '../context.ts'
import { textWithout } from '../text.ts'

/** What a body that starts a workflow has. */
export function startFields(maxTimeoutMs: number) {
  return {
    workflowName: textWithout(workflowNameFault),
    input: z.exactOptional(z.unknown()),
    workflowId: z.exactOptional(textWithout(workflowIdFault)),
    catalog: z.exactOptional(textWithout(catalogFault)),
    taskQueue: z.exactOptional(textWithout(catalogFault)),
    timeout: z.exactOptional(timeout(maxTimeoutMs)),
  }
}

/** Beside `input`: several arguments, or none. `args` where the body has no handler's. */
export const severalArguments = z.exactOptional(z.array(z.unknown()))

type SeveralKey = 'args' | 'startArgs'

export function inputOr(several: SeveralKey) {
  return z.refine<object>((body) => 'input' in body !== several in body, {
    message: `must contain either input (one argument) or ${several} (an array with one element per argument)`,
    // Reported beside the faults of single fields.
    when: ({ value }) => isObject(value),
  })
}

interface StartBody {
  workflowName: string
  workflowId?: string
  catalog?: string
  taskQueue?: string
  input?: unknown
  args?: unknown[]
  startArgs?: unknown[]
}

/** `catalog`, or its old name, or the default; the answer tells when it was the old name. */
export function startCommand(
  c: Context<Env>,
  body: StartBody,
  defaultCatalog: string,
  several: SeveralKey,
): StartCommand {
  const { workflowId, workflowName, taskQueue, catalog = taskQueue ?? defaultCatalog } = body
  if (taskQueue !== undefined) deprecateTaskQueue(c)
  return { ...(workflowId !== undefined && { workflowId }), workflowName, catalog, ...startArguments(body, several) }
}

function startArguments(body: StartBody, several: SeveralKey): Pick<StartCommand, 'args' | 'argumentPointer'> {
  return 'input' in body
    ? { args: [body.input], argumentPointer: '/input' }
    : { args: body[several] ?? [], argumentPointer: `/${several}/0` }
}

/** In milliseconds: a number of them, or a string with its unit. */
function timeout(maxTimeoutMs: number) {
  const message = `must be a number of milliseconds or a duration like "30s", greater than 0 and at most ${maxTimeoutMs} ms`
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
