/** Every place where the API shows a value of a run. */
import { ENDPOINTS } from '../../../src/service/endpoints.ts'
import { generalDocument } from '../../../src/service/openapi/general-document.ts'
import type { Answer, Api } from '../../support/api.ts'
import { callOfTask, notificationOf } from '../../support/call-of-task.ts'
import { CALLER_HEADERS } from '../../support/policy.ts'
import type { Service } from '../../support/service.ts'
import type { Value } from './kinds.ts'

export interface Place {
  name: string
  /** The id of the endpoint that it requests. */
  endpoint: string
  /** Whether values are as they are here, redacted, or not shown at all. */
  has: 'nothing' | 'redacted' | 'value'
  read(api: Service, run: Ids, value: Value): Promise<string>
}

interface Ids {
  workflowId: string
  runId: string
}

type Read = (api: Api, base: string, payload: Value) => Promise<Answer>

/** A place below `/workflow/:id`, and the same below `/workflow/:id/runs/:rid`. */
function ofRun(name: string, endpoint: string, has: Place['has'], read: Read): [Place, Place] {
  return [
    { name, endpoint, has, read: async (api, { workflowId }, value) => (await read(api, workflowId, value)).text },
    {
      ...{ name: `${name}, pinned`, endpoint: endpoint.replace('Workflow', 'Run'), has },
      read: async (api, { workflowId, runId }, value) => (await read(api, `${workflowId}/runs/${runId}`, value)).text,
    },
  ]
}

const get =
  (path: string, headers?: Record<string, string>): Read =>
  (api, base) =>
    api.get(`${base}/${path}`, headers)

const post =
  (path: string): Read =>
  (api, base, payload) =>
    api.post(`${base}/${path}`, { payload })

/** The result of an update that was sent before. */
const updateLater: Read = async (api, base, payload) => {
  const { body } = await api.post(`${base}/update/swap`, { payload }, { Prefer: 'respond-async' })
  return api.get(`${base}/update/swap/${body.updateId}?wait=30s`)
}

const updateWithStart: Place['read'] = async (api, { workflowId }, payload) => {
  const start = { workflowName: 'carries', workflowId, startArgs: [payload, false] }
  return (await api.post('update-with-start/swap', { ...start, payload })).text
}

function tool(name: string, has: Place['has'], more?: object): Place {
  return {
    ...{ name, endpoint: 'sendMcpMessage', has },
    async read(api, run, payload) {
      const params = { name, arguments: { ...run, ...(more && { ...more, payload }) } }
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
      return (await api.call('POST', '/mcp', message, { Accept: 'application/json, text/event-stream' })).text
    },
  }
}

/** What the holder of a link gets after an answer that is sent as an update. */
const link: Place['read'] = async (api, { workflowId }, payload) => {
  const choices = [{ label: 'Swap', payload }]
  const { body } = await api.post(`${workflowId}/links`, { title: 'Swap?', update: 'swap', choices })
  const path = body.url.slice(PUBLIC_URL.length)
  return (await api.call('POST', path, { choice: 'Swap' }, { Accept: 'application/json' })).text
}

const taskIdOf = ({ workflowId, runId }: Ids) => `${workflowId}/${runId}`

const task: Place['read'] = async (api, run) => (await callOfTask(api, 'tasks/get', { taskId: taskIdOf(run) })).text

const EVENTS = { Accept: 'text/event-stream' }
const list =
  (path: string): Place['read'] =>
  async (api) =>
    (await api.call('GET', path)).text

/** Where links point to. */
export const PUBLIC_URL = 'https://portico.example'

export const OPEN: readonly Place[] = [
  ...ofRun('status', 'getWorkflowStatus', 'redacted', get('status')),
  ...ofRun('history', 'getWorkflowHistory', 'redacted', get('history?pageSize=1000')),
  ...ofRun('trace-log', 'getWorkflowTrace', 'redacted', get('trace-log')),
  ...ofRun('input', 'getWorkflowInput', 'value', get('input')),
  ...ofRun('stream', 'streamWorkflow', 'value', get('stream', { Accept: 'application/json' })),
  ...ofRun('query', 'queryWorkflow', 'value', post('query/peek')),
  ...ofRun('update', 'updateWorkflow', 'value', post('update/swap')),
  ...ofRun('update, read later', 'getWorkflowUpdate', 'value', updateLater),
  { name: 'update-with-start', endpoint: 'updateWithStart', has: 'value', read: updateWithStart },
  { name: 'link', endpoint: 'answerLink', has: 'value', read: link },
  { name: 'task', endpoint: 'sendMcpMessage', has: 'nothing', read: task },
  ...ofRun('explain', 'explainWorkflow', 'redacted', get('explain')),
  ...ofRun('questions', 'getWorkflowQuestions', 'nothing', get('questions')),
  { name: 'all questions', endpoint: 'listQuestions', has: 'nothing', read: list('/questions') },
  { name: 'runs', endpoint: 'listRuns', has: 'nothing', read: list('/workflow/runs') },
  tool('workflow_query', 'value', { query: 'peek' }),
  tool('workflow_update', 'value', { update: 'swap' }),
  tool('workflow_explain', 'nothing'),
]

