/** The methods of a handle. */
import { activityMethods } from './activities/activity-methods.ts'
import type { ReasonOptions, ResultOptions, WorkflowHandle } from './client.ts'
import type { Connection } from './connection/connection.ts'
import type { CallOptions } from './connection/options.ts'
import { readHistory } from './lists.ts'
import { publish, query, signal, update } from './messages.ts'
import { PorticoError } from './portico-error.ts'
import type { Stopped, WorkflowResult } from './responses.ts'
import { createRunOfHandle } from './run-of-handle.ts'
import { readStream } from './stream/read-stream.ts'
import { pathOf, type Target } from './target.ts'
import { resultRequest, untilEnded } from './wait.ts'

export function createHandle(connection: Connection, target: Target): WorkflowHandle {
  const { workflowId, runId, isPinned } = target
  const path = pathOf(target)
  const run = createRunOfHandle(connection, target)

  function get<Body>(name: string, options?: CallOptions): Promise<Body> {
    return connection.send({ method: 'GET', path: `${path}/${name}`, isRetryable: true }, options)
  }

  /** Sends `body` to this run. */
  function control<Body>(method: string, name: string, isRetryable: boolean, body: object) {
    return (path: string, options: CallOptions): Promise<Body> =>
      connection.send({ method, path: `${path}/${name}`, body, isRetryable }, options)
  }

  /** Sends a POST to the open run. */
  function post<Body>(name: string, isRetryable: boolean, { signal, timeoutMs, ...body }: ReasonOptions = {}) {
    return run.onOpenRun(control<Body>('POST', name, isRetryable, body), { signal, timeoutMs })
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
    stream: (options = {}) => readStream(connection, target, options),
    publish: (items, options = {}) => publish(connection, run, items, options),
    signal: (name, request = {}) => signal(connection, run, name, request),
    query: (name, request = {}) => query(connection, path, name, request),
    update: (name, request = {}) => update(connection, run, name, request),
    ...activityMethods(connection, run),
    // Without a run id the service stops the chain, also if it continues as a new run at this moment.
    stop: ({ signal, timeoutMs, ...body } = {}) =>
      control<Stopped>('PATCH', 'stop', isPinned, body)(path, { signal, timeoutMs }),
    pause: (request) => post('pause', true, request),
    unpause: (request) => post('unpause', true, request),
    // Not retryable: the engine would reject the repeated request, or carry it out again.
    terminate: (request) => post('terminate', false, request),
    // Retryable: a link whose URL was lost cannot be used.
    link: (body, options = {}) => run.onOpenRun(control('POST', 'links', true, body), options),
    reset: ({ signal, timeoutMs, ...body }) =>
      run.onLatestRun(control('POST', 'reset', false, body), { signal, timeoutMs }),
  }
}

/** The output. Throws `WorkflowFailedError` for a run that did not complete. */
export function outputOf(result: WorkflowResult): unknown {
  if (result.status === 'completed') return result.output
  const { workflowId, runId, status: workflowStatus, error } = result
  const message = error ?? `Workflow ${workflowId} continued as a new run`
  throw new PorticoError('WorkflowFailedError', message, { status: null, workflowId, runId, workflowStatus, result })
}
