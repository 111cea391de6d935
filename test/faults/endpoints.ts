/** A request to each endpoint that needs the engine, about one run. */

import { ENDPOINTS } from '../../src/service/endpoints.ts'
import type { Endpoint } from '../../src/service/http/endpoint.ts'
import type { Answer, Api } from '../support/api.ts'

export interface EndpointAnswer extends Answer {
  /** Like `GET /workflow/:id/status`. */
  endpoint: string
}

export type EndpointRequest = [method: string, path: string, body?: unknown]

/** The endpoints whose response depends on more than the engine, or that would change what the others find. */
const OTHERS = new Set([
  ...['bulk', 'validateRequest', 'getCatalog', 'getCatalogByName'],
  ...['streamWorkflowHistory', 'getWorkflowUpdate', 'resetWorkflow', 'pauseWorkflow', 'unpauseWorkflow'],
  ...['streamRunHistory', 'getRunUpdate', 'resetRun', 'pauseRun', 'unpauseRun'],
  ...['streamWorkflowTrace', 'streamRunTrace'],
  ...['streamWorkflow', 'streamRun', 'publishToWorkflow', 'publishToRun'],
  // They need a signing key.
  ...['createWorkflowLink', 'createRunLink'],
])

/** The endpoints that read a run at once, as the end of their path: `status`. */
export const READS_OF_RUN = ENDPOINTS.flatMap(({ method, path }) => {
  const [, what] = /^\/workflow\/:id\/([a-z-]+)$/.exec(path) ?? []
  return method !== 'get' || what === undefined || ['result', 'stream'].includes(what) ? [] : [what]
})

const HANDLERS: Readonly<Record<string, string>> = { signal: 'add', query: 'state', update: 'set' }

/** What acts on the run, reads it, or starts another. */
export function runEndpoints(run: { workflowId: string; runId: string }): EndpointRequest[] {
  return ENDPOINTS.filter(({ id, path }) => path.startsWith('/workflow/') && !OTHERS.has(id)).map((endpoint) =>
    requestTo(endpoint, run),
  )
}

/** A valid request to the endpoint, about the run if it is about one. `more` names other values in its path. */
export function requestTo(
  { method, path, body }: Endpoint,
  { workflowId, runId }: { workflowId: string; runId: string },
  more: Readonly<Record<string, string>> = {},
): EndpointRequest {
  const [kind = ''] = /(?:signal|query|update)(?=(?:-with-start)?\/:name(?:$|\/))/.exec(path) ?? []
  const values: Readonly<Record<string, string | undefined>> = {
    id: workflowId,
    rid: runId,
    name: HANDLERS[kind],
    updateId: 'none',
    activityId: path.startsWith('/activity/') ? workflowId : 'approval',
    questionKey: 'question-1',
    catalog: 'other',
    taskQueue: 'other',
    scheduleId: workflowId,
    batchId: `${'0'.repeat(16)}-${'0'.repeat(32)}`,
    file: 'page.css',
    token: 'none',
    ...more,
  }
  const filled = path.replace(/:(\w+)/g, (_, name: string) => values[name] ?? '')
  const query = path.endsWith('/times') ? `?from=${RANGE.from}&until=${RANGE.until}` : ''
  return [method.toUpperCase(), filled + query, body && BODIES.get(body.name)]
}

const RANGE = { from: '2026-01-01T00:30:00Z', until: '2026-01-01T01:30:00Z' }

const BODIES = new Map<string, object>([
  ['BulkLine', { workflowName: 'nothing', input: null }],
  ['StartRequest', { workflowName: 'nothing', input: null }],
  ['SignalWithStartRequest', { workflowName: 'messages', input: null, payload: 1 }],
  ['UpdateWithStartRequest', { workflowName: 'messages', input: null, payload: 1 }],
  ['MessageRequest', { payload: 1 }],
  ['ResetRequest', { eventId: 4 }],
  ['CompleteActivityRequest', { output: 1 }],
  ['FailActivityRequest', { message: 'no', retryable: false }],
  ['CancelActivityRequest', { details: 1 }],
  ['HeartbeatRequest', { details: 1 }],
  ['RetryActivityRequest', { dropHeartbeat: true }],
  ['PauseActivityRequest', { reason: 'a test' }],
  ['SetActivityRequest', { heartbeatTimeout: '2m' }],
  ['SetOptionsRequest', { priority: { priorityKey: 2 } }],
  ['StartActivityRequest', { activityName: 'echoBack', input: null }],
  ['ScheduleRequest', { workflowName: 'nothing', input: null, when: { every: [{ interval: '1h' }] } }],
  ['ScheduleReasonRequest', { reason: 'a test' }],
  ['TriggerRequest', {}],
  ['BackfillRequest', RANGE],
  ['BatchRequest', { operation: 'signal', signal: 'add', filter: { query: "WorkflowId = 'nobody'" } }],
  ['LinkRequest', { title: 'Add?', signal: 'add', choices: [{ label: 'Yes', payload: 1 }] }],
  ['LinkAnswer', { choice: 'Yes' }],
  ['PublishRequest', { topic: 't', data: 1 }],
  ['AnswerRequest', { content: { approved: true } }],
  ['TokenRequest', { can: ['read'] }],
  ['McpMessage', { jsonrpc: '2.0', id: 1, method: 'tools/list' }],
])

/** What a service answers from memory for a while. */
export const CATALOG_ENDPOINTS: EndpointRequest[] = [
  ['GET', '/workflow/catalog'],
  ['GET', '/workflow/catalog/other'],
]

/** All at once. */
export function callEach(api: Pick<Api, 'call'>, endpoints: readonly EndpointRequest[]): Promise<EndpointAnswer[]> {
  return Promise.all(
    endpoints.map(async ([method, path, body]) => ({
      ...(await api.call(method, path, body)),
      endpoint: `${method} ${path}`,
    })),
  )
}

/** Each endpoint with its status and error name, so that a failed assertion names them. */
export function toStatusLines(answers: readonly EndpointAnswer[]): string[] {
  return answers.map(({ endpoint, status, body }) => `${endpoint} ${status} ${body?.error}`)
}
