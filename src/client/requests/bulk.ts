/** `portico/bulk`: many requests in one, finished even if its connection is lost: docs/api/bulk.md. */
import type { BulkAnswer, BulkEnd } from '../../service/model/commands.ts'
import { sleep, withDeadline } from '../../shared/lib/abort.ts'
import { sentOnce } from '../../shared/lib/sent-once.ts'
import type { MessageRequest, ReasonOptions, StartRequest, WithStartRequest } from '../client.ts'
import { isProblem, toError } from '../connection/answer.ts'
import { newIdempotencyKey } from '../connection/idempotency-key.ts'
import { parseWithBigInts, toJson } from '../connection/json.ts'
import type { CallOptions, ClientOptions } from '../connection/options.ts'
import { mayHaveTakenEffect } from '../connection/retry-delay.ts'
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

/** Not all lines have an answer: docs/api/bulk.md says which may be sent again. `cause` says why. */
export class IncompleteBulkError extends Error {
  /** Of the bulk: a start or a message without a key of its own has this one, `:` and its index. */
  readonly key: string
  /** How many lines have no answer. */
  readonly missing: number
  /** Their indices. */
  readonly lines: readonly number[]

  constructor(key: string, lines: readonly number[], cause: unknown) {
    super(`The answers to ${lines.length} lines are missing; the key of the bulk is ${key}`, { cause })
    this.name = 'IncompleteBulkError'
    this.key = key
    this.missing = lines.length
    this.lines = lines
  }
}

/** Whether the line may be sent again after it may have been carried out: it cannot reach a later run of its id. */
export function isRepeatable(line: BulkLine): boolean {
  if (line.op === 'signal-with-start') return line.workflowId === undefined
  if (line.op === 'signal' || line.op === 'stop') return line.runId !== undefined
  return line.op !== 'terminate'
}

/** Whether the single request would have been rejected. */
export function hasFailed({ status }: BulkAnswer): boolean {
  return status >= 400
}

const MAX_LINES = 10_000
// After lines were rejected, a request has twice as many as the one before has ended, and these.
const MORE_LINES = 32
const MAX_BACKOFF_MS = 5000
// A line has no `Retry-After`; that of its single request is at least this.
const REJECTED_MS = 1000
// The service ends a line before.
const MAX_SILENCE_MS = 120_000
const TRANSIENT: readonly unknown[] = [null, 408, 429, 502, 503, 504]

/**
 * The answer to each line, in the order in which they end; `index` counts the lines from 0. Lines without an answer are
 * sent again as the client repeats their calls, and so are those that are rejected for now, while no line ends for less
 * than `retryMs`. Then these end with their last answer, and the others are in an `IncompleteBulkError`.
 * Throws a `PorticoError` if the service rejects the bulk.
 */
export async function* bulk(
  options: ClientOptions,
  lines: Iterable<BulkLine> | AsyncIterable<BulkLine>,
  { key = newIdempotencyKey(), signal = new AbortController().signal }: BulkOptions = {},
): AsyncGenerator<BulkAnswer, void> {
  const { retryMs = 60_000, onRetry } = options
  const open = openLines(await numbered(lines, key, options.catalog))
  let [attempts, beganAt, size] = [0, Date.now(), MAX_LINES]
  let failure: PorticoError | undefined
  let cause: PorticoError | undefined
  while (open.canSend()) {
    const sent = open.next(size)
    let ended = 0
    cause = undefined
    try {
      for await (const answer of send(options, sent.map(open.textOf), signal)) {
        const index = sent[answer.index] ?? 0
        const rejection = open.take(index, answer)
        if (rejection === undefined) {
          ended++
          attempts = 0
          beganAt = Date.now()
          yield { ...answer, index }
        } else cause = rejection
      }
      size = Math.min(2 * ended + MORE_LINES, MAX_LINES)
    } catch (error) {
      signal.throwIfAborted()
      cause = toPorticoError(error)
      failure = cause
      open.lose(sent, cause)
    }
    if (cause === undefined) continue
    const delayMs = delayAfter(cause, ++attempts, cause === failure ? 0 : REJECTED_MS)
    if (!open.canSend() || Date.now() + delayMs > beganAt + retryMs) break
    onRetry?.({ error: cause, attempts, delayMs })
    await sleep(delayMs, signal)
    signal.throwIfAborted()
  }
  yield* open.rejections()
  const missing = open.missing()
  if (missing.length > 0) throw new IncompleteBulkError(key, missing, failure ?? cause)
}

