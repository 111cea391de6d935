import { type ApiOptions, catalogOf, makeApi } from '../../http/api.ts'
import { result } from '../../http/run-api.ts'
import { entry } from '../../openapi/typed/catalog-document.ts'

export const RUN = { workflowId: 'w', runId: '01a1fc08-1636-792f-9608-1acf4565500b' }

export const COMPLETED = { ...result, ...RUN, output: 'Hello' }

const LISTED = entry('greet', { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] })

const startable = catalogOf(LISTED)

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** The app with `POST /mcp`, and functions that send messages of both eras. */
export function mcpApi({ workflows, ...options }: ApiOptions = {}) {
  const { call, events } = makeApi({
    mcp: { waitMs: 1000, ttlMs: 5000, maxOutputBytes: 65_536 },
    workflows: { startable, ...workflows },
    ...options,
  })

  async function send(body: unknown, headers: Record<string, string> = {}, path = '/mcp') {
    const response = await call('POST', path, body, headers)
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) }
  }

  return {
    events,
    call,
    send,
    legacy: (method: string, params: object = {}, headers: Record<string, string> = {}, path?: string) =>
      send({ jsonrpc: '2.0', id: 1, method, params }, headers, path),
    modern(method: string, params: Record<string, unknown> = {}, path?: string) {
      const name = params.name ?? params.taskId
      const headers = {
        'MCP-Protocol-Version': '2026-07-28',
        'Mcp-Method': method,
        ...(typeof name === 'string' && { 'Mcp-Name': name }),
      }
      return send({ jsonrpc: '2.0', id: 1, method, params: { _meta: META, ...params } }, headers, path)
    },
  }
}
