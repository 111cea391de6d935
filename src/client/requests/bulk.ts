/** `portico/bulk`: many requests in one, finished even if its connection is lost: docs/api/bulk.md. */
import type { BulkAnswer, BulkEnd } from '../../service/model/commands.ts'
import { sleep, withDeadline } from '../../shared/lib/abort.ts'
import { sentOnce } from '../../shared/lib/sent-once.ts'
import type { MessageRequest, ReasonOptions, StartRequest, WithStartRequest } from '../client.ts'
import { newIdempotencyKey } from '../connection/idempotency-key.ts'
import { parseWithBigInts, toJson } from '../connection/json.ts'
import type { CallOptions, ClientOptions } from '../connection/options.ts'
import { createClient, PorticoError } from '../index.ts'

export type { BulkAnswer } from '../../service/model/commands.ts'

type Without<T> = T extends unknown ? Omit<T, keyof CallOptions | 'idempotencyKey'> : never
type Keyed = { key?: string | undefined }
type OfRun = { workflowId: string; runId?: string | undefined }

/** The fields of the single request, and the names in its path. */
export type BulkLine =
  | ({ op?: 'start'; workflowName: string } & Keyed & Without<StartRequest>)
  | ({ op: 'signal'; name: string } & OfRun & Keyed & Without<MessageRequest>)
  | ({ op: 'signal-with-start'; name: string; workflowName: string } & Keyed &
      Without<WithStartRequest<unknown[], unknown[]>>)
  | ({ op: 'stop' | 'terminate' } & OfRun & Without<ReasonOptions>)

export interface BulkOptions {
  /** At most 240 visible ASCII characters. Default: a new one. */
  key?: string | undefined
  /** Ends the bulk, which rejects with its reason. What was sent may still be carried out. */
  signal?: AbortSignal | undefined
}

/** Not all lines have an answer: send them again with `key`. `cause` says why. */
export class IncompleteBulkError extends Error {
  readonly key: string
  /** How many lines have no answer. */
  readonly missing: number

  constructor(key: string, missing: number, cause: unknown) {
    super(`The answers to ${missing} lines are missing; send the bulk again with the key ${key}`, { cause })
    this.name = 'IncompleteBulkError'
    this.key = key
    this.missing = missing
  }
}

/** Whether the single request would have been rejected. */
export function hasFailed({ status }: BulkAnswer): boolean {
  return status >= 400
}

const MAX_LINES = 10_000
const MAX_BACKOFF_MS = 5000
// The service ends a line before.
const MAX_SILENCE_MS = 120_000
const TRANSIENT: readonly unknown[] = [null, 408, 429, 502, 503, 504]

/**
 * The answer to each line, in the order in which they end; `index` counts the lines from 0. Lines without an answer are
 * sent again while the service does not respond for less than `retryMs`. Throws `IncompleteBulkError` after that, and a
 * `PorticoError` if the service rejects the bulk.
 */
export async function* bulk(
  options: ClientOptions,
  lines: Iterable<BulkLine> | AsyncIterable<BulkLine>,
  { key = newIdempotencyKey(), signal = new AbortController().signal }: BulkOptions = {},
): AsyncGenerator<BulkAnswer, void> {
  const { retryMs = 60_000, onRetry } = options
  const missing = await numbered(lines, key, options.catalog)
  const total = missing.size
  for (let [attempts, beganAt] = [0, Date.now()]; missing.size > 0; ) {
    const sent = [...missing].slice(0, MAX_LINES)
    try {
      for await (const answer of send(
        options,
        sent.map(([, line]) => line),
        signal,
      )) {
        const [index = 0] = sent[answer.index] ?? []
        missing.delete(index)
        attempts = 0
        beganAt = Date.now()
        yield { ...answer, index }
      }
    } catch (error) {
      signal.throwIfAborted()
      const cause = toPorticoError(error)
      const isTransient = TRANSIENT.includes(cause.status)
      if (!isTransient && missing.size === total) throw cause
      const delayMs = cause.retryAfterMs || Math.min(50 * 2 ** ++attempts, MAX_BACKOFF_MS)
      if (!isTransient || Date.now() + delayMs > beganAt + retryMs)
        throw new IncompleteBulkError(key, missing.size, cause)
      onRetry?.({ error: cause, attempts, delayMs })
      await sleep(delayMs, signal)
      signal.throwIfAborted()
    }
  }
}

/** The lines as JSON by their index, each with the key that it has as a line of the whole. */
async function numbered(
  lines: Iterable<BulkLine> | AsyncIterable<BulkLine>,
  key: string,
  catalog: string | undefined,
): Promise<Map<number, string>> {
  const all = new Map<number, string>()
  for await (const line of lines) {
    const takesKey = line.op !== 'stop' && line.op !== 'terminate'
    const starts = 'workflowName' in line && catalog !== undefined
    const keyed = { ...(starts && { catalog }), ...(takesKey && { key: `${key}:${all.size}` }) }
    all.set(all.size, toJson({ ...keyed, ...line }))
  }
  return all
}

/** The answers to one bulk. Rejects if they are not complete. */
async function* send(options: ClientOptions, lines: string[], signal: AbortSignal): AsyncGenerator<BulkAnswer> {
  const { fetch = (url, init) => globalThis.fetch(url, init), parse = parseWithBigInts } = options
  let body: ReadableStream<Uint8Array> | null = null
  const client = createClient({
    ...options,
    retryMs: 0,
    async fetch(url, init) {
      const response = await fetch(url, { ...init, ...sentOnce('POST', lines.join('\n')) })
      if (!response.ok || !/ndjson/.test(response.headers.get('Content-Type') ?? '')) return response
      body = response.body
      // The client reads the whole of a response.
      return new Response('{}', { headers: response.headers })
    },
  })
  await client.request('POST', '/workflow/bulk', { signal, headers: { 'Content-Type': 'application/x-ndjson' } })
  if (body === null) throw new Error('the response has no lines')
  for await (const line of linesOf(body, signal)) {
    const answer = parse(line) as BulkAnswer | BulkEnd
    if ('done' in answer) return
    yield answer
  }
  throw new Error('the answers are not complete')
}

async function* linesOf(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let unread = ''
  try {
    while (true) {
      const { value, done } = await withDeadline(reader.read(), Date.now() + MAX_SILENCE_MS, signal)
      if (done) return
      const lines = (unread + decoder.decode(value, { stream: true })).split('\n')
      unread = lines.pop() ?? ''
      yield* lines
    }
  } finally {
    // Closes the connection of a bulk that is no longer read.
    reader.cancel().catch(() => {})
  }
}

function toPorticoError(error: unknown): PorticoError {
  if (error instanceof PorticoError) return error
  const message = `POST /workflow/bulk: ${error instanceof Error ? error.message : String(error)}`
  return new PorticoError('ConnectionError', message, { status: null }, error)
}