/** Infinite after an error that lasts. */
function delayAfter({ status, retryAfterMs }: PorticoError, attempts: number, leastMs: number): number {
  if (!TRANSIENT.includes(status)) return Number.POSITIVE_INFINITY
  return retryAfterMs || Math.max(leastMs, Math.min(50 * 2 ** attempts, MAX_BACKOFF_MS))
}

interface Line {
  json: string
  isRepeatable: boolean
}

/** The lines that have not ended. */
function openLines(lines: Map<number, Line>) {
  // Those that must not be sent again, and the last answers of those that were rejected for now.
  const lost = new Set<number>()
  const rejected = new Map<number, BulkAnswer>()
  let isUntouched = true
  return {
    canSend: () => lines.size > lost.size,
    missing: () => [...lines.keys()],
    textOf: (index: number) => lines.get(index)?.json ?? '',
    /** The indices of the next lines to send. */
    next(size: number): number[] {
      const others = [...lines.keys()].filter((index) => !lost.has(index) && !rejected.has(index))
      const sent = [...others, ...rejected.keys()].slice(0, size)
      for (const index of sent) rejected.delete(index)
      return sent
    },
    /** Removes the line that has ended. Returns the error of one that was rejected for now. */
    take(index: number, answer: BulkAnswer): PorticoError | undefined {
      isUntouched = false
      const rejection = rejectionOf(answer, lines.get(index))
      if (rejection === undefined) lines.delete(index)
      else rejected.set(index, answer)
      return rejection
    },
    /** After an error for `sent`. Throws the error if the service has rejected the bulk. */
    lose(sent: number[], error: PorticoError): void {
      if (mayHaveTakenEffect(error)) {
        isUntouched = false
        for (const index of sent) if (lines.get(index)?.isRepeatable === false && !rejected.has(index)) lost.add(index)
      }
      if (isUntouched && !TRANSIENT.includes(error.status)) throw error
    },
    /** The last answers, with which these lines end. */
    *rejections(): Generator<BulkAnswer> {
      for (const [index, answer] of rejected) {
        lines.delete(index)
        yield { ...answer, index }
      }
    },
  }
}

/** The error of a line that is sent again: nothing was done, or a repeat cannot do it twice. */
function rejectionOf({ status, body }: BulkAnswer, line: Line | undefined): PorticoError | undefined {
  if (![429, 503].includes(status) || !isProblem(body)) return undefined
  const error = toError(body, { status })
  return line?.isRepeatable || !mayHaveTakenEffect(error) ? error : undefined
}

/** The lines by their index, each with the key that it has as a line of the whole. */
async function numbered(
  lines: Iterable<BulkLine> | AsyncIterable<BulkLine>,
  key: string,
  catalog: string | undefined,
): Promise<Map<number, Line>> {
  const all = new Map<number, Line>()
  for await (const line of lines) {
    const takesKey = line.op !== 'stop' && line.op !== 'terminate'
    const starts = 'workflowName' in line && catalog !== undefined
    const keyed = { ...(starts && { catalog }), ...(takesKey && { key: `${key}:${all.size}` }) }
    const given = Object.fromEntries(Object.entries(line).filter(([, value]) => value !== undefined))
    all.set(all.size, { json: toJson({ ...keyed, ...given }), isRepeatable: isRepeatable(line) })
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
