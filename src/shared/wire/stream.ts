/**
 * The protocol of Temporal's workflow streams: the names and shapes that the SDKs' stream libraries agree on.
 */
import { isObject } from '../lib/json.ts'

/** Signal: appends items to the stream. */
export const STREAM_PUBLISH = '__temporal_workflow_stream_publish'

/** Update: waits for items after an offset. Some SDKs also have a query of this name, which does not wait. */
export const STREAM_POLL = '__temporal_workflow_stream_poll'

/** Query: the offset after the last item. */
export const STREAM_OFFSET = '__temporal_workflow_stream_offset'

/** An item, as signals and polls carry it: `data` is a serialized `Payload` in base64. */
export interface WireItem {
  topic: string
  data: string
}

/** The argument of `STREAM_PUBLISH`. */
export interface PublishInput {
  items: WireItem[]
  /** A batch is ignored if its number is not above the last one of its publisher. Empty: never ignored. */
  publisher_id: string
  sequence: number
}

/** The argument of `STREAM_POLL`. */
export interface PollInput {
  /** No topics: the items of all. */
  topics: string[]
  /** 0 begins with the first item that the workflow keeps. */
  from_offset: number
}

/** The result of `STREAM_POLL`. */
export interface PollResult {
  items: (WireItem & { offset: number })[]
  next_offset: number
  /** Whether the response was full, so that the next one follows at once. */
  more_ready: boolean
}

/** What a run passes to the next one, somewhere in its input, so that the stream continues there. */
export interface StreamState {
  /** The offset of the first item in `log`. */
  base_offset: number
  /** Items; the form is that of the SDK of the workflow. */
  log: unknown[]
  /** The number of the last batch of each publisher. */
  publisher_sequences: Record<string, number>
}

/** The types of failures with which `STREAM_POLL` says more than that it failed. */
export const TRUNCATED_OFFSET = 'TruncatedOffset'
export const STREAM_DRAINING = 'StreamDraining'

/**
 * The update id of the poll from an offset. All readers use the same, in all replicas, so the engine asks the workflow
 * once, and keeps the result.
 */
export function pollUpdateId(offset: number): string {
  return `${POLL_PREFIX}${offset}`
}

const POLL_PREFIX = 'portico-stream/'

export function isPollUpdateId(updateId: string): boolean {
  return updateId.startsWith(POLL_PREFIX)
}

/** The offsets of the items must ascend up to the one that follows. */
export function isPollResult(value: unknown): value is PollResult {
  if (!isObject(value) || !isOffset(value.next_offset) || !Array.isArray(value.items)) return false
  let last = -1
  for (const item of value.items) {
    if (!isWireItem(item) || !('offset' in item) || !isOffset(item.offset) || item.offset <= last) return false
    last = item.offset
  }
  return last < value.next_offset
}

export function isPublishInput(value: unknown): value is PublishInput {
  return isObject(value) && Array.isArray(value.items) && value.items.every(isWireItem)
}

const MAX_DEPTH = 6

/** The state in the arguments of a run; null without one. */
export function findStreamState(value: unknown, depth = 0): StreamState | null {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return null
  if (isObject(value) && isOffset(value.base_offset) && Array.isArray(value.log)) {
    const { base_offset, log, publisher_sequences: sequences } = value
    return { base_offset, log, publisher_sequences: isObject(sequences) ? toSequences(sequences) : {} }
  }
  for (const each of Object.values(value)) {
    const found = findStreamState(each, depth + 1)
    if (found !== null) return found
  }
  return null
}

function toSequences(value: Record<string, unknown>): Record<string, number> {
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, number] => isOffset(entry[1])))
}

export function isWireItem(value: unknown): value is WireItem {
  return isObject(value) && typeof value.topic === 'string' && typeof value.data === 'string'
}

// The ids of positions have up to 15 digits.
const MAX_OFFSET = 1e15 - 1

export function isOffset(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_OFFSET
}
