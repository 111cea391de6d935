/**
 * Streams as the UI message stream of the AI SDK, which `useChat` reads: docs/ai-sdk.md.
 *
 * Its readers resume by the number of chunks that they have received. So the chunks depend on the items alone, whatever
 * the reader has received before and however the items are divided into events.
 */
import type { Context } from 'hono'
import { fromBase64 } from '../../../shared/lib/base64.ts'
import { isObject, parseLenientJson } from '../../../shared/lib/json.ts'
import { type Env, respond, toCall } from '../../http/context.ts'
import { dataFrame, eventStream, reportedProblem } from '../../http/events/events.ts'
import type { StreamFormat, StreamFormatOptions } from '../../http/events/stream-events.ts'
import { ENDS } from '../../http/prefer.ts'
import type { Call } from '../../model/call.ts'
import type { FeedEvent, StreamEnd, StreamFeed } from '../../model/stream.ts'
import { createPartConverter } from './provider-parts.ts'
import { createPartTracker, hasType, isUiChunk, type UiChunk } from './ui-chunks.ts'

const HEADERS = { 'X-Vercel-AI-UI-Message-Stream': 'v1' }

/** The format `ui-message`. */
export const uiMessages: StreamFormat = { headers: HEADERS, respond: respondWithChunks }

/** `follow` is called once more to count the chunks for a reader that wants the last ones. */
async function respondWithChunks(
  c: Context<Env>,
  follow: () => Promise<StreamFeed | null>,
  { startIndex = 0, commentEveryMs, headers }: StreamFormatOptions,
): Promise<Response> {
  const counted = startIndex < 0 ? await follow() : null
  const tail = counted && (await tailOf(counted.events, -startIndex, toCall(c)))
  const feed = await follow()
  if (feed === null) return respond(c, null, 204, {})
  const toErrorText = (error: unknown) => {
    if (!(error instanceof Error)) throw error
    return reportedProblem(c, error).message
  }
  const frames = uiMessageFrames(feed.events, { startIndex: tail?.startIndex ?? startIndex, toErrorText })
  const tailHeader = tail && { [TAIL_INDEX_HEADER]: String(tail.tailIndex) }
  return eventStream(c, frames, { commentEveryMs, headers: { ...HEADERS, ...tailHeader, ...headers } })
}

export interface UiMessageOptions {
  /** How many chunks the reader has received already. */
  startIndex: number
  /** What a client may know about an error of `events`. */
  toErrorText: (error: unknown) => string
}

/**
 * The body of the response. It ends with `[DONE]`. Rejects if `events` ends without `done`, because the call was
 * aborted: the connection must break, because readers take the end of the response for the end of the message.
 */
export async function* uiMessageFrames(
  events: AsyncIterable<FeedEvent>,
  { startIndex, toErrorText }: UiMessageOptions,
): AsyncGenerator<string, void, undefined> {
  const toChunks = createChunkReader()
  let index = 0
  let last: UiChunk | undefined
  try {
    for await (const event of events) {
      const chunks = toChunks(event)
      const sent = chunks.slice(Math.max(0, startIndex - index))
      index += chunks.length
      last = sent.at(-1) ?? last
      if (sent.length > 0) yield toFrames(sent)
      if (event.type === 'done') return yield lastFrames(last, errorTextOf(event.done))
    }
  } catch (error) {
    return yield lastFrames(last, toErrorText(error))
  }
  throw new DOMException('The events ended before the run', 'AbortError')
}

/** `WorkflowChatTransport` requests the stream again, without a pause, until it has received a `finish`. */
function lastFrames(last: UiChunk | undefined, errorText: string | null): string {
  if (errorText !== null) {
    const error = { type: 'error', errorText }
    return `${toFrames([error, { type: 'finish', finishReason: 'error' }])}data: [DONE]\n\n`
  }
  return `${last?.type === 'finish' ? '' : toFrames([{ type: 'finish' }])}data: [DONE]\n\n`
}

