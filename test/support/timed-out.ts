import { expect } from 'vitest'

const UNREAD = '; its status could not be read'

/**
 * The whole body of a 408 at shutdown, for a run that is still open. A busy engine may not describe the run in the 600
 * ms that are left. Then `workflowStatus` is missing, nothing else, and the message says so.
 */
export function timedOutAtShutdown(workflowId: string, { message }: { message?: unknown }): Record<string, unknown> {
  const isUnread = isStatusUnread(message)
  const expected = expect.stringMatching(
    new RegExp(
      `^Workflow ${workflowId} did not complete within \\d+ ms${isUnread ? UNREAD : ' and is still running'}$`,
    ),
  )
  return {
    type: 'https://github.com/portico/portico/blob/main/docs/errors.md#workflowexecutiontimedouterror',
    title: 'Workflow did not complete in time',
    status: 408,
    detail: expected,
    error: 'WorkflowExecutionTimedOutError',
    message: expected,
    source: 'gateway',
    requestId: expect.any(String),
    workflowId,
    runId: expect.any(String),
    ...(!isUnread && { workflowStatus: 'running' }),
  }
}

export function isStatusUnread(message: unknown): boolean {
  return String(message).endsWith(UNREAD)
}
