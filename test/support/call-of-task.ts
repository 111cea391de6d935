import type { Answer, Api } from './api.ts'

/** The service: where it listens, or as a function, and the headers of its client. */
export interface Subscribed {
  url?: string
  fetch?: (request: Request) => Promise<Response>
  headers: Record<string, string>
}

const VERSION = '2026-07-28'

const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
}

/** Sends a message about a task, such as `tasks/get`, as a client that can handle tasks. */
export function callOfTask(
  { call }: Pick<Api, 'call'>,
  method: string,
  params: { taskId: string; inputResponses?: object },
): Promise<Answer> {
  const headers = { 'MCP-Protocol-Version': VERSION, 'Mcp-Method': method, 'Mcp-Name': params.taskId }
  return call('POST', '/mcp', { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } }, headers)
}

/** What a subscription to the task sends, up to the message about its end. */
export async function notificationOf(
  { url = 'http://portico.test', fetch = globalThis.fetch, headers }: Subscribed,
  taskId: string,
): Promise<string> {
  const method = 'subscriptions/listen'
  const params = { notifications: { taskIds: [taskId] }, _meta: META }
  const request = new Request(`${url}/mcp`, {
    method: 'POST',
    headers: {
      ...{ 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
      ...{ 'MCP-Protocol-Version': VERSION, 'Mcp-Method': method },
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { body } = await fetch(request)
  let text = ''
  for await (const chunk of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (text.includes('notifications/tasks') && text.endsWith('\n\n')) break
  }
  return text
}
