/** Requests to everything that the service declares: each endpoint and each method of agents, in each of its forms. */
import { until } from '../../../src/cli/dev/servers/until.ts'
import { ENDPOINTS } from '../../../src/service/endpoints.ts'
import { LEGACY_VERSIONS, META, TASKS_EXTENSION } from '../../../src/service/fronts/mcp/protocol.ts'
import { RUN_TOOLS } from '../../../src/service/fronts/mcp/run-tools.ts'
import { LEGACY_METHODS, MODERN_METHODS } from '../../../src/service/fronts/mcp/server.ts'
import { taskIdOf } from '../../../src/service/fronts/mcp/tasks/tasks.ts'
import type { Endpoint } from '../../../src/service/http/endpoint.ts'
import { limited } from '../../../src/service/http/endpoint.ts'
import { zodToJsonSchema } from '../../../src/service/openapi/to-json-schema.ts'
import type { Answer, Api } from '../../support/api.ts'
import { callOfTask } from '../../support/call-of-task.ts'
import { requestTo } from '../endpoints.ts'
import { untilAsked, untilCanceling, untilOpen } from './callers.ts'

/** A request, and what it needs. */
export interface Step {
  name: string
  /** Whether it must succeed. Others may be rejected, such as an option that excludes another one. */
  isPlain: boolean
  /** Whether the rule of its caller names workflows. */
  isTyped?: boolean
  /** The workflow of the run that it is about. */
  workflowName: string
  request(run: Target, operator: Api): Promise<Sent>
}

/** The open run of a step. `key`: the ids of the step begin with it, and those of its hook with `hook:` and it. */
export interface Target {
  workflowId: string
  runId: string
  key: string
  catalog: string
}

export interface Sent {
  method: string
  path: string
  body?: unknown
  headers?: Record<string, string>
  /** It does not end by itself. */
  isEndless?: boolean
}

export const HOOK_SECRET = 'token-s3cret'
const HOOK = { scheme: 'token', header: 'X-Token', secretEnv: 'SERVICE_HOOK_TOKEN' } as const
const HOOK_ID = 'hook:{/id}'
const HOOK_START = { workflowName: 'messages', workflowId: HOOK_ID }
export const HOOKS = {
  start: { ...HOOK, start: HOOK_START },
  signal: { ...HOOK, challenge: 'query', signal: { workflowId: HOOK_ID, name: 'add' } },
  signalWithStart: { ...HOOK, signalWithStart: { start: HOOK_START, signal: { name: 'add' } } },
}
export const PUBLIC_URL = 'https://portico.example'
const EVENTS = { Accept: 'text/event-stream' }

interface Form {
  name: string
  headers?: Record<string, string>
  /** More fields of the body. */
  fields?: object
  /** Whether the request names the open run, so that a start meets it. */
  meets?: boolean
  isTyped?: boolean
}

interface FieldSchema {
  enum?: readonly string[]
  properties?: Readonly<Record<string, FieldSchema>>
}

/** The form without anything that is optional, and each form that the declaration describes. */
function formsOf({ path, key, headers = [], body, responses }: Endpoint): Form[] {
  const plain = { name: '' }
  if (path.includes('/runs/:rid/')) return [plain]
  const schema: FieldSchema = body ? zodToJsonSchema(limited(body.schema, 60_000)) : {}
  const fields = schema.properties ?? {}
  const { events, text = [] } = responses[200] ?? {}
  const policies = fields.workflowIdConflictPolicy?.enum ?? []
  const formats = fields.stream?.properties?.format?.enum ?? []
  const asEvents = events === undefined ? [] : [{}, ...(fields.stream ? [{ stream: {} }] : [])]
  const inFormat = events === undefined ? [] : formats.map((format) => ({ stream: { format } }))
  const meeting = policies.length === 0 ? [] : [{}, ...policies.map((policy) => ({ workflowIdConflictPolicy: policy }))]
  return [
    plain,
    ...(key === 'taken' ? [{ name: 'with a key', headers: { 'Idempotency-Key': crypto.randomUUID() } }] : []),
    ...(headers.includes('Prefer') ? [{ name: 'asynchronously', headers: { Prefer: 'respond-async' } }] : []),
    ...text.map((type) => ({ name: type, headers: { Accept: type } })),
    ...[...asEvents, ...inFormat].map((fields) => ({
      name: `events ${JSON.stringify(fields)}`,
      headers: EVENTS,
      fields,
    })),
    ...meeting.flatMap((fields) =>
      [false, true].map((isTyped) => ({
        name: `meets ${JSON.stringify(fields)}${isTyped ? ' by workflow' : ''}`,
        ...{ fields, isTyped, meets: true },
      })),
    ),
  ]
}

