/** The Model Context Protocol: https://modelcontextprotocol.io/specification/2026-07-28 */

/** Revisions without sessions: each request names its revision in `_meta`. */
export const MODERN_VERSIONS: readonly string[] = ['2026-07-28']

/** Revisions that begin with `initialize`, the latest one first. */
export const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26'] as const

/** Keys of `_meta`. */
export const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
  idempotencyKey: 'portico/idempotencyKey',
} as const

/** The extension with which a long call returns a task: https://github.com/modelcontextprotocol/ext-tasks */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

export type RequestId = string | number

/** A notification of the server. */
export interface Notification {
  jsonrpc: '2.0'
  method: string
  params: Record<string, unknown>
}

export function notification(method: string, params: Record<string, unknown>): Notification {
  return { jsonrpc: '2.0', method, params }
}

/** The last message about a request. */
export function resultMessage(id: RequestId, result: object): object {
  return { jsonrpc: '2.0', id, result }
}
