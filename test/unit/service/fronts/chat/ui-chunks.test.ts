import { type UIMessageChunk, uiMessageChunkSchema } from 'ai'
import { expect, test } from 'vitest'
import { createPartTracker, isUiChunk, type UiChunk } from '../../../../../src/service/fronts/chat/ui-chunks.ts'

/** The fields that each type must have. TypeScript compares the types with those of `ai`. */
const FIELDS = {
  start: {},
  finish: {},
  abort: {},
  'start-step': {},
  'finish-step': {},
  'reset-step': {},
  'message-metadata': { messageMetadata: null },
  'text-start': { id: '1' },
  'text-delta': { id: '1', delta: 'a' },
  'text-end': { id: '1' },
  'reasoning-start': { id: '1' },
  'reasoning-delta': { id: '1', delta: 'a' },
  'reasoning-end': { id: '1' },
  'tool-input-start': { toolCallId: '1', toolName: 'search' },
  'tool-input-delta': { toolCallId: '1', inputTextDelta: '{' },
  'tool-input-available': { toolCallId: '1', toolName: 'search', input: null },
  'tool-input-error': { toolCallId: '1', toolName: 'search', input: null, errorText: 'wrong' },
  'tool-approval-request': { toolCallId: '1', approvalId: '2' },
  'tool-approval-response': { approvalId: '2', approved: false },
  'tool-output-available': { toolCallId: '1', output: null },
  'tool-output-error': { toolCallId: '1', errorText: 'wrong' },
  'tool-output-denied': { toolCallId: '1' },
  custom: { kind: 'a.b' },
  'source-url': { sourceId: '1', url: 'https://example.com' },
  'source-document': { sourceId: '1', mediaType: 'text/plain', title: 'A' },
  file: { url: 'https://example.com', mediaType: 'text/plain' },
  'reasoning-file': { url: 'https://example.com', mediaType: 'text/plain' },
  'steering-message': { id: '1', parts: [] },
  error: { errorText: 'wrong' },
} satisfies Record<Exclude<UIMessageChunk['type'], `data-${string}`>, Record<string, unknown>>

const SMALLEST: UiChunk[] = [
  ...Object.entries(FIELDS).map(([type, fields]) => ({ type, ...fields })),
  { type: 'data-weather', data: null },
]

test.for(SMALLEST)('UI chunk: ai accepts $type, and so do we', async (chunk) => {
  expect([isUiChunk(chunk), await isAcceptedByAi(chunk)]).toEqual([true, true])
})

test.for(SMALLEST.flatMap((chunk) => Object.keys(chunk).map((field) => ({ chunk, field }))))(
  'UI chunk: ai rejects $chunk.type without $field, and so do we',
  async ({ chunk, field }) => {
    const { [field]: _, ...incomplete } = chunk
    const value = field === 'type' ? { ...incomplete, type: 'other' } : { type: chunk.type, ...incomplete }

    expect([isUiChunk(value), await isAcceptedByAi(value)]).toEqual([false, false])
  },
)

test.for([
  { type: 'finish', finishReason: 'stop' },
  { type: 'finish', finishReason: 'unknown' },
  { type: 'finish', finishReason: { unified: 'stop' } },
  { type: 'toString' },
])('UI chunk: ai and we agree on %j', async (chunk) => {
  expect(isUiChunk(chunk)).toBe(await isAcceptedByAi(chunk))
})

test('parts: a chunk of a part that did not begin is not accepted', () => {
  const parts = createPartTracker()
  const accepted = (chunk: UiChunk) => parts.accept(chunk)

  expect(accepted({ type: 'text-delta', id: '1', delta: 'a' })).toBe(false)
  expect(accepted({ type: 'text-start', id: '1' })).toBe(true)
  expect(accepted({ type: 'text-delta', id: '1', delta: 'a' })).toBe(true)
  // Parts of text and of reasoning have ids of their own.
  expect(accepted({ type: 'reasoning-delta', id: '1', delta: 'a' })).toBe(false)
  expect(accepted({ type: 'text-end', id: '1' })).toBe(true)
  expect(accepted({ type: 'text-end', id: '1' })).toBe(false)
  expect(accepted({ type: 'tool-input-delta', toolCallId: '1', inputTextDelta: '{' })).toBe(false)
})

test('parts: the output of a tool is accepted without its call, which an earlier run may have sent', () => {
  expect(createPartTracker().accept({ type: 'tool-output-available', toolCallId: '1', output: 1 })).toBe(true)
})

test('parts: after reset-step the parts of the step must begin again', () => {
  const parts = createPartTracker()

  parts.accept({ type: 'text-start', id: '1' })
  parts.accept({ type: 'reset-step' })

  expect(parts.accept({ type: 'text-delta', id: '1', delta: 'a' })).toBe(false)
})

test('parts: a part is open from its beginning to its end, or to the end of the step', () => {
  const parts = createPartTracker()
  const openAfter = (chunk: UiChunk) => parts.accept(chunk) && parts.isOpen()

  expect(openAfter({ type: 'text-start', id: '1' })).toBe(true)
  expect(openAfter({ type: 'data-x', data: 1 })).toBe(true)
  expect(openAfter({ type: 'text-end', id: '1' })).toBe(false)
  expect(openAfter({ type: 'tool-input-available', toolCallId: '1', toolName: 'a', input: {} })).toBe(true)
  expect(openAfter({ type: 'finish-step' })).toBe(false)
})

async function isAcceptedByAi(chunk: UiChunk): Promise<boolean> {
  const validated = await uiMessageChunkSchema().validate?.(chunk)
  return validated?.success === true
}
