import { expect, test } from 'vitest'
import { parseTraceDocument } from '../../../../../src/shared/wire/trace/document.ts'
import type { TraceEntry } from '../../../../../src/shared/wire/trace/entry.ts'
import { fitTrace } from '../../../../../src/worker/closed-runs/archive/write-trace.ts'

const RUN = { namespace: 'default', workflowId: 'order-1', runId: 'r' }
const began: TraceEntry = {
  id: 'r',
  parentId: null,
  kind: 'workflow',
  name: 'order',
  at: 1,
  phase: 'began',
  input: 'x',
}
const ended: TraceEntry = { ...began, at: 9, phase: 'ended', output: 'y' }
const steps = Array.from({ length: 20 }, (_, index): TraceEntry => {
  return { id: `r:step:${index}`, parentId: 'r', kind: 'step', name: `step ${index}`, at: index, phase: 'began' }
})
const entries = [began, ...steps, ended]

test('fitTrace: a trace within the limit is complete', () => {
  const { found } = parseTraceDocument(fitTrace({ ...RUN, entries }, 1 << 20))

  expect(found.entries).toEqual(entries)
})

test.each([1000, 1500, 2000])('fitTrace: a larger trace is truncated to %i bytes and says so', (maxBytes) => {
  const text = fitTrace({ ...RUN, entries }, maxBytes)

  const { found } = parseTraceDocument(text)
  const ofRun = found.entries.filter(({ id }) => id === 'r')
  const kept = found.entries.filter(({ id }) => id !== 'r')
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes)
  expect(ofRun.map(({ phase }) => phase)).toEqual(expect.arrayContaining(['began', 'ended']))
  expect(ofRun.some(({ attributes }) => attributes?.truncated === true)).toBe(true)
  expect(kept).toEqual(steps.slice(0, kept.length))
  expect(kept.length).toBeGreaterThan(0)
})
