/** The Model Context Protocol: agents call workflows as tools. `src/mcp/` answers the messages. */
import type { Context } from 'hono'
import * as z from 'zod/mini'
import { hasErrorName, ServiceError } from '../../domain/model/errors.ts'
import { isObject } from '../../lib/json.ts'
import { lazy } from '../../lib/lazy.ts'
import type { McpAnswer } from '../../mcp/server.ts'
import type { Env } from '../context.ts'
import { endpoint, type Tools } from '../endpoint.ts'
import { problemBody } from '../errors.ts'
import { eventStream } from '../events.ts'
import { idempotencyKey } from '../idempotency-key.ts'
import { ref as schemaOf } from '../openapi/schemas/schema.ts'
import { jsonResponse, respond } from '../response.ts'
import { BODY_ERRORS } from './errors.ts'
import { optional } from './fields/json-forms.ts'
import { queryDuration } from './fields/query-values.ts'

// Loaded on demand: docs/decisions/020-what-is-loaded-when.md.
const mcp = lazy(
  () => import('../../mcp/server.ts'),
  (server) => server,
)

const DECLARATION = {
  method: 'post',
  tag: 'Service',
  docs: 'mcp',
  description: 'The messages are those of https://modelcontextprotocol.io',
  query: (maxTimeoutMs: number) =>
    z.strictObject({
      workflows: optional(z.string(), 'Only the tools for these workflows: names separated by commas'),
      wait: optional(
        queryDuration(maxTimeoutMs),
        'How long a call waits for its workflow: milliseconds, or a duration such as `5m`. Default: `SERVICE_MCP_WAIT`',
      ),
    }),
  headers: ['Idempotency-Key', 'traceparent', 'tracestate'],
  body: { name: 'McpMessage', schema: z.unknown(), isRequired: true },
  responses: {
    200: {
      description: 'The answer to a request, alone or at the end of a stream of messages',
      schema: schemaOf('McpMessage'),
      events: { message: schemaOf('McpMessage') },
    },
    202: { description: 'The message was a notification' },
    400: { description: 'The message is not one that the protocol allows', schema: schemaOf('McpMessage') },
    404: { description: 'The protocol does not have the method', schema: schemaOf('McpMessage') },
  },
  errors: [...BODY_ERRORS, 'OverloadedError'],
  takes: 'wait',
  key: 'taken',
  access: 'tools',
  feature: 'mcp',
} as const

const ofDefault = endpoint({
  ...DECLARATION,
  path: '/mcp',
  id: 'sendMcpMessage',
  summary: 'Send a message of the Model Context Protocol',
  handle: (c, tools) => answer(c, tools, tools.defaultCatalog),
})

const ofName = endpoint({
  ...DECLARATION,
  path: '/mcp/:catalog',
  id: 'sendMcpMessageToCatalog',
  summary: 'Send a message of the Model Context Protocol about another catalog',
  handle: (c, tools) => answer(c, tools, tools.catalog(c)),
})

export const mcpEndpoints = [ofDefault, ofName]

type McpTools = Omit<Tools<'', { workflows?: string | undefined; wait?: number | undefined }, unknown>, 'ref'>

async function answer(c: Context<Env>, tools: McpTools, catalog: string): Promise<Response> {
  const { workflows, call, query, body, maxTimeoutMs, commentEveryMs, mcp: settings } = tools
  const { workflows: only = null, wait } = query(c)
  const { answerMessage, notJsonAnswer } = mcp.current ?? (await mcp.get())
  const message = await orNotJson(body(c))
  if (message instanceof ServiceError) return responseOf(c, notJsonAnswer(message.message), null, commentEveryMs)
  const answered = await answerMessage({
    workflows,
    body: message,
    header: (name) => c.req.header(name),
    catalog,
    only: only === null ? null : only.split(',').map((name) => name.trim()),
    waitMs: Math.min(wait ?? settings.waitMs, maxTimeoutMs),
    maxWaitMs: maxTimeoutMs,
    ttlMs: settings.ttlMs,
    acceptsEvents: c.req.header('Accept')?.includes('text/event-stream') === true,
    ...{ idempotencyKey: undefined, ...idempotencyKey(c) },
    call: call(c),
  })
  return responseOf(c, answered, message, commentEveryMs)
}

/** The body, or the error if it is not JSON: the response to that is a JSON-RPC error. */
async function orNotJson(reading: Promise<unknown>): Promise<unknown> {
  try {
    return await reading
  } catch (error) {
    if (hasErrorName(error, 'ValidationError')) return error
    throw error
  }
}

function responseOf(c: Context<Env>, answer: McpAnswer, message: unknown, commentEveryMs: number): Response {
  if (answer.kind === 'accepted') return respond(c, null, 202, {})
  if (answer.kind === 'message') return jsonResponse(c, answer.message, statusOf(answer))
  return eventStream(c, frames(c, answer.messages, message), { commentEveryMs })
}

function statusOf({ rejected }: Extract<McpAnswer, { kind: 'message' }>): number {
  if (rejected === undefined) return 200
  return rejected === 'method' ? 404 : 400
}

async function* frames(c: Context<Env>, messages: AsyncIterable<object>, request: unknown): AsyncGenerator<string> {
  try {
    for await (const message of messages) yield frame(message)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    c.error = error
    const id = isObject(request) ? request.id : undefined
    const { error: name, message, workflowId, runId } = problemBody(c, error)
    const retryable = error instanceof ServiceError && error.details.retryAfterSeconds !== undefined
    yield frame({ jsonrpc: '2.0', id, error: { code: -32_603, message, data: { name, workflowId, runId, retryable } } })
  }
}

function frame(message: object): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`
}
