/** The methods of a handle. */

import type { ActivityMethods, CancelActivityRequest } from './activity-requests.ts'
import type { ReasonOptions, ResultOptions, WorkflowHandle } from './client.ts'
import type { Connection } from './connection/connection.ts'
import { newIdempotencyKey, withKey } from './connection/idempotency-key.ts'
import type { CallOptions } from './connection/options.ts'
import { historyPages } from './history.ts'
import { publishItems, sendQuery, sendSignal, updateAndWait } from './messages.ts'
import { PorticoError, withFacts } from './portico-error.ts'
import type { Stopped, WorkflowResult } from './responses.ts'
import { createRunOfHandle, type RunOfHandle } from './run-of-handle.ts'
import { workflowStream } from './stream/read-stream.ts'
import { pathOf, pathSegment, type Target } from './target.ts'
import { resultRequest, untilEnded } from './wait.ts'

export function createHandle(connection: Connection, target: Target): WorkflowHandle {
  const { workflowId, runId, isPinned } = target
  const path = pathOf(target)
  const run = createRunOfHandle(connection, target)

  function get<Body>(name: string, options?: CallOptions): Promise<Body> {
    return connection.send({ method: 'GET', path: `${path}/${name}` }, options)
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
    history: (options = {}) => historyPages(connection, path, options),
    stream: (options = {}) => workflowStream(connection, target, options),
    publish: (items, options = {}) => publishItems(connection, run, items, options),
    signal: (name, request = {}) => sendSignal(connection, run, name, request),
    query: (name, request = {}) => sendQuery(connection, path, name, request),
    update: (name, request = {}) => updateAndWait(connection, run, name, request),
    ...activityMethods(connection, run),
    // Without a run id the service stops the chain, also if it continues as a new run at this moment.
    stop: ({ signal, timeoutMs, ...body } = {}) =>
      control<Stopped>('PATCH', 'stop', isPinned, body)(path, { signal, timeoutMs }),
    pause: (request) => post('pause', true, request),
    unpause: (request) => post('unpause', true, request),
    // Not retryable: the engine would reject the repeated request, or carry it out again.
    terminate: (request) => post('terminate', false, request),
    questions: (options) => get('questions', options),
    answer: (key, content, options = {}) => {
      const name = `questions/${pathSegment(key, 'a question')}/answer`
      return run.onLatestRun(control('POST', name, true, { content }), options)
    },
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

/** Ends activities that complete outside their worker, and repairs open ones. */
function activityMethods({ send }: Connection, run: RunOfHandle): ActivityMethods {
  function post<Body>(
    activityId: string,
    name: string,
    { signal, timeoutMs, ...body }: CallOptions,
    { method = 'POST', ...keyed }: { method?: string; headers?: Record<string, string>; isRetryable: boolean },
  ): Promise<Body> {
    const to = ['activities', pathSegment(activityId, 'an activity'), ...(name === '' ? [] : [name])].join('/')
    return run.onLatestRun((path, options) => send<Body>({ method, path: `${path}/${to}`, body, ...keyed }, options), {
      signal,
      timeoutMs,
    })
  }

  async function end<Body>(
    activityId: string,
    name: string,
    { idempotencyKey = newIdempotencyKey(), ...request }: CancelActivityRequest,
    isRetryable: boolean,
  ): Promise<Body> {
    try {
      return await post(activityId, name, request, { ...withKey(idempotencyKey), isRetryable })
    } catch (error) {
      throw withFacts(error, { idempotencyKey })
    }
  }

  return {
    completeActivity: (activityId, request = {}) => end(activityId, 'complete', request, true),
    failActivity: (activityId, request) => end(activityId, 'fail', request, request.retryable === false),
    cancelActivity: (activityId, request = {}) => end(activityId, 'cancel', request, true),
    heartbeatActivity: (activityId, request = {}) => post(activityId, 'heartbeat', request, { isRetryable: true }),
    activity: (id) => ({
      // Not retryable: the attempt that has begun may have failed, and would be repeated.
      retry: (body = {}) => post(id, 'retry', body, { isRetryable: false }),
      pause: (body = {}) => post(id, 'pause', body, { isRetryable: true }),
      unpause: (options = {}) => post(id, 'unpause', options, { isRetryable: true }),
      set: (changes, options = {}) => post(id, '', { ...changes, ...options }, { method: 'PATCH', isRetryable: true }),
    }),
  }
}