// The lines of a bulk are steps of their own.
const ENDPOINT_STEPS = ENDPOINTS.filter(({ takes }) => takes !== 'lines').flatMap((endpoint) =>
  endpoint.path === '/hooks/:hook' ? hookSteps(endpoint) : formsOf(endpoint).map((form) => stepOf(endpoint, form)),
)

function stepOf(endpoint: Endpoint, { name, headers, fields, meets = false, isTyped = false }: Form): Step {
  return {
    name: `${endpoint.method} ${endpoint.path} ${name}`.trim(),
    // A batch of another caller does not exist.
    isPlain: name === '' && !endpoint.path.startsWith('/batches/:batchId'),
    isTyped,
    workflowName: workflowOf(endpoint),
    async request(run, operator) {
      const [method, path, given] = requestTo(endpoint, run, await pathValues(endpoint, run, operator))
      const body = given && { ...given, ...fields, ...(meets && { workflowId: run.workflowId }) }
      return { method, path, body, ...(headers && { headers }) }
    },
  }
}

function workflowOf({ path }: Endpoint): string {
  if (path.includes('/activities/')) return 'completesOutside'
  if (path.includes('/questions/')) return 'asksPerson'
  return path.endsWith('/stream') ? 'streamSignals' : 'messages'
}

/** Brings the run into the state that the endpoint needs. Returns what its path names. */
async function pathValues({ method, path }: Endpoint, run: Target, operator: Api): Promise<Record<string, string>> {
  const { workflowId, catalog } = run
  const values: Record<string, string> = { catalog, taskQueue: catalog }
  if (path.startsWith('/schedules/:scheduleId') && method !== 'put')
    await operator.call('PUT', `/schedules/${workflowId}`, {
      ...{ workflowName: 'nothing', input: null, workflowId, catalog },
      when: { every: [{ interval: '1h' }] },
    })
  if (path.startsWith('/activity/:activityId/')) {
    const start = { activityName: 'outside', activityId: workflowId, input: null, catalog }
    const { body } = await operator.call('POST', '/activity/start', start)
    const beat = () => operator.call('POST', `/activity/${workflowId}/heartbeat`)
    await until('the activity has begun', async () => (await beat()).status === 200)
    if (path.endsWith('/result')) await operator.call('POST', `/activity/${workflowId}/terminate`)
    return { ...values, activityId: workflowId, rid: body.runId }
  }
  if (path.includes('/activities/')) await untilOpen(operator, `${workflowId}/activities/approval`)
  if (path.includes('/questions/')) await untilAsked(operator, workflowId)
  if (path.endsWith('/cancel')) await untilCanceling(operator, `${workflowId}/activities/approval`)
  if (path.endsWith('/retry')) await operator.post(`${workflowId}/activities/approval/fail`, { message: 'no' })
  if (path === '/workflow/:id/unpause' || path === '/workflow/:id/runs/:rid/unpause')
    await operator.post(`${workflowId}/pause`)
  if (path.endsWith('/:updateId')) {
    const { body } = await operator.post(`${workflowId}/update/set`, { payload: 1 }, { Prefer: 'respond-async' })
    values.updateId = body.updateId
  }
  if (path === '/links/:token') {
    const choices = [{ label: 'Yes', payload: 1 }]
    const { body } = await operator.post(`${workflowId}/links`, { title: 'Add?', signal: 'add', choices })
    values.token = body.url.split('/').at(-1)
  }
  // The streams of a run end with it.
  if (method === 'get' && path.startsWith('/workflow/:id/')) await operator.post(`${workflowId}/terminate`)
  return values
}

function hookSteps({ method, path }: Endpoint): Step[] {
  if (method === 'get') {
    const challenge = { method: 'GET', path: `${path.replace(':hook', 'signal')}?challenge=a` }
    return [{ name: 'challenge of a hook', isPlain: true, workflowName: 'messages', request: async () => challenge }]
  }
  return Object.keys(HOOKS).map((hook) => ({
    name: `hook ${hook}`,
    isPlain: true,
    workflowName: 'messages',
    async request({ key }, operator) {
      if (hook === 'signal') await operator.start('messages', null, { workflowId: `hook:${key}` })
      return {
        method: 'POST',
        path: path.replace(':hook', hook),
        body: { id: key },
        headers: { 'X-Token': HOOK_SECRET },
      }
    },
  }))
}

type MakeParams = (run: Target, operator: Api) => object | Promise<object>

