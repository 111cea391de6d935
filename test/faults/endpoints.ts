/** A request to each endpoint that needs the engine, about one run. */
import type { Answer, Api } from '../support/api.ts'
import { runningMs } from '../support/running-ms.ts'

export interface TimedAnswer extends Answer {
  /** Like `GET /workflow/:id/status`. */
  endpoint: string
  /** Duration, for a service inside this process. */
  ms: number
}

type Endpoint = [method: string, path: string, body?: unknown]

/** What acts on the run, reads it, or starts another. */
export function runEndpoints({ workflowId, runId }: { workflowId: string; runId: string }): Endpoint[] {
  return [
    ['POST', '/workflow/run', { workflowName: 'nothing', input: null }],
    ['POST', '/workflow/start', { workflowName: 'nothing', input: null }],
    ['POST', '/workflow/update-with-start/set', { workflowName: 'messages', input: null, payload: 1 }],
    ['GET', `/workflow/${workflowId}/status`],
    ['GET', `/workflow/${workflowId}/explain`],
    ['GET', `/workflow/${workflowId}/result`],
    ['GET', `/workflow/${workflowId}/input`],
    ['GET', `/workflow/${workflowId}/history`],
    ['GET', `/workflow/${workflowId}/trace-log`],
    ['GET', '/workflow/runs'],
    ['GET', '/workflow/runs/count'],
    ['POST', `/workflow/${workflowId}/signal/add`, { payload: 1 }],
    ['POST', `/workflow/${workflowId}/query/state`],
    ['POST', `/workflow/${workflowId}/update/set`, { payload: 1 }],
    ['PATCH', `/workflow/${workflowId}/stop`],
    ['POST', `/workflow/${workflowId}/terminate`],
    ['GET', `/workflow/${workflowId}/runs/${runId}/status`],
    ['GET', `/workflow/${workflowId}/runs/${runId}/result`],
    ['GET', `/workflow/${workflowId}/runs/${runId}/trace-log`],
    ['POST', `/workflow/${workflowId}/runs/${runId}/signal/add`, { payload: 1 }],
    ['POST', `/workflow/${workflowId}/runs/${runId}/query/state`],
    ['POST', `/workflow/${workflowId}/runs/${runId}/update/set`, { payload: 1 }],
    ['PATCH', `/workflow/${workflowId}/runs/${runId}/stop`],
    ['POST', `/workflow/${workflowId}/runs/${runId}/terminate`],
  ]
}

/** What a service answers from memory for a while. */
export const CATALOG_ENDPOINTS: Endpoint[] = [
  ['GET', '/workflow/catalog'],
  ['GET', '/workflow/catalog/other'],
]

/** All at once. */
export function callEach(api: Pick<Api, 'call'>, endpoints: readonly Endpoint[]): Promise<TimedAnswer[]> {
  return Promise.all(
    endpoints.map(async ([method, path, body]) => {
      const sentAt = runningMs()
      const answer = await api.call(method, path, body)
      return { ...answer, endpoint: `${method} ${path}`, ms: runningMs() - sentAt }
    }),
  )
}

/** Each endpoint with its status and error name, so that a failed assertion names them. */
export function toStatusLines(answers: readonly TimedAnswer[]): string[] {
  return answers.map(({ endpoint, status, body }) => `${endpoint} ${status} ${body?.error}`)
}

export function slowestMs(answers: readonly Pick<TimedAnswer, 'ms'>[]): number {
  return Math.max(...answers.map(({ ms }) => ms))
}
