/**
 * What does a call of a tool cost, compared with `POST /workflow/run`? Measures the CPU time of both without sockets,
 * and with responses that stand in for the engine.
 */

import type { Transport } from '../../src/service/engine/transport/transport.ts'
import { createPortico } from '../../src/service/portico.ts'
import { parseConfig } from '../../src/shared/config.ts'
import { compareCpuTime } from './measure.ts'

const [rounds = '100', requests = '500'] = process.argv.slice(2)
const CATALOG = 'examples'
const REVISION = '2026-07-28'
const INPUT = { name: 'Ada' }

const config = parseConfig(
  { SERVICE_CATALOG_ID: CATALOG, SERVICE_CATALOG_TTL: '1h', SERVICE_API_AUTH_TOKEN: 'token' },
  { binds: false },
)
const portico = createPortico({ config, transport: createTransport(), log: () => {}, runtime: 'node' })

const legacy = { name: 'greet', arguments: INPUT }
const modern = {
  ...legacy,
  _meta: {
    'io.modelcontextprotocol/protocolVersion': REVISION,
    'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  },
}
const EVENTS = { Accept: 'application/json, text/event-stream' }
const MODERN = { 'MCP-Protocol-Version': REVISION, 'Mcp-Method': 'tools/call', 'Mcp-Name': 'greet' }
const run = () => post('/workflow/run', { workflowName: 'greet', input: INPUT })
const loops = [
  { name: '`POST /workflow/run`', send: run },
  // Shows how much of a difference is chance.
  { name: 'the same again', send: run },
  { name: '`tools/call`, 2025', send: () => callTool(legacy) },
  { name: '`tools/call`, 2025, events accepted', send: () => callTool(legacy, EVENTS) },
  { name: '`tools/call`, 2026-07-28, with tasks', send: () => callTool(modern, { ...EVENTS, ...MODERN }) },
]

for (const { name, send } of loops) {
  const text = await (await send()).text()
  if (!text.includes('Hello, Ada!')) throw new Error(`${name}: ${text}`)
}
await compareCpuTime('Request', loops, {
  rounds: Number(rounds),
  requests: Number(requests),
  warmUpRequests: 10_000,
})
await portico.close()

function callTool(params: object, headers?: Record<string, string>): Promise<Response> {
  return post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers)
}

async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return portico.fetch(
    new Request(`http://127.0.0.1${path}`, {
      method: 'POST',
      headers: { Authorization: 'Bearer token', 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }),
  )
}

/** An engine with a published catalog, in which each run has ended when it is read. */
function createTransport(): Transport {
  const execution = { workflowId: `$catalog:${CATALOG}`, runId: '01a1fc00-969a-7396-9f99-7c3e726b2428' }
  const workflow = {
    name: 'greet',
    inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    outputSchema: { type: 'string' },
  }
  const memo = { workflowNames: toPayload({ greet: 'greet' }), hash: toPayload('hash'), traces: toPayload(false) }
  const described = {
    workflowExecutionInfo: {
      execution,
      type: { name: '$catalog' },
      taskQueue: '$catalog',
      status: 1,
      memo: { fields: memo },
    },
  }
  const definition = { input: { payloads: [toPayload({ workflows: [workflow] })] } }
  const defined = { history: { events: [{ workflowExecutionStartedEventAttributes: definition }] } }
  const ended = { result: { payloads: [toPayload('Hello, Ada!')] } }
  const closed = { history: { events: [{ workflowExecutionCompletedEventAttributes: ended }] } }
  const respond = (method: string, request: { execution?: { workflowId?: string } }) => {
    if (method === 'startWorkflowExecution') return { runId: crypto.randomUUID(), started: true }
    if (method === 'describeWorkflowExecution') return described
    return request.execution?.workflowId === execution.workflowId ? defined : closed
  }
  const replayed = {
    name: 'grpc',
    features: { slashInIds: true, updateWithStart: true, asyncUpdates: true },
    call: async (method: string, request: object) => respond(method, request),
    close: async () => {},
  }
  return replayed as unknown as Transport
}

function toPayload(value: unknown) {
  const encoder = new TextEncoder()
  return { metadata: { encoding: encoder.encode('json/plain') }, data: encoder.encode(JSON.stringify(value)) }
}
