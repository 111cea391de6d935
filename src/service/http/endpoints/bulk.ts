/** Carries out many single requests, one for each line of the body, and answers each of them with a line. */
import type { Context } from 'hono'
import { ServiceError } from '../../model/errors.ts'
import { type Env, respond } from '../context.ts'
import { type BulkSettings, endpoint } from '../endpoint.ts'
import { toProblemBody } from '../errors.ts'
import { onOneLine } from '../events/events.ts'
import { ref as schemaOf } from '../openapi/schema.ts'
import { BULK_PATH, mediaTypeOf, NDJSON, requireIdentity, tooLarge, unsupportedType } from '../pipeline/body.ts'
import { type Line, readLines } from '../pipeline/body-lines.ts'
import { idempotencyKey } from '../pipeline/request-checks.ts'
import { BODY_ERRORS } from './errors.ts'
import { bulkLine, parseLine } from './fields/bulk-line.ts'

const TYPES = [NDJSON, 'application/ndjson', 'application/jsonl']

const MAX_LINES = 10_000
// With `:` and an index it is a key of a single request.
const MAX_KEY_LENGTH = 240
const MAX_UNREAD_BYTES = 32 * 1024 * 1024

export const bulkEndpoint = endpoint({
  method: 'post',
  path: BULK_PATH,
  id: 'bulk',
  tag: 'Start',
  summary: 'Start, signal, stop or terminate many workflows',
  docs: 'api/bulk.md#bulk',
  description:
    'Each line of the body is a request, and each line of the response answers one, in the order of their ends',
  headers: ['Idempotency-Key', 'traceparent', 'tracestate'],
  body: { name: 'BulkLine', schema: bulkLine, lines: TYPES, isRequired: true },
  responses: {
    200: {
      description: 'The first line was read. Without a last line with `done`, the answer is not complete',
      lines: { [NDJSON]: schemaOf('BulkAnswer') },
      headers: ['X-Accel-Buffering'],
    },
  },
  errors: BODY_ERRORS,
  takes: 'lines',
  key: 'taken',
  // Each line needs the right of its request.
  access: 'any',
  async handle(c, { bulk }) {
    const { headers } = c.req.raw
    const type = mediaTypeOf(headers)
    if (!TYPES.includes(type)) throw unsupportedType(type, NDJSON)
    requireIdentity(headers)
    const { idempotencyKey: key } = idempotencyKey(c)
    if (key !== undefined && key.length > MAX_KEY_LENGTH)
      throw new ServiceError(
        'ValidationError',
        `The Idempotency-Key of a bulk has at most ${MAX_KEY_LENGTH} characters`,
      )
    const lines = readLines(c.req.raw, { ...bulk, maxLines: MAX_LINES }, c.get('signal'))
    const first = await lines.next()
    if (first.done) throw new ServiceError('ValidationError', 'The request body has no line')
    return answerAll(c, bulk, first.value, lines, key)
  },
})

function answerAll(
  c: Context<Env>,
  bulk: BulkSettings,
  first: Line,
  lines: AsyncGenerator<Line, void>,
  key: string | undefined,
): Response {
  const answerTo = lineHandler(c, bulk, key)
  const { promise: sent, resolve } = Promise.withResolvers<void>()
  c.set('sent', sent)
  const output = createOutput(c.get('abort'))
  const counts = { items: 0, succeeded: 0, failed: 0 }

  async function carryOut(line: Line): Promise<void> {
    const { status, text } = await answerTo(line, counts.items++)
    counts[status < 400 ? 'succeeded' : 'failed']++
    output.write(text)
  }

  /** Carries out one line after the other. */
  async function work(): Promise<void> {
    for (let next = await lines.next(); !next.done; next = await lines.next()) await carryOut(next.value)
  }

  async function workAll(): Promise<void> {
    const { inFlight = Number.POSITIVE_INFINITY } = c.get('caller')?.limits ?? {}
    const others = Array.from({ length: Math.min(bulk.atOnce, inFlight) - 1 }, work)
    const done = await Promise.allSettled([carryOut(first).then(work), ...others])
    // All lines that were read are finished, whatever has ended the reading.
    const failure = done.find((one) => one.status === 'rejected')
    if (failure === undefined) output.end(`${JSON.stringify({ done: true, ...counts })}\n`)
    else output.fail(failure.reason)
    Object.assign(c.get('facts'), counts, !output.isComplete() && { cut: String(failure?.reason ?? 'not read') })
    resolve()
  }

  void workAll()
  return respond(c, output.body, 200, { 'Content-Type': NDJSON, 'X-Accel-Buffering': 'no' })
}

