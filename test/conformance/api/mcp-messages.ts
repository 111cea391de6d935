/** Sends messages of both eras, and reads the answers. */
import { AUTHORIZED } from './api-fixture.ts'

export const VERSION = '2026-07-28'

/** The capabilities of a client that can handle tasks. */
export const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } }

interface SentOptions {
  /** Of the service. Default: that of `service`. */
  url?: string
  path?: string
  headers?: Record<string, string>
  /** Of the client. Default: none. */
  capabilities?: object
  signal?: AbortSignal
}

// biome-ignore lint/suspicious/noExplicitAny: an assertion says what it should be
type Message = any

export function mcpMessages(api: () => { service: { url: string } }) {
  function send(body: unknown, options: SentOptions = {}): Promise<Response> {
    const { url = api().service.url, path = '/mcp', headers = {}, signal } = options
    return fetch(`${url}${path}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...AUTHORIZED,
        ...headers,
      },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    })
  }

  /** All messages of the answer, with its status. */
  async function messagesOf(response: Response): Promise<{ status: number; messages: Message[] }> {
    const text = await response.text()
    const isStream = response.headers.get('Content-Type') === 'text/event-stream'
    const parts = isStream ? [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data) : [text]
    return { status: response.status, messages: parts.map((part) => JSON.parse(part)) }
  }

  async function legacy(method: string, params: object = {}, options: SentOptions = {}) {
    return messagesOf(await send({ jsonrpc: '2.0', id: 1, method, params }, options))
  }

  function sendModern(method: string, params: Record<string, unknown> = {}, options: SentOptions = {}) {
    const { capabilities = {}, headers } = options
    const name = params.name ?? params.taskId
    const meta = {
      'io.modelcontextprotocol/protocolVersion': VERSION,
      'io.modelcontextprotocol/clientCapabilities': capabilities,
    }
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method,
      params: { ...params, _meta: { ...meta, ...Object(params._meta) } },
    }
    const own = {
      'MCP-Protocol-Version': VERSION,
      'Mcp-Method': method,
      ...(typeof name === 'string' && { 'Mcp-Name': name }),
    }
    return send(body, { ...options, headers: { ...own, ...headers } })
  }

  async function modern(method: string, params?: Record<string, unknown>, options?: SentOptions) {
    return messagesOf(await sendModern(method, params, options))
  }

  async function resultOf(answer: Promise<{ messages: Message[] }>) {
    const { messages } = await answer
    return messages.at(-1)?.result
  }

  return {
    send,
    messagesOf,
    legacy,
    modern,
    resultOf,
    callLegacy: (name: string, given: object, options?: SentOptions) =>
      resultOf(legacy('tools/call', { name, arguments: given }, options)),
    /** The result for a client that can handle tasks. */
    withTasks: (method: string, params: Record<string, unknown>) =>
      resultOf(modern(method, params, { capabilities: TASKS })),
    /** The response for a client that can handle tasks. */
    sendWithTasks: (method: string, params: Record<string, unknown>, options: SentOptions = {}) =>
      sendModern(method, params, { ...options, capabilities: TASKS }),
  }
}

/** What arrives until `end` has arrived. */
export async function readUntil(response: Response, end: string): Promise<string> {
  const reader = (response.body ?? new ReadableStream<Uint8Array<ArrayBuffer>>())
    .pipeThrough(new TextDecoderStream())
    .getReader()
  let text = ''
  while (!text.includes(end)) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`the response ended without ${end}: ${text}`)
    text += value
  }
  return text
}
