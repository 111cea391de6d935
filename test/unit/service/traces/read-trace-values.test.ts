import { expect, test } from 'vitest'
import { readTrace } from '../../../../src/service/traces/read-trace.ts'
import { createPayloadReader } from '../../../../src/shared/temporal/payload.ts'
import { fromPayloadJson } from '../../../../src/shared/temporal/payload-json.ts'
import { readTraceDocument, toTraceDocument } from '../../../../src/shared/wire/trace/document.ts'
import type { TraceEntry } from '../../../../src/shared/wire/trace/entry.ts'
import { maskEntry } from '../../../../src/shared/wire/trace/mask-entry.ts'
import { encodeEntries } from '../../../../src/worker/tracing/codec.ts'
import { aCall } from '../../call.ts'
import { turning } from '../../shared/temporal/turning-codec.ts'
import { aDescription, anEngine, publishedCatalogs } from '../catalog-fixture.ts'
import { holds, ports, RUN, SPAN, trace } from './trace-sources.ts'

test('readTrace: masks the values that the redact of the catalog has not processed (threat 86)', async () => {
  const began: TraceEntry = { ...RUN, input: 'secret-1', attributes: { runId: 'run-1' } }
  const cause = { name: 'C', message: 'secret-3', cause: null }
  const ended: TraceEntry = { ...RUN, phase: 'ended', error: { name: 'E', message: 'secret-2', cause } }
  const span: TraceEntry = {
    ...SPAN,
    id: 'run-1:span:1',
    name: 'secret-4',
    attributes: { card: 'secret-5', attempt: 1 },
  }
  const step: TraceEntry = { ...SPAN, id: 'run-1:step:1', kind: 'step', attributes: { card: 'secret-6', attempts: 2 } }
  const entries = [began, ended, span, step]
  const read = async (published: boolean, marked?: string) => {
    const fixture = publishedCatalogs([{ name: 'order' }], { redacted: published })
    const marks = marked === undefined ? {} : { redacted: marked }
    const sources = [holds({ 'run-1': entries.map((entry) => ({ ...entry, ...marks })) })]
    return readTrace({ ...ports(sources), catalogs: fixture.catalogs }, { ref: { workflowId: 'orders-17' } }, aCall())
  }

  for (const masked of [await read(true), await read(true, 'another-queue')]) {
    expect(JSON.stringify(masked)).not.toContain('secret-')
    expect(masked.data).toMatchObject({
      input: '[redacted]',
      error: { name: 'E', message: '[redacted]' },
      attributes: { runId: 'run-1' },
      children: [
        { name: '[redacted]', attributes: { card: '[redacted]', attempt: 1 } },
        { name: 'summarise', attributes: { card: '[redacted]', attempts: 2 } },
      ],
    })
  }
  for (const shown of [await read(true, 'orders'), await read(false)]) expect(shown.data.input).toBe('secret-1')
})

test('readTrace: redacts the values of secret names, whatever the source (threat 86)', async () => {
  const entries: TraceEntry[] = [
    {
      ...RUN,
      input: { user: 'Ada', password: 'secret-1', nested: [{ API_Key: 'secret-2' }] },
      attributes: { headers: [['Authorization', 'secret-3']] },
    },
  ]

  const { data } = await trace([holds({ 'run-1': entries })])

  expect(data.input).toEqual({ user: 'Ada', password: '[redacted]', nested: [{ API_Key: '[redacted]' }] })
  expect(JSON.stringify(data)).not.toContain('secret-')
})

test('readTrace: decodes archived payloads in place, all in one call', async () => {
  const payload = (name: string) => ({ metadata: { encoding: 'eA==' }, data: name })
  const entries: TraceEntry[] = [
    { ...RUN, input: [1, payload('input')], encoded: ['/input/1'] },
    {
      ...RUN,
      phase: 'ended',
      error: { name: 'E', message: payload('message') as never, cause: null },
      encoded: ['/error/message', '/nowhere'],
    },
  ]
  const calls: unknown[] = []
  const engine = anEngine({
    describe: async () => aDescription(),
    async decode(payloads) {
      calls.push(payloads)
      return payloads.map(({ data }) =>
        data === 'message' ? { message: 'plain', stack_trace: 'at x' } : { password: 'secret', plain: data },
      )
    },
  })

  const { data } = await readTrace(
    { ...ports([holds({ 'run-1': entries })]), engine },
    { ref: { workflowId: 'orders-17' } },
    aCall(),
  )

  expect(data).toMatchObject({ input: [1, { password: '[redacted]', plain: 'input' }], error: { message: 'plain' } })
  expect(calls).toHaveLength(1)
})

test('readTrace: an archived error with a codec keeps its message, details and causes, without secrets', async () => {
  const root = { name: 'Root', message: 'root', details: [{ password: 'secret-1' }], cause: null }
  const error = { name: 'E', message: 'outer', details: [{ code: 17 }], cause: root }
  const timer: TraceEntry = { ...RUN, id: 't', parentId: RUN.id, kind: 'timer', attributes: { summary: 'card 4242' } }
  const lastFailure = { name: 'E', message: 'card 4242', cause: root }
  const step: TraceEntry = { ...RUN, id: 'u', parentId: RUN.id, kind: 'step', attributes: { attempts: 2, lastFailure } }
  const archived = await encodeEntries([RUN, timer, step, { ...RUN, phase: 'ended', error }], turning)
  const { found, skipped } = readTraceDocument(
    JSON.parse(toTraceDocument({ namespace: 'n', workflowId: 'w', runId: 'run-1', entries: archived })),
  )
  const engine = anEngine({
    describe: async () => aDescription(),
    decode: (payloads) => createPayloadReader(turning).decode(payloads.map(fromPayloadJson)),
  })

  const { data } = await readTrace(
    { ...ports([holds({ 'run-1': found.entries })]), engine },
    { ref: { workflowId: 'orders-17' } },
    aCall(),
  )

  expect(JSON.stringify(archived)).not.toMatch(/outer|root|17|secret-1|4242/)
  expect(skipped).toBe(0)
  const shownRoot = { ...root, details: [{ password: '[redacted]' }] }
  expect(data.children).toMatchObject([
    { attributes: timer.attributes },
    { attributes: { attempts: 2, lastFailure: { ...lastFailure, cause: shownRoot } } },
  ])
  expect(data.error).toEqual({ ...error, cause: shownRoot })
})

test('maskEntry: the details of an error and of its causes are masked', () => {
  const root = { name: 'Root', message: 'root', details: ['secret-1'], cause: null }

  const { error } = maskEntry({ ...RUN, error: { name: 'E', message: 'outer', details: ['secret-2'], cause: root } })

  expect(error).toEqual({
    name: 'E',
    message: '[redacted]',
    details: ['[redacted]'],
    cause: { name: 'Root', message: '[redacted]', details: ['[redacted]'], cause: null },
  })
})
