/** Answers one message of a client: https://modelcontextprotocol.io/specification/2026-07-28 */

import type { Limiter } from '../../../shared/lib/limiter.ts'
import { VERSION } from '../../../version.ts'
import type { Call } from '../../model/call.ts'
import { hasErrorName, ServiceError } from '../../model/errors.ts'
import type { Workflows } from '../../verbs.ts'
import { callTool } from './call-tool.ts'
import { checkedToolResult } from './check-output.ts'
import { progressTokenOf, type ReadHeader, type RequestMessage, readMessage, requestIdOf } from './message.ts'
import {
  LEGACY_VERSIONS,
  META,
  MODERN_VERSIONS,
  type Notification,
  type RequestId,
  resultMessage,
  TASKS_EXTENSION,
} from './protocol.ts'
import { errorResponse, invalidParams, JsonRpcError, type Rejected, RPC_CODES } from './rpc-error.ts'
import { RUN_TOOLS } from './run-tools.ts'
import { listen } from './subscriptions.ts'
import {
  awaitTask,
  cancelTask,
  getTask,
  newTask,
  readThroughOutages,
  type Task,
  type ToToolResult,
  updateTask,
} from './tasks/tasks.ts'
import type { CallToolResult } from './tool-result.ts'
import { type ToolSet, toolsOf } from './tools.ts'

export interface McpRequest {
  workflows: Workflows
  /** The parsed body. */
  body: unknown
  header: ReadHeader
  catalog: string
  /** The tools that are offered, by the names of tools or of workflows; null for all. */
  only: readonly string[] | null
  /** How long a call waits for the end of its run. */
  waitMs: number
  maxWaitMs: number
  /** The size of the text of an output. `workflow_result` returns the rest of it. */
  maxOutputBytes: number
  /** How long clients may keep the list of tools. */
  ttlMs: number
  acceptsEvents: boolean
  /** From the header. */
  idempotencyKey: string | undefined
  call: Call
}

/** What to send. `rejected`: the request is not one that the protocol allows. */
export type McpAnswer =
  | { kind: 'accepted' }
  | { kind: 'message'; message: object; rejected?: Rejected }
  | { kind: 'stream'; messages: AsyncIterable<object> }

/** Rejects with a `ServiceError` if the request may not use the catalog, and with other errors for bugs. */
export async function answerMessage(request: McpRequest): Promise<McpAnswer> {
  try {
    const message = readMessage(request.body, request.header)
    if (message === null) return { kind: 'accepted' }
    return await dispatch(message, request)
  } catch (error) {
    if (!(error instanceof JsonRpcError)) throw error
    if (error.cause instanceof ServiceError) request.call.reportError(error.cause)
    return errorAnswer(requestIdOf(request.body), error)
  }
}

/** The answer to a body that is not JSON. */
export function notJsonAnswer(message: string): McpAnswer {
  return errorAnswer(null, new JsonRpcError(RPC_CODES.parseError, message, { rejected: 'message' }))
}

function errorAnswer(id: RequestId | null, error: JsonRpcError): McpAnswer {
  const { rejected } = error
  return { kind: 'message', message: errorResponse(id, error), ...(rejected && { rejected }) }
}

type Respond = (message: RequestMessage, request: McpRequest) => McpAnswer | Promise<McpAnswer>

const SHARED_METHODS: [string, Respond][] = [
  ['tools/list', listTools],
  ['tools/call', callOneTool],
]

export const LEGACY_METHODS: ReadonlyMap<string, Respond> = new Map([
  ...SHARED_METHODS,
  ['initialize', initialize],
  ['ping', ({ id }) => result(id, {})],
])

export const MODERN_METHODS: ReadonlyMap<string, Respond> = new Map([
  ...SHARED_METHODS,
  ['server/discover', discover],
  ['subscriptions/listen', subscribe],
  ['tasks/get', ofTask(readTask)],
  ['tasks/cancel', ofTask(({ params }, { workflows, call }) => cancelTask(workflows, params.taskId, call))],
  [
    'tasks/update',
    ofTask(({ params }, { workflows, call }) => updateTask(workflows, params.taskId, params.inputResponses, call)),
  ],
])

