/** The methods of a workflow, by its name: starts. */
import type { Workflow } from './client.ts'
import type { Connection } from './connection/connection.ts'
import type { HttpRequest } from './connection/request.ts'
import { createHandle } from './handle.ts'
import { readUpdate, sendUpdate, type WaitInRun } from './messages.ts'
import { PorticoError } from './portico-error.ts'
import type { RunRef, WorkflowResult } from './responses.ts'
import { createStarts } from './runs/starts.ts'
import { pathOf, pathSegment, toTarget } from './target.ts'

export function createWorkflow(connection: Connection, workflowName: string, catalog?: string): Workflow {
  const { start, ...runs } = createStarts<WorkflowResult>(connection, 'workflow', workflowName, catalog)

  return {
    ...runs,
    async start(given = {}) {
      const { workflowId, runId } = await start<RunRef>('start', 'args', given)
      return createHandle(connection, { workflowId, runId, isPinned: false })
    },
    signalWithStart: (name, given) => start(`signal-with-start/${pathSegment(name, 'a signal')}`, 'startArgs', given),
    updateWithStart(name, given) {
      const handler = pathSegment(name, 'an update')
      const { workflowId, workflowIdConflictPolicy: policy } = given
      const isPinnable = workflowId !== undefined && policy !== 'terminate-existing'
      return start(`update-with-start/${handler}`, 'startArgs', given, (request, options = {}) =>
        sendUpdate(connection, request, options, isPinnable ? inRun(connection, request, handler) : undefined),
      )
    },
    get: (ref) => createHandle(connection, toTarget(ref)),
  }
}

interface UpdatedRun extends RunRef {
  started: boolean
  result: unknown
}

/**
 * Sends the update of a with-start to the run that has it. If the with-start has started that run, the service rejects
 * its key for an update alone: then the update is only read.
 */
function inRun(connection: Connection, request: HttpRequest, handler: string): WaitInRun<UpdatedRun> {
  const { payload, args, payloads, headers } = request.body as Record<string, unknown>
  return async (unanswered, send, limits) => {
    const { workflowId = '', runId = '' } = unanswered
    const path = `${pathOf({ workflowId, runId, isPinned: true })}/update/${handler}`
    const body = { payload, args, payloads, headers }
    try {
      const result = await send<unknown>({ ...request, path, body, isRetryable: true })
      return { workflowId, runId, started: false, result }
    } catch (error) {
      if (!(error instanceof PorticoError) || error.error !== 'IdempotencyKeyReusedError') throw error
      return { workflowId, runId, started: true, result: await readUpdate(connection, path, unanswered, limits) }
    }
  }
}
