/** What can be done with a workflow that exists. */
import type { CallOptions, ReasonOptions, WorkflowHandle } from './client.ts'
import type { Connection } from './connection/connection.ts'
import { readHistory } from './history.ts'
import { query, signal, update } from './messages.ts'
import { PorticoError } from './portico-error.ts'
import type { WorkflowResult } from './responses.ts'
import { pathOf, type Target } from './target.ts'
import { resultRequest, untilEnded } from './wait.ts'

export function createHandle(connection: Connection, target: Target): WorkflowHandle {
  const { workflowId, runId, isPinned } = target
  const path = pathOf(target)

  function get<Body>(name: string, options?: CallOptions): Promise<Body> {
    return connection.send({ method: 'GET', path: `${path}/${name}`, isRepeatable: true }, options)
  }

  const resultSettled = (options: CallOptions = {}) =>
    untilEnded(
      connection,
      resultRequest(target),
      { workflowId, ...(runId !== undefined && { runId }), isPinned },
      options,
    )

  return {
    workflowId,
    ...(runId !== undefined && { runId }),
    resultSettled,
    result: async (options) => outputOf(await resultSettled(options)),
    status: (options) => get('status', options),
    explain: (options) => get('explain', options),
    history: (options = {}) => readHistory(connection, path, options),
    signal: (name, request = {}) => signal(connection, path, name, request),
    query: (name, request = {}) => query(connection, path, name, request),
    update: (name, request = {}) => update(connection, path, name, request),
    // Without a run id the repeated request could reach a later run.
    stop: ({ reason, ...options }: ReasonOptions = {}) =>
      connection.send({ method: 'PATCH', path: `${path}/stop`, body: { reason }, isRepeatable: isPinned }, options),
    // The response to the repeated request would be that the run is closed.
    terminate: ({ reason, ...options }: ReasonOptions = {}) =>
      connection.send({ method: 'POST', path: `${path}/terminate`, body: { reason }, isRepeatable: false }, options),
  }
}

/** The output. Throws `WorkflowFailedError` for a run that did not complete. */
export function outputOf(result: WorkflowResult): unknown {
  if (result.status === 'completed') return result.output
  const { workflowId, runId, status: workflowStatus, error } = result
  const message = error ?? `Workflow ${workflowId} continued as a new run`
  throw new PorticoError('WorkflowFailedError', message, { status: null, workflowId, runId, workflowStatus, result })
}