function dispatch(message: RequestMessage, request: McpRequest): McpAnswer | Promise<McpAnswer> {
  const respond = (message.isLegacy ? LEGACY_METHODS : MODERN_METHODS).get(message.method)
  request.call.note({ rpcMethod: respond === undefined ? 'unknown' : message.method })
  if (respond !== undefined) return respond(message, request)
  // Legacy clients read errors only from successful responses.
  const rejected = message.isLegacy ? {} : { rejected: 'method' as const }
  throw new JsonRpcError(RPC_CODES.methodNotFound, `Method not found: ${message.method.slice(0, 100)}`, rejected)
}

function result(id: RequestId, value: object): McpAnswer {
  return { kind: 'message', message: resultMessage(id, value) }
}

const SERVER_INFO = { name: 'portico', version: VERSION }

const INSTRUCTIONS =
  'Each tool starts a durable workflow and waits for its result. A workflow that takes longer continues without the client: its workflowId and runId are in the result. Call workflow_result with them to wait again. Never call the tool again to get the result: that starts another workflow.'

function initialize({ id, params }: RequestMessage): McpAnswer {
  const requested = params.protocolVersion
  const protocolVersion = LEGACY_VERSIONS.find((known) => known === requested) ?? LEGACY_VERSIONS[0]
  return result(id, {
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: SERVER_INFO,
    instructions: INSTRUCTIONS,
  })
}

function discover({ id }: RequestMessage, { ttlMs }: McpRequest): McpAnswer {
  return result(id, {
    resultType: 'complete',
    supportedVersions: MODERN_VERSIONS,
    capabilities: { tools: { listChanged: true }, extensions: { [TASKS_EXTENSION]: {} } },
    instructions: INSTRUCTIONS,
    ttlMs,
    cacheScope: 'private',
    _meta: { [META.serverInfo]: SERVER_INFO },
  })
}

async function listTools({ id, params, isLegacy }: RequestMessage, request: McpRequest): Promise<McpAnswer> {
  // There is one page.
  if (params.cursor !== undefined) throw invalidParams('Unknown cursor')
  const { tools: ofWorkflows } = await orRpcError(toolSet(request, request.call))
  const tools = [...ofWorkflows, ...RUN_TOOLS].map(({ tool }) => tool)
  const { ttlMs } = request
  return result(id, isLegacy ? { tools } : { resultType: 'complete', tools, ttlMs, cacheScope: 'private' })
}

const NO_TOOLS: ToolSet = { tools: [], byName: new Map(), byWorkflow: new Map() }

/** The tools of the catalog that the request selects. None while the catalog is not published. */
async function toolSet({ workflows, catalog, only }: McpRequest, call: Call): Promise<ToolSet> {
  try {
    const all = await toolsOf(await workflows.startable({ catalog }, call))
    return only === null ? all : selected(all, only)
  } catch (error) {
    if (hasErrorName(error, 'CatalogNotFoundError')) return NO_TOOLS
    throw error
  }
}

function selected({ tools, byName, byWorkflow }: ToolSet, only: readonly string[]): ToolSet {
  const kept = new Set(only.map((name) => byWorkflow.get(name) ?? byName.get(name)))
  const isKept = ([, tool]: [string, ToolSet['tools'][number]]) => kept.has(tool)
  return {
    tools: tools.filter((tool) => kept.has(tool)),
    byName: new Map([...byName].filter(isKept)),
    byWorkflow: new Map([...byWorkflow].filter(isKept)),
  }
}

/** Converts errors that no tool can return. A `ForbiddenError` stays: it has the same response as in other requests. */
async function orRpcError<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise
  } catch (cause) {
    if (!(cause instanceof ServiceError) || cause.error === 'ForbiddenError') throw cause
    const data = { name: cause.error, retryable: cause.details.retryAfterSeconds !== undefined }
    throw new JsonRpcError(RPC_CODES.internalError, cause.message, { data, cause })
  }
}

