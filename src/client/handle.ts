/** What can be done with a workflow that exists. */
import type { CallOptions, ReasonOptions, ResultOptions, WorkflowHandle } from './client.ts'
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
    return connection.send({ method: 'GET', path: `${path}/${name}`, isRetryable: true }, options)
  }

  /** Without a run id a repeated request could reach a later run. */
  function control<Body>(
    method: string,
    name: string,
    isRetryable: boolean,
    { signal, timeoutMs, ...body }: ReasonOptions = {},
  ): Promise<Body> {
    return connection.send({ method, path: `${path}/${name}`, body, isRetryable }, { signal, timeoutMs })
  }

  const resultSettled = (options: ResultOptions = {}) =>
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
    input: (options) => get('input', options),
    trace: (options) => get('trace-log', options),
    history: (options = {}) => readHistory(connection, path, options),
    signal: (name, request = {}) => signal(connection, path, name, request),
    query: (name, request = {}) => query(connection, path, name, request),
    update: (name, request = {}) => update(connection, path, name, request),
    stop: (request) => control('PATCH', 'stop', isPinned, request),
    pause: (request) => control('POST', 'pause', isPinned, request),
    unpause: (request) => control('POST', 'unpause', isPinned, request),
    // The engine would reject the repeated request, or carry it out once more.
    terminate: (request) => control('POST', 'terminate', false, request),
    reset: (request) => control('POST', 'reset', false, request),
  }
}

/** The output. Throws `WorkflowFailedError` for a run that did not complete. */
export function outputOf(result: WorkflowResult): unknown {
  if (result.status === 'completed') return result.output
  const { workflowId, runId, status: workflowStatus, error } = result
  const message = error ?? `Workflow ${workflowId} continued as a new run`
  throw new PorticoError('WorkflowFailedError', message, { status: null, workflowId, runId, workflowStatus, result })
}
