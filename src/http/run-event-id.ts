/** Ids of the events of a run, which a client that reconnects sends in `Last-Event-ID`. */
import type { Context } from 'hono'
import { ServiceError } from '../domain/model/errors.ts'
import type { ExecutionRef } from '../domain/model/execution.ts'
import { percentEncode } from '../lib/percent-encode.ts'
import { UUID_PATTERN, workflowIdIssue } from '../protocol/names.ts'
import type { RunRef } from '../protocol/run-ref.ts'

/** Has only characters that every client can send in a header, whatever the workflow id. */
export function runEventId({ workflowId, runId }: RunRef): string {
  return `${percentEncode(workflowId)}/${runId}`
}

/** The id of an event after which nothing follows. */
export function lastRunEventId(run: RunRef): string {
  return `${runEventId(run)}/end`
}

export interface LastRead {
  run: RunRef
  /** Whether the client has received the last event. */
  isEnd: boolean
}

const RUN_EVENT_ID = new RegExp(`^([^/]+)/(${UUID_PATTERN})(/end)?$`)

/**
 * The run that `Last-Event-ID` names; null without it.
 * Throws `WorkflowNotFoundError` if that is not a run of `expected`.
 */
export function lastReadRun(c: Context, expected: Partial<ExecutionRef>): LastRead | null {
  const id = c.req.header('Last-Event-ID') ?? ''
  if (id === '') return null
  const [, encoded = '', runId = '', end] = RUN_EVENT_ID.exec(id) ?? []
  const workflowId = decode(encoded)
  const isExpected = workflowId === (expected.workflowId ?? workflowId) && runId === (expected.runId ?? runId)
  if (isExpected && workflowIdIssue(workflowId) === null)
    return { run: { workflowId, runId: runId.toLowerCase() }, isEnd: end !== undefined }
  throw new ServiceError('WorkflowNotFoundError', 'Last-Event-ID does not name a run of this request', {
    details: { source: 'gateway' },
  })
}

/** An empty string, which is not a workflow id, for what is not percent-encoded UTF-8. */
function decode(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return ''
  }
}