const VERSION = '2026-07-28'
const MODERN = {
  [META.protocolVersion]: VERSION,
  [META.clientCapabilities]: { extensions: { [TASKS_EXTENSION]: {} } },
}

/** A message; `isModern`: of a client that can handle tasks. */
function messageStep(method: string, name: string, makeParams: MakeParams, isModern: boolean, headers = {}): Step {
  return {
    name: `mcp ${name}${isModern ? '' : ' (legacy)'}`,
    isPlain: true,
    workflowName: method === 'tasks/update' ? 'asksInTurns' : 'messages',
    async request(run, operator) {
      const made: Record<string, unknown> = { ...(await makeParams(run, operator)) }
      const named = made.name ?? made.taskId
      const sent = {
        'MCP-Protocol-Version': VERSION,
        'Mcp-Method': method,
        ...(named !== undefined && { 'Mcp-Name': String(named) }),
      }
      const params = isModern ? { ...made, _meta: MODERN } : made
      return {
        ...{ method: 'POST', path: '/mcp', body: { jsonrpc: '2.0', id: 1, method, params } },
        ...{ headers: isModern ? sent : headers, isEndless: method.endsWith('/listen') },
      }
    },
  }
}

const TOOL_STEPS = [...RUN_TOOLS.map(({ tool }) => tool.name), 'sleepFor'].flatMap((name) => {
  const call = (more: object) => (run: Target) => ({ name, arguments: toolArguments(name, run), ...more })
  const progress = call({ _meta: { progressToken: 1 } })
  return [
    messageStep('tools/call', name, call({}), false),
    messageStep('tools/call', `${name} with progress`, progress, false, EVENTS),
    messageStep('tools/call', name, call({}), true),
  ]
})

const VALUES: Readonly<Record<string, unknown>> = { signal: 'add', query: 'state', update: 'set' }

function toolArguments(name: string, { workflowId }: Target): object {
  const schema = RUN_TOOLS.find(({ tool }) => tool.name === name)?.tool.inputSchema
  // The tool of a workflow: it takes longer than the time after which progress is reported.
  if (schema === undefined) return { ms: 700 }
  const { required = [] } = schema as { required?: string[] }
  return Object.fromEntries(
    required.map((field) => {
      const value = field === 'workflowId' ? workflowId : VALUES[field]
      if (value === undefined) throw new Error(`Add a value for ${field} of the tool ${name} to VALUES in walk.ts`)
      return [field, value]
    }),
  )
}

const ofTask = (run: Target) => ({ taskId: taskIdOf(run) })

/** The parameters of the other methods of the protocol. */
const PARAMS: Readonly<Record<string, MakeParams>> = {
  initialize: () => ({ protocolVersion: LEGACY_VERSIONS[0] }),
  ping: () => ({}),
  'tools/list': () => ({}),
  'server/discover': () => ({}),
  'subscriptions/listen': (run) => ({ notifications: { taskIds: [taskIdOf(run)] } }),
  'tasks/get': ofTask,
  'tasks/cancel': ofTask,
  async 'tasks/update'(run, operator) {
    const { taskId } = ofTask(run)
    const asks = await until('the task asks twice', async () => {
      const { body } = await callOfTask(operator, 'tasks/get', { taskId })
      const keys = Object.keys(body.result?.inputRequests ?? {})
      return keys.length === 2 ? keys : null
    })
    const answer = { action: 'accept', content: { approved: true } }
    return { taskId, inputResponses: Object.fromEntries(asks.map((key) => [key, answer])) }
  },
}

const METHOD_STEPS = [LEGACY_METHODS, MODERN_METHODS].flatMap((methods) =>
  [...methods.keys()]
    .filter((method) => method !== 'tools/call')
    .map((method) => messageStep(method, method, paramsOf(method), methods === MODERN_METHODS)),
)

function paramsOf(method: string): MakeParams {
  return (run, operator) => {
    const makeParams = PARAMS[method]
    if (makeParams === undefined) throw new Error(`Add the parameters of the method ${method} to PARAMS in walk.ts`)
    return makeParams(run, operator)
  }
}

export const STEPS: readonly Step[] = [...ENDPOINT_STEPS, ...TOOL_STEPS, ...METHOD_STEPS]

/** Whether the response says that the request was done. */
export function isDone({ status, text, body }: Answer): boolean {
  if (status >= 400 || body?.result?.isError === true) return false
  if (body?.jsonrpc !== undefined && body.error !== undefined) return false
  return !/^event: error|^data: \{"jsonrpc":"2.0","id":1,"error"/m.test(text)
}
