import { expect } from 'vitest'

const MESSAGE = 'The service is stopping; continue at Location'

/**
 * The whole body of a 424 at shutdown, for a run that is still open. A busy engine may not describe the run in the 600
 * ms that are left. Then `workflowStatus` is missing, and nothing else.
 */
export function timedOutAtShutdown(workflowId: string, body: object): Record<string, unknown> {
  return {
    type: 'https://github.com/portico/portico/blob/main/docs/errors.md#workflowexecutiontimedouterror',
    title: 'Workflow did not complete in time',
    status: 424,
    detail: MESSAGE,
    error: 'WorkflowExecutionTimedOutError',
    message: MESSAGE,
    source: 'gateway',
    requestId: expect.any(String),
    workflowId,
    runId: expect.any(String),
    ...(!isStatusUnread(body) && { workflowStatus: 'running' }),
  }
}

export function isStatusUnread(body: object): boolean {
  return !('workflowStatus' in body)
}
