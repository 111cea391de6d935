import { expect, test } from 'vitest'
import { unreadable } from '../../../../src/shared/temporal/payload-json.ts'
import { parseEntries } from '../../../../src/shared/wire/trace/document.ts'
import type { TraceEntry, TraceError } from '../../../../src/shared/wire/trace/entry.ts'
import { TRUNCATED } from '../../../../src/shared/wire/trace/entry.ts'
import { type Redact, safeRedact, toRedacted } from '../../../../src/worker/tracing/redact.ts'

const ENTRY: TraceEntry = { id: 's', parentId: 'p', kind: 'http', name: 'GET', at: 1, phase: 'ended' }
const keep: Redact = (_path, value) => value

test('redact: replaces values under secret names, in any case, container and depth (threat 86)', () => {
  const headers = { Authorization: 'secret-1', 'X-API-Key': 'secret-2', accept: '*/*' }
  const pairs = [
    ['Cookie', 'secret-3'],
    ['accept', '*/*'],
  ]

  const { attributes, input, output } = redacted({
    attributes: { request: { headers }, pairs, tokens: 7 },
    input: new Headers({ 'set-cookie': 'secret-4', etag: 'x' }),
    output: new Map([['proxy-authorization', 'secret-5']]),
  })

  expect(attributes).toEqual({
    request: { headers: { Authorization: '[redacted]', 'X-API-Key': '[redacted]', accept: '*/*' } },
    pairs: [
      ['Cookie', '[redacted]'],
      ['accept', '*/*'],
    ],
    tokens: 7,
  })
  expect([input, output]).toEqual([{ etag: 'x', 'set-cookie': '[redacted]' }, { 'proxy-authorization': '[redacted]' }])
})

test('redact: replaces the value and warns if the function throws or returns a promise (threat 86)', () => {
  const warnings: unknown[] = []
  const warn = (_message: string, fields?: Readonly<Record<string, unknown>>) => void warnings.push(fields?.path)
  const throwing = safeRedact(() => {
    throw new Error('a bug')
  }, warn)
  const asynchronous = safeRedact(async () => 'secret', warn)

  expect(redacted({ input: 'secret' }, { redact: throwing }).input).toBe('[redact failed]')
  expect(redacted({ input: 'secret' }, { redact: asynchronous }).input).toBe('[redact failed]')
  expect(warnings).toContain('/input')
})

test('redact: keeps a payload that cannot be decoded, and lists its path', () => {
  const payload = { metadata: { encoding: new TextEncoder().encode('binary/encrypted') }, data: new Uint8Array([1, 2]) }

  const { input, encoded } = redacted({ input: [1, unreadable(payload)] })

  expect(input).toEqual([1, { metadata: { encoding: btoa('binary/encrypted') }, data: 'AQI=' }])
  expect(encoded).toEqual(['/input/1'])
})

test('redact: the function is called with each value and its path, and replaces or removes it', () => {
  const seen: string[] = []
  const redact: Redact = (path, value) => {
    seen.push(path)
    if (path === '/input/card') return '****'
    return path === '/attributes/a~1b/0' || path === '/output' ? undefined : value
  }

  const entry = redacted(
    { input: { card: '4242', name: 'Ada' }, output: 'secret', attributes: { 'a/b': ['secret', 1] } },
    { redact },
  )

  expect(entry).toEqual({ ...ENTRY, input: { card: '****', name: 'Ada' }, attributes: { 'a/b': [null, 1] } })
  expect(seen).toEqual([
    '/kind',
    '/name',
    '/input',
    '/input/card',
    '/input/name',
    '/output',
    '/attributes',
    '/attributes/a~1b',
    '/attributes/a~1b/0',
    '/attributes/a~1b/1',
  ])
})

test('redact: the function is called with the messages of errors and of their causes', () => {
  const redact: Redact = (path, value) =>
    path === '/error/cause/message' ? undefined : String(value).replace('4242', '****')

  const { error } = redacted(
    { error: { name: 'E', message: 'card 4242', cause: { name: 'C', message: 'secret', cause: null } } },
    { redact },
  )

  expect(error).toEqual({ name: 'E', message: 'card ****', cause: { name: 'C', message: '', cause: null } })
})