interface LineAnswer {
  status: number
  text: string
}

/** Sends the request of a line through the app, with the headers of the bulk. */
function lineHandler(c: Context<Env>, { carryOut, maxLineBytes }: BulkSettings, key: string | undefined) {
  const shared = new Headers(c.req.raw.headers)
  for (const name of ['Transfer-Encoding', 'Content-Encoding', 'Idempotency-Key', 'Expect']) shared.delete(name)
  shared.set('Content-Type', 'application/json')
  for (const [name, value] of Object.entries(c.get('traceContext')?.() ?? {})) shared.set(name, value)
  const base = new URL(c.req.url).origin + c.get('basePath')

  function toRequest(line: Uint8Array<ArrayBuffer>, index: number, requestId: string): Request {
    const { method, path, body, isKeyed, key: own } = parseLine(line)
    const headers = new Headers(shared)
    headers.set('X-Request-Id', requestId)
    headers.set('Content-Length', String(body.byteLength))
    const used = own ?? (key !== undefined && isKeyed ? `${key}:${index}` : undefined)
    if (used !== undefined) headers.set('Idempotency-Key', used)
    return new Request(base + path, { method, headers, body })
  }

  return async (line: Line, index: number): Promise<LineAnswer> => {
    const requestId = `${c.get('requestId').slice(0, MAX_ID_PREFIX)}.${index}`
    const answer = (status: number, flags: string, body: string) => ({
      status,
      text: `{"index":${index},"status":${status}${flags},"body":${onOneLine(body)}}\n`,
    })
    try {
      if (line === 'too long') throw tooLarge(maxLineBytes)
      if (line === 'too many') throw TOO_MANY
      const response = await carryOut(toRequest(line, index, requestId))
      const flags = FLAGS.map(([name, header]) => {
        const value = response.headers.get(header)
        return value === null ? '' : `,"${name}":${value}`
      })
      return answer(response.status, flags.join(''), await response.text())
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      const problem = toProblemBody(error, requestId)
      return answer(problem.status, '', JSON.stringify(problem))
    }
  }
}

// With a dot and an index it is a request id of the client.
const MAX_ID_PREFIX = 120

/** The headers of a response that its line has. */
const FLAGS = [
  ['replayed', 'Idempotency-Replayed'],
  ['started', 'Portico-Started'],
] as const

const TOO_MANY = new ServiceError(
  'PayloadTooLargeError',
  `A bulk has at most ${MAX_LINES} lines; neither this one nor those after it were carried out`,
)

const encoder = new TextEncoder()

/**
 * The body of the response. What the client has not read waits in memory: reading the request must not wait for it,
 * because many clients read nothing before they have sent everything. `stop` ends the reading of the request.
 */
function createOutput(stop: () => void) {
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null
  let isComplete = false
  const strategy = new ByteLengthQueuingStrategy({ highWaterMark: MAX_UNREAD_BYTES })
  const body = new ReadableStream<Uint8Array>(
    {
      start(created) {
        controller = created
      },
      cancel() {
        controller = null
        stop()
      },
    },
    strategy,
  )

  function fail(reason: unknown): void {
    controller?.error(reason)
    controller = null
  }

  function write(text: string): void {
    const bytes = encoder.encode(text)
    if (controller === null) return
    if ((controller.desiredSize ?? 0) >= bytes.byteLength) controller.enqueue(bytes)
    else {
      fail(new Error('The client does not read the answers'))
      stop()
    }
  }

  return {
    body,
    write,
    fail,
    end(text: string) {
      write(text)
      isComplete = controller !== null
      controller?.close()
    },
    isComplete: () => isComplete,
  }
}