export const CLOSED: readonly Place[] = [
  ...ofRun('result', 'getWorkflowResult', 'value', get('result')),
  tool('workflow_result', 'value'),
  { name: 'task', endpoint: 'sendMcpMessage', has: 'value', read: task },
  {
    ...{ name: 'subscription', endpoint: 'sendMcpMessage', has: 'value' },
    read: ({ url }, run) => notificationOf({ url, headers: CALLER_HEADERS }, taskIdOf(run)),
  },
  ...ofRun('status', 'getWorkflowStatus', 'redacted', get('status')),
  ...ofRun('history', 'getWorkflowHistory', 'redacted', get('history?pageSize=1000')),
  ...ofRun('history/stream', 'streamWorkflowHistory', 'redacted', get('history/stream', EVENTS)),
  ...ofRun('trace-log', 'getWorkflowTrace', 'redacted', get('trace-log')),
  ...ofRun('trace-log/stream', 'streamWorkflowTrace', 'redacted', get('trace-log/stream', EVENTS)),
  ...ofRun('stream', 'streamWorkflow', 'value', get('stream', EVENTS)),
  ...ofRun('result as events', 'getWorkflowResult', 'value', get('result?wait=10s', EVENTS)),
]

/** The endpoints that are no place, although their response can have any JSON, with the reason. */
export const NO_PLACES: Readonly<Record<string, string>> = {
  runWorkflow: 'a test of its own starts a run',
  sendMcpMessageToCatalog: 'the same as without a catalog',
  getCatalog: 'schemas of the worker',
  getCatalogByName: 'schemas of the worker',
  setWorkflowOptions: 'what the request has set',
  setRunOptions: 'what the request has set',
  getOpenApi: 'schemas',
  getSchedule: 'a test of its own creates a schedule',
  putSchedule: 'what getSchedule shows',
  runActivity: 'a test of its own starts activities',
  getActivityStatus: 'the same test',
  getActivityRunStatus: 'the same test',
  getActivityResult: 'the same test',
  getActivityRunResult: 'the same test',
  bulk: 'its lines are responses without values',
}

interface Schema {
  $ref?: string
  properties?: Readonly<Record<string, Schema>>
  items?: Schema
  additionalProperties?: Schema | boolean
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
  allOf?: readonly Schema[]
}

/** The ids of the endpoints whose successful response can have any JSON, or is a stream of events. */
export async function showingEndpoints(): Promise<string[]> {
  const { paths, components } = JSON.parse(JSON.stringify(await generalDocument()))

  /** Whether a part of the schema says nothing about its value. */
  function isOpen(schema: Schema, known: readonly string[] = []): boolean {
    const { $ref, properties = {}, items, additionalProperties: more } = schema
    if ($ref !== undefined) {
      const name = $ref.split('/').at(-1) ?? ''
      return !known.includes(name) && isOpen(components.schemas[name], [...known, name])
    }
    const isAny = !['type', 'anyOf', 'oneOf', 'allOf', 'enum', 'const'].some((keyword) => keyword in schema)
    const isAnyObject = 'type' in schema && schema.type === 'object' && !('properties' in schema || more)
    const { anyOf = [], oneOf = [], allOf = [] } = schema
    const parts = [...Object.values(properties), ...anyOf, ...oneOf, ...allOf]
    const rest = [items, more].filter((part) => typeof part === 'object')
    return isAny || isAnyObject || more === true || [...parts, ...rest].some((part) => isOpen(part, known))
  }

  return ENDPOINTS.filter(({ method, path }) => {
    const { responses } = paths[path.replace(/:(\w+)/g, '{$1}')][method]
    const contents: object[] = Object.keys(responses)
      .filter((status) => status.startsWith('2'))
      .map((status) => responses[status].content ?? {})
    return contents.some((content) =>
      Object.entries(content).some(([type, { schema }]) => type === EVENTS.Accept || isOpen(schema)),
    )
  }).map(({ id }) => id)
}