function toFrames(chunks: UiChunk[]): string {
  return chunks.map(dataFrame).join('')
}

function errorTextOf({ workflowId, status }: StreamEnd): string | null {
  // A stream of one run ends where the next run continues.
  if (status === 'completed' || status === 'continued') return null
  return `Workflow ${workflowId} ${ENDS.get(status) ?? status}`
}

/** A reader that wants the last chunks calculates the index of the first one that it receives from this header. */
export const TAIL_INDEX_HEADER = 'X-Workflow-Stream-Tail-Index'

export interface StreamTail {
  startIndex: number
  /** The value of `TAIL_INDEX_HEADER`. */
  tailIndex: number
}

/**
 * Where to begin in order to send the last `count` of the chunks that are published now. If the first one is inside a
 * part, begins with that part. Stops reading `events` after the last item that is published now, or when the workflow
 * cannot say whether there is more.
 */
export async function tailOf(events: AsyncIterable<FeedEvent>, count: number, call: Call): Promise<StreamTail> {
  const toChunks = createChunkReader()
  const parts = createPartTracker()
  // For each chunk, the index of the nearest chunk before which no part is open: itself, or an earlier one.
  const starts: number[] = []
  for await (const event of untilNow(events, call)) {
    for (const chunk of toChunks(event)) {
      const start = parts.isOpen() ? starts.at(-1) : starts.length
      starts.push(start ?? 0)
      parts.accept(chunk)
    }
  }
  const startIndex = starts[Math.max(0, starts.length - count)] ?? 0
  // The reader calculates its first index as `tailIndex + 1 - count`, so `tailIndex` is lower if a part began earlier.
  return { startIndex, tailIndex: Math.min(starts.length, startIndex + count) - 1 }
}

async function* untilNow(events: AsyncIterable<FeedEvent>, call: Call): AsyncGenerator<FeedEvent, void, undefined> {
  // The offset after the last item, once the workflow has said it.
  let head = Number.POSITIVE_INFINITY
  for await (const event of events) {
    if (event.type === 'obstacle') return
    yield event
    // The items before `live` were stored already. If the workflow does not respond, the last of them is the end.
    if (event.type === 'live') head = await event.head(call).catch(() => event.next)
    if ((event.type === 'live' || event.type === 'items') && event.next >= head) return
  }
}

/** Returns a function that converts one event after the other. */
function createChunkReader(): (event: FeedEvent) => UiChunk[] {
  const convert = createPartConverter()
  const parts = createPartTracker()
  let hasItems = false
  return (event) => {
    if (event.type === 'truncated') return [truncatedChunk(event, hasItems)]
    if (event.type !== 'items') return []
    hasItems ||= event.items.length > 0
    return event.items
      .flatMap(({ data }) => toChunks(data, convert))
      .filter((chunk) => isUiChunk(chunk) && parts.accept(chunk))
  }
}

function toChunks(data: unknown, convert: (part: UiChunk) => UiChunk[]): UiChunk[] {
  const value = decode(data)
  if (!hasType(value)) return []
  return isUiChunk(value) ? [value] : convert(value)
}

/** `@temporalio/ai-sdk` publishes bytes that hold JSON. */
function decode(data: unknown): unknown {
  if (!isObject(data) || data.encoding !== 'binary/plain' || typeof data.data !== 'string') return data
  try {
    return parseLenientJson(new TextDecoder().decode(fromBase64(data.data)))
  } catch {
    // Bytes of something else, which a message has no place for.
    return null
  }
}

/**
 * A gap inside a message is an error. But items before the first one that is kept usually belong to earlier messages:
 * this chunk goes only to `onData` of the reader, and not into the message.
 */
function truncatedChunk({ from, to }: { from: number; to: number }, isGap: boolean): UiChunk {
  if (isGap) return { type: 'error', errorText: `Items ${from} to ${to - 1} of the stream are lost` }
  return { type: 'data-truncated', data: { from, to }, transient: true }
}
