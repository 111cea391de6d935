import type { Answer, Api } from './api.ts'

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
