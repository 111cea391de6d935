/** Every place where the API shows a value of a run. */
import type { Api } from '../../support/api.ts'
import { callOfTask } from '../../support/call-of-task.ts'
import type { Value } from './kinds.ts'

export interface Place {
  name: string
  /** Whether values are as they are here, redacted, or not shown at all. */
  has: 'nothing' | 'redacted' | 'value'
  read(api: Api, run: Ids, value: Value): Promise<string>
}

interface Ids {
  workflowId: string
  runId: string
}

const get = (path: string, headers?: Record<string, string>): Place['read'] => {
  return async (api, { workflowId }) => (await api.get(`${workflowId}/${path}`, headers)).text
}

const post = (path: string): Place['read'] => {
  return async (api, { workflowId }, payload) => (await api.post(`${workflowId}/${path}`, { payload })).text
}

const tool = (name: string, more?: object): Place['read'] => {
  return async (api, run, payload) => {
    const params = { name, arguments: { ...run, ...(more && { ...more, payload }) } }
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    return (await api.call('POST', '/mcp', message, { Accept: 'application/json, text/event-stream' })).text
  }
}

/** What the holder of a link gets after an answer that is sent as an update. */
const link: Place['read'] = async (api, { workflowId }, payload) => {
  const choices = [{ label: 'Swap', payload }]
  const { body } = await api.post(`${workflowId}/links`, { title: 'Swap?', update: 'swap', choices })
  const path = body.url.slice(PUBLIC_URL.length)
  return (await api.call('POST', path, { choice: 'Swap' }, { Accept: 'application/json' })).text
}

const task: Place['read'] = async (api, { workflowId, runId }) =>
  (await callOfTask(api, 'tasks/get', { taskId: `${workflowId}/${runId}` })).text

const EVENTS = { Accept: 'text/event-stream' }
const list: Place['read'] = async (api) => (await api.call('GET', '/workflow/runs')).text

/** Where links point to. */
export const PUBLIC_URL = 'https://portico.example'

export const OPEN: readonly Place[] = [
  { name: 'status', has: 'redacted', read: get('status') },
  { name: 'history', has: 'redacted', read: get('history?pageSize=1000') },
  { name: 'trace-log', has: 'redacted', read: get('trace-log') },
  { name: 'input', has: 'value', read: get('input') },
  { name: 'stream', has: 'value', read: get('stream', { Accept: 'application/json' }) },
  { name: 'query', has: 'value', read: post('query/peek') },
  { name: 'update', has: 'value', read: post('update/swap') },
  { name: 'link', has: 'value', read: link },
  { name: 'task', has: 'nothing', read: task },
  { name: 'explain', has: 'nothing', read: get('explain') },
  { name: 'runs', has: 'nothing', read: list },
  { name: 'workflow_query', has: 'value', read: tool('workflow_query', { query: 'peek' }) },
  { name: 'workflow_update', has: 'value', read: tool('workflow_update', { update: 'swap' }) },
  { name: 'workflow_explain', has: 'nothing', read: tool('workflow_explain') },
]

export const CLOSED: readonly Place[] = [
  { name: 'result', has: 'value', read: get('result') },
  { name: 'workflow_result', has: 'value', read: tool('workflow_result') },
  { name: 'task', has: 'value', read: task },
  { name: 'status', has: 'redacted', read: get('status') },
  { name: 'history', has: 'redacted', read: get('history?pageSize=1000') },
  { name: 'history/stream', has: 'redacted', read: get('history/stream', EVENTS) },
  { name: 'trace-log', has: 'redacted', read: get('trace-log') },
  { name: 'stream', has: 'value', read: get('stream', EVENTS) },
  { name: 'result as events', has: 'value', read: get('result?wait=10s', EVENTS) },
]