async function callOneTool(message: RequestMessage, request: McpRequest): Promise<McpAnswer> {
  const { id, params, meta, isLegacy, hasTasks } = message
  const { workflows, call } = request
  const toolCall = {
    name: params.name,
    given: params.arguments,
    catalog: request.catalog,
    waitMs: request.waitMs,
    maxWaitMs: request.maxWaitMs,
    maxOutputBytes: request.maxOutputBytes,
    idempotencyKey: keyOf(meta[META.idempotencyKey]) ?? request.idempotencyKey,
    readTools: () => toolSet(request, call),
    hasTasks,
    acceptsEvents: request.acceptsEvents,
    progressToken: progressTokenOf(meta),
  }
  const answer = await callTool(workflows, toolCall, call)
  const toMessage = (value: CallToolResult) => resultMessage(id, inEra(value, isLegacy))
  if (answer.kind === 'result') return { kind: 'message', message: toMessage(answer.result) }
  // The engine has the run, so the task exists.
  if (answer.kind === 'task') return result(id, { resultType: 'task', ...newTask(answer.run) })
  return { kind: 'stream', messages: messagesOf(answer.messages, toMessage) }
}

function inEra(value: CallToolResult, isLegacy: boolean): object {
  return isLegacy ? value : { resultType: 'complete', ...value }
}

async function* messagesOf(
  events: AsyncIterable<Notification | { result: CallToolResult }>,
  toMessage: (value: CallToolResult) => object,
): AsyncGenerator<object> {
  for await (const event of events) yield 'result' in event ? toMessage(event.result) : event
}

/** Throws `JsonRpcError` for a key that the header could not have. */
function keyOf(key: unknown): string | undefined {
  if (key === undefined) return undefined
  if (typeof key === 'string' && /^[!-~]{1,255}$/.test(key)) return key
  throw invalidParams(`${META.idempotencyKey} must be 1 to 255 visible ASCII characters`)
}

/** Responds with what `act` returns. Throws `JsonRpcError` if the client has not declared that it can handle tasks. */
function ofTask(act: (message: RequestMessage, request: McpRequest) => Promise<unknown>): Respond {
  return async (message, request) => {
    if (!message.hasTasks) {
      const data = { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } }
      throw new JsonRpcError(RPC_CODES.missingCapability, `The request must declare the extension ${TASKS_EXTENSION}`, {
        data,
        rejected: 'message',
      })
    }
    // An outage becomes an `JsonRpcError`, too: the client repeats the request, because the task may exist.
    return result(message.id, { resultType: 'complete', ...Object(await orRpcError(act(message, request))) })
  }
}

function readTask({ params }: RequestMessage, request: McpRequest): Promise<Task> {
  return getTask(request.workflows, params.taskId, toToolResult(request), request.call)
}

/**
 * The result of the tool for a chain that has ended. If it has completed, its output is checked with the tool's schema.
 * That takes the catalog, which is read from the engine if it is no longer cached.
 */
function toToolResult(request: McpRequest): ToToolResult {
  return async ({ result, workflowName, catalog }, call) => {
    const hasTool = result.status === 'completed' && catalog === request.catalog
    const all = hasTool ? await toolSet({ ...request, only: null }, call) : NO_TOOLS
    const part = { maxBytes: request.maxOutputBytes }
    return checkedToolResult(result, all.byWorkflow.get(workflowName), part, call)
  }
}

function subscribe({ id, params }: RequestMessage, request: McpRequest): McpAnswer {
  const { call, ttlMs, workflows } = request
  const readTools = async (call: Call) => (await toolSet(request, call)).tools
  const taskEnds = (taskId: string, limit: Limiter) => awaitTask(workflows, taskId, limit, call)
  const readTask = (taskId: string) =>
    readThroughOutages(call, () => getTask(workflows, taskId, toToolResult(request), call))
  return { kind: 'stream', messages: listen({ id, params, ttlMs, readTools, taskEnds, readTask }, call) }
}
