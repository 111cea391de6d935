/** The chunks of the AI SDK's UI message stream: https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol */
import { isObject } from '../../../shared/lib/json.ts'

export interface UiChunk {
  type: string
  [field: string]: unknown
}

export const FINISH_REASONS: ReadonlySet<unknown> = new Set([
  'stop',
  'length',
  'content-filter',
  'tool-calls',
  'error',
  'interrupted',
  'other',
])

/** Fields that a type must have: those in `strings` as strings, `value` with any JSON value. */
interface Required {
  strings: readonly string[]
  value?: string
}

const PART: Required = { strings: ['id'] }
const DELTA: Required = { strings: ['id', 'delta'] }
const FILE: Required = { strings: ['url', 'mediaType'] }
const NOTHING: Required = { strings: [] }
const DATA: Required = { strings: [], value: 'data' }

/** The types that `ai` 7.0.173 accepts, apart from `data-…`. It throws for any other, and for a missing field. */
const TYPES = new Map<string, Required>([
  ['start', NOTHING],
  ['finish', NOTHING],
  ['abort', NOTHING],
  ['start-step', NOTHING],
  ['finish-step', NOTHING],
  ['reset-step', NOTHING],
  ['message-metadata', { strings: [], value: 'messageMetadata' }],
  ['text-start', PART],
  ['text-delta', DELTA],
  ['text-end', PART],
  ['reasoning-start', PART],
  ['reasoning-delta', DELTA],
  ['reasoning-end', PART],
  ['tool-input-start', { strings: ['toolCallId', 'toolName'] }],
  ['tool-input-delta', { strings: ['toolCallId', 'inputTextDelta'] }],
  ['tool-input-available', { strings: ['toolCallId', 'toolName'], value: 'input' }],
  ['tool-input-error', { strings: ['toolCallId', 'toolName', 'errorText'], value: 'input' }],
  ['tool-approval-request', { strings: ['approvalId', 'toolCallId'] }],
  ['tool-approval-response', { strings: ['approvalId'], value: 'approved' }],
  ['tool-output-available', { strings: ['toolCallId'], value: 'output' }],
  ['tool-output-error', { strings: ['toolCallId', 'errorText'] }],
  ['tool-output-denied', { strings: ['toolCallId'] }],
  ['custom', { strings: ['kind'] }],
  ['source-url', { strings: ['sourceId', 'url'] }],
  ['source-document', { strings: ['sourceId', 'mediaType', 'title'] }],
  ['file', FILE],
  ['reasoning-file', FILE],
  ['steering-message', { strings: ['id'], value: 'parts' }],
  ['error', { strings: ['errorText'] }],
])

export function hasType(value: unknown): value is UiChunk {
  return isObject(value) && typeof value.type === 'string'
}

/** Whether `ai` accepts the chunk. Of optional fields, checks only `finishReason`, because provider parts have it. */
export function isUiChunk(chunk: UiChunk): boolean {
  const required = chunk.type.startsWith('data-') ? DATA : TYPES.get(chunk.type)
  if (required === undefined) return false
  const { strings, value } = required
  if (!strings.every((name) => typeof chunk[name] === 'string')) return false
  if (value !== undefined && chunk[value] === undefined) return false
  return chunk.type !== 'finish' || chunk.finishReason === undefined || FINISH_REASONS.has(chunk.finishReason)
}

export interface PartTracker {
  /** False for a chunk that continues a part whose beginning was not sent, for which `ai` throws. */
  accept(chunk: UiChunk): boolean
  /** Whether a part has begun and not ended since the step began. */
  isOpen(): boolean
}

type Role = 'begins' | 'continues' | 'ends'

const ROLES = new Map<string, Role>([
  ['text-start', 'begins'],
  ['text-delta', 'continues'],
  ['text-end', 'ends'],
  ['reasoning-start', 'begins'],
  ['reasoning-delta', 'continues'],
  ['reasoning-end', 'ends'],
  ['tool-input-start', 'begins'],
  ['tool-input-delta', 'continues'],
  ['tool-input-available', 'begins'],
  ['tool-input-error', 'begins'],
  ['tool-output-available', 'ends'],
  ['tool-output-error', 'ends'],
  ['tool-output-denied', 'ends'],
])

const BOUNDARIES: ReadonlySet<string> = new Set(['start', 'start-step', 'reset-step', 'finish-step', 'finish'])

/** Follows which parts of the message the chunks begin and end. */
export function createPartTracker(): PartTracker {
  const begun = new Set<string>()
  const open = new Set<string>()
  return {
    isOpen: () => open.size > 0,
    accept(chunk) {
      if (BOUNDARIES.has(chunk.type)) open.clear()
      if (chunk.type === 'reset-step') begun.clear()
      const role = ROLES.get(chunk.type)
      if (role === undefined) return true
      const isTool = typeof chunk.toolCallId === 'string'
      const key = isTool ? `tool ${chunk.toolCallId}` : `${chunk.type.slice(0, chunk.type.indexOf('-'))} ${chunk.id}`
      if (role === 'begins') {
        begun.add(key)
        open.add(key)
        return true
      }
      // The output of a tool may belong to a call of an earlier run, which the reader has in its message.
      const isAccepted = begun.has(key) || (isTool && role === 'ends')
      if (role === 'ends') {
        begun.delete(key)
        open.delete(key)
      }
      return isAccepted
    },
  }
}
