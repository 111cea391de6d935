/** The official clients of TypeScript, behind one interface. */
import { createMCPClient } from '@ai-sdk/mcp'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import {
  createTaskSessionFromClient,
  type RawClientDispatch,
  resultFromTaskOutcome,
} from '@modelcontextprotocol/ext-tasks/client'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { sleep } from '../../../src/shared/lib/abort.ts'

export const TOKEN = 'mcp-token'

const HEADERS = { Authorization: `Bearer ${TOKEN}` }

export interface ToolOutcome {
  isError: boolean
  // biome-ignore lint/suspicious/noExplicitAny: an assertion says what it should be
  structuredContent: any
}

export interface McpClient {
  listTools(): Promise<string[]>
  /** `meta`: `_meta` of the request, if the client can send it. */
  call(name: string, given?: Record<string, unknown>, meta?: Record<string, unknown>): Promise<ToolOutcome>
  close(): Promise<void>
}

export type Connect = (url: string) => Promise<McpClient>

const OURSELVES = { name: 'portico-tests', version: '1.0.0' }

/** The SDK before 2026-07-28. Most hosts use it. */
export async function connectOlder(url: string, onProgress?: (message: string) => void): Promise<McpClient> {
  const client = new OlderClient(OURSELVES)
  const transport = new OlderTransport(new URL(url), { requestInit: { headers: HEADERS } })
  // Its type of the session id does not allow undefined explicitly.
  await client.connect(transport as Parameters<OlderClient['connect']>[0])
  return {
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, given = {}, meta) => {
      const params = { name, arguments: given, ...(meta && { _meta: meta }) }
      return toOutcome(
        await client.callTool(params, undefined, {
          onprogress: ({ message = '' }) => onProgress?.(message),
        }),
      )
    },
    close: () => client.close(),
  }
}

async function connectClient(url: string, mode: 'legacy' | 'auto'): Promise<Client> {
  const client = new Client(OURSELVES, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: HEADERS } }))
  return client
}

/** The SDK of 2026-07-28 without tasks, in either era. */
export async function connectNewer(url: string, mode: 'legacy' | 'auto'): Promise<McpClient> {
  const client = await connectClient(url, mode)
  return {
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, given = {}, meta) =>
      toOutcome(await client.callTool({ name, arguments: given, ...(meta && { _meta: meta }) })),
    close: () => client.close(),
  }
}

export interface TaskClientOptions {
  /** Called with each method that is sent. */
  onSent?: ((method: string) => void) | undefined
  /** Called when a read of a task has no answer. */
  onLost?: (() => void) | undefined
  /** Answers each form. */
  answer?: Record<string, string | number | boolean>
}

const FRAMING = {
  protocolVersion: '2026-07-28',
  clientInfo: OURSELVES,
  clientCapabilities: { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } },
}

/** The SDK of 2026-07-28 with the extension for tasks. Reads of a task are repeated while nothing answers. */
export async function connectWithTasks(url: string, options: TaskClientOptions = {}): Promise<McpClient> {
  const { answer, onSent, onLost } = options
  const client = await connectClient(url, 'auto')
  const session = createTaskSessionFromClient(client, {
    endpointId: 'portico-tests',
    v2RequestFraming: FRAMING,
    rawDispatch: (request) => dispatch(url, request as unknown as Request, { onSent, onLost }),
    ...(answer && { onInputRequest: async () => ({ action: 'accept', content: answer }) as never }),
  })
  return {
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, given = {}, metadata) => {
      const execution = await session.callTool(name, given as never, metadata && { metadata: metadata as never })
      const { outcome } = await execution.settle()
      return toOutcome(resultFromTaskOutcome(outcome))
    },
    async close() {
      await session.close()
      await client.close()
    },
  }
}

interface Request {
  method: string
  params?: { name?: string; taskId?: string }
}

/** The package leaves the connection for tasks to its host. */
async function dispatch(
  url: string,
  request: Request,
  { onSent, onLost }: Pick<TaskClientOptions, 'onSent' | 'onLost'>,
): ReturnType<RawClientDispatch> {
  const { method, params = {} } = request
  const name = params.name ?? params.taskId
  onSent?.(method)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        ...HEADERS,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': FRAMING.protocolVersion,
        'Mcp-Method': method,
        ...(name !== undefined && { 'Mcp-Name': name }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: crypto.randomUUID(), ...request }),
    })
    const { result, error } = JSON.parse(await response.text())
    return error === undefined ? { kind: 'result', result } : { kind: 'error', error }
  } catch (error) {
    if (method !== 'tasks/get') throw error
    onLost?.()
    await sleep(300)
    return dispatch(url, request, { onSent, onLost })
  }
}

/** The client of the AI SDK. */
export async function connectAiSdk(url: string): Promise<McpClient> {
  const client = await createMCPClient({ transport: { type: 'http', url, headers: HEADERS } })
  const tools = await client.tools()
  return {
    listTools: async () => Object.keys(tools),
    call: async (name, given = {}) => {
      const tool = tools[name]
      if (tool === undefined) throw new Error(`Unknown tool: ${name}`)
      return toOutcome(await tool.execute(given, { toolCallId: crypto.randomUUID(), messages: [], context: {} }))
    },
    close: () => client.close(),
  }
}

function toOutcome(result: unknown): ToolOutcome {
  const { isError = false, structuredContent = null } = result as Partial<ToolOutcome>
  return { isError, structuredContent }
}

/** Each client, in each of its eras. */
export const CLIENTS: { name: string; connect: Connect }[] = [
  { name: 'SDK 1', connect: connectOlder },
  { name: 'SDK 2, legacy', connect: (url) => connectNewer(url, 'legacy') },
  { name: 'SDK 2', connect: (url) => connectNewer(url, 'auto') },
  { name: 'SDK 2 with tasks', connect: connectWithTasks },
  { name: 'AI SDK', connect: connectAiSdk },
]
