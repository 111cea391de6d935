import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { expect, test } from 'vitest'
import { createPartConverter } from '../../../../../src/service/fronts/chat/provider-parts.ts'
import { isUiChunk } from '../../../../../src/service/fronts/chat/ui-chunks.ts'

const USAGE = {
  inputTokens: { total: 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: undefined, reasoning: undefined },
}

const START: LanguageModelV4StreamPart = { type: 'stream-start', warnings: [] }

function finish(unified: 'stop' | 'tool-calls'): LanguageModelV4StreamPart {
  return { type: 'finish', usage: USAGE, finishReason: { unified, raw: undefined } }
}

/** As they come out of JSON. */
function convertAll(...parts: LanguageModelV4StreamPart[]) {
  const convert = createPartConverter()
  return parts.flatMap((part) => convert(JSON.parse(JSON.stringify(part))))
}

test('provider parts: a call of a model is one step of a message', () => {
  expect(convertAll(START, finish('stop'))).toEqual([
    { type: 'start' },
    { type: 'start-step' },
    { type: 'finish-step' },
    { type: 'finish', finishReason: 'stop' },
  ])
})

test('provider parts: after tool calls the next call of the model is a step of the same message', () => {
  const types = convertAll(START, finish('tool-calls'), START, finish('stop')).map(({ type }) => type)

  expect(types).toEqual(['start', 'start-step', 'finish-step', 'start-step', 'finish-step', 'finish'])
})

test('provider parts: a message that has finished is followed by another one', () => {
  const types = convertAll(START, finish('stop'), START).map(({ type }) => type)

  expect(types).toEqual(['start', 'start-step', 'finish-step', 'finish', 'start', 'start-step'])
})

test('provider parts: another attempt of the activity removes what the previous one has sent', () => {
  const cut = convertAll(START, START).map(({ type }) => type)
  const failed = convertAll(START, { type: 'error', error: 'overloaded' }, finish('stop'), START, finish('stop'))

  expect(cut).toEqual(['start', 'start-step', 'reset-step'])
  expect(failed.map(({ type }) => type)).toEqual(['start', 'start-step', 'reset-step', 'finish-step', 'finish'])
})

test('provider parts: the input of a tool, its call and its result', () => {
  const chunks = convertAll(
    { type: 'tool-input-start', id: '1', toolName: 'search', providerExecuted: true, title: 'Search' },
    { type: 'tool-input-delta', id: '1', delta: '{"q":' },
    { type: 'tool-input-end', id: '1' },
    {
      type: 'tool-call',
      toolCallId: '1',
      toolName: 'search',
      input: '{"q":"a"}',
      dynamic: true,
      providerMetadata: { p: { a: 1 } },
    },
    { type: 'tool-result', toolCallId: '1', toolName: 'search', result: [1], preliminary: true },
    { type: 'tool-result', toolCallId: '1', toolName: 'search', result: { code: 5 }, isError: true },
  )

  expect(chunks).toEqual([
    { type: 'tool-input-start', toolCallId: '1', toolName: 'search', providerExecuted: true, title: 'Search' },
    { type: 'tool-input-delta', toolCallId: '1', inputTextDelta: '{"q":' },
    {
      type: 'tool-input-available',
      toolCallId: '1',
      toolName: 'search',
      input: { q: 'a' },
      dynamic: true,
      providerMetadata: { p: { a: 1 } },
    },
    { type: 'tool-output-available', toolCallId: '1', output: [1], providerExecuted: true, preliminary: true },
    { type: 'tool-output-error', toolCallId: '1', errorText: '{"code":5}', providerExecuted: true },
  ])
  expect(chunks.every(isUiChunk)).toBe(true)
})

test.for([
  ['', {}],
  ['{"q":', '{"q":'],
  ['{"n":12345678901234567890}', { n: JSON.rawJSON('12345678901234567890') }],
] as const)('provider parts: a tool call with the input %s has the input %j', ([input, expected]) => {
  const convert = createPartConverter()

  const [chunk] = convert({ type: 'tool-call', toolCallId: '1', toolName: 'a', input })

  expect(JSON.stringify(chunk?.input)).toBe(JSON.stringify(expected))
})

test('provider parts: null in an optional field is left out', () => {
  const convert = createPartConverter()

  const chunks = convert({ type: 'tool-input-start', id: '1', toolName: 'a', providerMetadata: null, dynamic: null })

  expect(chunks).toEqual([{ type: 'tool-input-start', toolCallId: '1', toolName: 'a' }])
})

test('provider parts: what a message has no place for is dropped', () => {
  const chunks = convertAll(
    { type: 'response-metadata', id: '1', modelId: 'm' },
    { type: 'source', sourceType: 'url', id: '1', url: 'https://example.com' },
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AA==' } },
    { type: 'raw', rawValue: {} },
    { type: 'ping' },
    { type: 'tool-input-end', id: '1' },
  )

  expect(chunks).toEqual([])
})
