/** The methods of a handle. */

import type { ActivityMethods } from './activity-requests.ts'
import type { ReasonOptions, WorkflowHandle } from './client.ts'
import type { Connection } from './connection/connection.ts'
import type { CallOptions } from './connection/options.ts'
import { historyPages } from './history.ts'
import { publishItems, sendQuery, sendSignal, updateAndWait } from './messages.ts'
import type { Stopped, WorkflowResult, WorkflowStatus } from './responses.ts'
import { createRunOfHandle } from './run-of-handle.ts'
import { createReads } from './runs/reads.ts'
import { createReports, type Reports } from './runs/reports.ts'
import { workflowStream } from './stream/read-stream.ts'
import { pathOf, pathSegment, type Target } from './target.ts'

export function createHandle(connection: Connection, target: Target): WorkflowHandle {
  const path = pathOf(target)
  const run = createRunOfHandle(connection, target)
  const reports = createReports(connection, run)

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

  return {
    ...createReads<{ workflowId: string }, WorkflowResult, WorkflowStatus>(connection, 'workflow', target),
    explain: (options) => get('explain', options),
    input: (options) => get('input', options),
    trace: (options) => get('trace-log', options),
    history: (options = {}) => historyPages(connection, path, options),
    stream: (options = {}) => workflowStream(connection, target, options),
    publish: (items, options = {}) => publishItems(connection, run, items, options),
    signal: (name, request = {}) => sendSignal(connection, run, name, request),
    query: (name, request = {}) => sendQuery(connection, path, name, request),
    update: (name, request = {}) => updateAndWait(connection, run, name, request),
    ...activityMethods(reports),
    // Without a run id the service stops the chain, also if it continues as a new run at this moment.
    stop: ({ signal, timeoutMs, ...body } = {}) =>
      control<Stopped>('PATCH', 'stop', target.isPinned, body)(path, { signal, timeoutMs }),
    pause: (request) => post('pause', true, request),
    unpause: (request) => post('unpause', true, request),
    // Not retryable: the engine would reject the repeated request, or carry it out again.
    terminate: (request) => post('terminate', false, request),
    questions: (options) => get('questions', options),
    answer: (key, content, options) =>
      reports.post(`questions/${pathSegment(key, 'a question')}/answer`, { ...options, content } as CallOptions),
    // Retryable: a link whose URL was lost cannot be used.
    link: (body, options = {}) => run.onOpenRun(control('POST', 'links', true, body), options),
    reset: (request) => reports.post('reset', request, {}),
  }
}

/** Ends activities that complete outside their worker, and repairs open ones. */
function activityMethods({ post, end }: Reports): ActivityMethods {
  const at = (activityId: string, name: string) => `activities/${pathSegment(activityId, 'an activity')}${name}`

  return {
    completeActivity: (id, request) => end(at(id, '/complete'), request),
    failActivity: (id, request) => end(at(id, '/fail'), request, request.retryable === false),
    cancelActivity: (id, request) => end(at(id, '/cancel'), request),
    heartbeatActivity: (id, request) => post(at(id, '/heartbeat'), request),
    activity: (id) => ({
      // Not retryable: the attempt that has begun may have failed, and would be repeated.
      retry: (request) => post(at(id, '/retry'), request, {}),
      pause: (request) => post(at(id, '/pause'), request),
      unpause: (options) => post(at(id, '/unpause'), options),
      set: (changes, options) => post(at(id, ''), { ...changes, ...options }, { method: 'PATCH' }),
    }),
  }
}
