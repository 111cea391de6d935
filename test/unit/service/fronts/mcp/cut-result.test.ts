import { expect, test } from 'vitest'
import {
  cutResult,
  endedToolResult,
  openToolResult,
  unexpectedToolResult,
} from '../../../../../src/service/fronts/mcp/tool-result.ts'
import { result as completed } from '../../http/run-api.ts'

const RUN = { workflowId: 'w', runId: 'r' }
const ended = (output: unknown) => ({ ...completed, ...RUN, output })

test('cutResult: a text within the limit stays as it is', () => {
  const whole = endedToolResult(ended('x'.repeat(100)))

  expect(cutResult(whole, { maxBytes: 100 })).toBe(whole)
  expect(cutResult(openToolResult(RUN), { maxBytes: 1024 })).toEqual(openToolResult(RUN))
})

test('cutResult: a longer text is cut, with a note that names the tool and the offset to read on', () => {
  const { content, structuredContent, isError } = cutResult(endedToolResult(ended('x'.repeat(200_000))), {
    maxBytes: 65_536,
  })

  expect(content.map(({ text }) => text)).toEqual(['x'.repeat(65_536), expect.stringContaining('workflow_result')])
  expect(JSON.parse(content[1]?.text ?? '')).toEqual({
    ...{ ...RUN, status: 'completed' },
    note: 'The text of the output is cut: it has 200000 characters. To read on, call workflow_result with this workflowId, this runId and offset 65536.',
  })
  expect(structuredContent).toEqual({ ...RUN, status: 'completed', output: 'x'.repeat(200_000) })
  expect(isError).toBe(undefined)
})

test.for<[what: string, output: unknown]>([
  ['a string', 'x'.repeat(5000)],
  ['an object', { list: Array.from({ length: 700 }, (_, n) => ({ n })) }],
  ['characters of two code units', `a${'😀'.repeat(1500)}é`],
  ['half of a pair', '\ud83d'.repeat(1000)],
])('cutResult: the parts of %s together are its text, and none is above the limit', ([, output]) => {
  const whole = endedToolResult(ended(output))
  const parts: string[] = []
  for (let offset: number | null = 0; offset !== null; ) {
    const { content } = cutResult(whole, { maxBytes: 1024, offset })
    parts.push(content[0]?.text ?? '')
    const [, next] = / offset (\d+)/.exec(content[1]?.text ?? '') ?? []
    offset = next === undefined ? null : Number(next)
  }

  expect(parts.length).toBeGreaterThan(2)
  expect(parts.join('')).toBe(whole.content[0]?.text)
  expect(Math.max(...parts.map((part) => Buffer.byteLength(part)))).toBeLessThanOrEqual(1024)
})

test('cutResult: a later part is the text and the value, without the whole output', () => {
  const whole = endedToolResult(ended('abcdef'.repeat(1000)))
  const { content, structuredContent } = cutResult(whole, { maxBytes: 1024, offset: 5999 })

  expect(content[0]?.text).toBe('f')
  expect(structuredContent).toEqual({
    ...{ ...RUN, status: 'completed', offset: 5999, text: 'f' },
    note: 'The text of the output ends here, after 6000 characters.',
  })
  expect(cutResult(whole, { maxBytes: 1024, offset: 7000 }).content[0]?.text).toBe('')
})

test('cutResult: offsets of an unexpected output are those of the output, and its own note stays', () => {
  const output = 'x'.repeat(5000)
  const { content, structuredContent } = cutResult(unexpectedToolResult(ended(output)), { maxBytes: 1024 })

  expect(content[0]?.text).toBe('x'.repeat(1024))
  expect(JSON.parse(content[1]?.text ?? '').note).toMatch(/does not match .* offset 1024\.$/)
  expect(structuredContent.unexpectedOutput).toBe(output)
})

test('cutResult: the text of a failure is cut too, and stays an error', () => {
  const errorDetails = { ...DETAILS, message: 'x'.repeat(5000) }
  const failed = endedToolResult({ ...ended(null), status: 'failed', errorDetails })
  const { content, structuredContent, isError } = cutResult(failed, { maxBytes: 1024 })

  expect([content[0]?.text.length, isError, structuredContent.error]).toEqual([1024, true, errorDetails])
})

const DETAILS = { name: 'E', details: [], cause: null, retryable: false, activityId: null }