test('redact: the function is called with the details of errors and of their causes', () => {
  const redact: Redact = (path, value) => (/\/details\/0(\/card)?$/.test(path) && value === '4242' ? '****' : value)
  const cause = { name: 'C', message: '', details: ['4242'], cause: null }

  const { error } = redacted({ error: { name: 'E', message: '', details: [{ card: '4242' }], cause } }, { redact })

  expect(error).toMatchObject({ details: [{ card: '****' }], cause: { details: ['****'] } })
})

test('redact: the function is called with kind, name and error names; long names are truncated', () => {
  const redact: Redact = (_path, value) => (typeof value === 'string' ? value.replace('secret', '****') : value)
  const error = { name: 'secret', message: '', cause: null }

  const { name, ...entry } = redacted({ kind: 'a secret', name: `secret ${'ü'.repeat(5000)}`, error }, { redact })

  expect(entry).toMatchObject({ kind: 'a ****', error: { name: '****' } })
  expect(name.startsWith('**** ü')).toBe(true)
  expect(parseEntries([JSON.stringify({ ...entry, name })])).toMatchObject({ found: [{ name }], skipped: 0 })
})

test('redact: the function is called with the result of toJSON', () => {
  const redact: Redact = (path, value) => (path === '/input/card' ? '****' : value)

  const { input } = redacted({ input: { toJSON: () => ({ card: 'secret', cookie: 'secret' }) } }, { redact })

  expect(input).toEqual({ card: '****', cookie: '[redacted]' })
})

test('redact: truncates a long string between characters, with a marker', () => {
  const { output } = redacted({ output: 'ü'.repeat(100) }, { maxBytes: 11 })

  expect(output).toBe(`üüüüü${TRUNCATED}`)
})

test('redact: counts the bytes of a string as JSON, including escapes', () => {
  const { output, input } = redacted({ output: '"'.repeat(100), input: '\u0001'.repeat(100) }, { maxBytes: 60 })

  expect(output).toBe(`${'"'.repeat(30)}${TRUNCATED}`)
  expect(input).toBe(`${'\u0001'.repeat(10)}${TRUNCATED}`)
})

test('redact: truncates a large array or object, with a marker', () => {
  const { input, output } = redacted(
    { input: Array(100).fill('12345'), output: { a: 'x'.repeat(8), b: 2, c: 3 } },
    { maxBytes: 16 },
  )

  expect(input).toEqual(['12345', '12345', TRUNCATED])
  expect(output).toEqual({ a: 'x'.repeat(8), '…': TRUNCATED })
})

test('redact: the messages of an error and of its causes share one limit', () => {
  const failure = (left: number): TraceError => ({
    name: 'E',
    message: 'x'.repeat(60_000),
    cause: left === 0 ? null : failure(left - 1),
  })

  expect(JSON.stringify(redacted({ error: failure(10) }).error).length).toBeLessThan(65_536 + 1000)
})

test('redact: truncates values that are nested too deeply, with a marker', () => {
  expect(redacted({ input: [[['x']], 1] }, { maxDepth: 2 }).input).toEqual([[TRUNCATED], 1])
})

test('redact: leaves values below the limits unchanged', () => {
  const value = { text: 'x', list: [1, null, true], nested: { deep: [[]] } }

  expect(redacted({ input: value }).input).toEqual(value)
})

test('redact: converts or removes values that JSON cannot express, and ends circular references', () => {
  const circular: Record<string, unknown> = {}
  circular.self = circular

  const { input } = redacted({
    input: {
      big: 1n,
      nan: Number.NaN,
      f: () => {},
      date: new Date(0),
      bytes: new Uint8Array(3),
      error: new Error('no'),
      circular,
    },
  })

  expect(input).toMatchObject({
    big: '1',
    nan: 'NaN',
    date: '1970-01-01T00:00:00.000Z',
    bytes: '[3 bytes]',
    error: { name: 'Error', message: 'no' },
  })
  expect(input).not.toHaveProperty('f')
  expect(JSON.stringify(input)).toContain(TRUNCATED)
})

function redacted(more: Partial<TraceEntry>, { redact = keep, maxBytes = 65_536, maxDepth = 100 } = {}): TraceEntry {
  return toRedacted({ ...ENTRY, ...more }, redact, { maxBytes, maxDepth })
}
