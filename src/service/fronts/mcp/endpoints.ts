/** The Model Context Protocol: agents call workflows as tools. `src/service/fronts/mcp/` answers the messages. */
import type { Context } from 'hono'
import * as z from 'zod/mini'
import { lazy } from '../../../shared/lib/cache.ts'
import { isObject } from '../../../shared/lib/json.ts'
import { type Env, jsonResponse, respond } from '../../http/context.ts'
import { endpoint, type Tools } from '../../http/endpoint.ts'
import { BODY_ERRORS } from '../../http/endpoints/errors.ts'
import { jsonForms, optional } from '../../http/endpoints/fields/json-forms.ts'
import { queryDuration } from '../../http/endpoints/fields/query-values.ts'
import type { ProblemBody } from '../../http/errors.ts'
import { eventFrame, eventStream } from '../../http/events/events.ts'
import { ref as schemaOf } from '../../http/openapi/schema.ts'
import { authorizeInCatalog } from '../../http/pipeline/authorize.ts'
import { idempotencyKey } from '../../http/pipeline/request-checks.ts'
import { hasErrorName, ServiceError } from '../../model/errors.ts'
import type { McpAnswer } from './server.ts'

// Loaded on demand: docs/decisions/020-what-is-loaded-when.md.
const mcp = lazy(
  () => import('./server.ts'),
  (server) => server,
)

const message = z.unknown().register(jsonForms, {
  type: 'object',
  properties: {
    jsonrpc: { type: 'string', enum: ['2.0'], description: 'The version of JSON-RPC' },
    id: { description: 'Of a request and its response: a string or a number. A notification has none' },
    method: { type: 'string', description: 'Of a request or a notification' },
    params: { type: 'object', additionalProperties: true, description: 'Of a request or a notification' },
    result: { type: 'object', additionalProperties: true, description: 'Of a response' },
    error: { type: 'object', additionalProperties: true, description: 'Of a response: `code`, `message` and `data`' },
  },
  required: ['jsonrpc'],
  additionalProperties: true,
})

const DECLARATION = {
  method: 'post',
  tag: 'Service',
  docs: 'api/service.md#mcp',
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
  body: { name: 'McpMessage', schema: message, isRequired: true, rejectsEmpty: true },
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
  authorizeInCatalog(c, 'tools', { catalog, defaultCatalog: tools.defaultCatalog })
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
    maxOutputBytes: settings.maxOutputBytes,
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
  return eventStream(c, frames(answer.messages), {
    commentEveryMs,
    onError: (body, error) => errorFrame(message, body, error),
  })
}

function statusOf({ rejected }: Extract<McpAnswer, { kind: 'message' }>): number {
  if (rejected === undefined) return 200
  return rejected === 'method' ? 404 : 400
}

async function* frames(messages: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const message of messages) yield eventFrame('message', message)
}

function errorFrame(request: unknown, { error: name, message, workflowId, runId }: ProblemBody, error: Error): string {
  const id = isObject(request) ? request.id : undefined
  const retryable = error instanceof ServiceError && error.details.retryAfterSeconds !== undefined
  return eventFrame('message', {
    jsonrpc: '2.0',
    id,
    error: { code: -32_603, message, data: { name, workflowId, runId, retryable } },
  })
}
