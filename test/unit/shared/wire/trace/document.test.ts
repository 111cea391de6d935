import { expect, test } from 'vitest'
import { MAX_JSON_DEPTH } from '../../../../../src/shared/lib/json.ts'
import { parseEntries, parseTraceDocument, toTraceDocument } from '../../../../../src/shared/wire/trace/document.ts'
import type { TraceEntry } from '../../../../../src/shared/wire/trace/entry.ts'
import { spansKey, stepId } from '../../../../../src/shared/wire/trace/keys.ts'
import { textOf } from '../../../../support/repository.ts'

const ENTRY: TraceEntry = {
  id: 'run-1',
  parentId: null,
  kind: 'workflow',
  name: 'order',
  at: 100,
  phase: 'began',
  input: { n: 1 },
}
const DOCUMENT = { namespace: 'default', workflowId: 'orders-17', runId: 'run-1', entries: [ENTRY] }

const documentWith = (...entries: unknown[]) => JSON.stringify({ ...JSON.parse(toTraceDocument(DOCUMENT)), entries })

test('parseTraceDocument: reads the output of toTraceDocument', () => {
  expect(parseTraceDocument(toTraceDocument(DOCUMENT))).toEqual({ found: DOCUMENT, skipped: 0 })
})

test('parseTraceDocument: keeps numbers that a double cannot represent, and reads NaN as a string', () => {
  const text = documentWith().replace(
    '[]',
    '[{"id":"a","parentId":null,"kind":"k","name":"n","at":1,"phase":"began","input":[9007199254740993,NaN]}]',
  )

  expect(JSON.stringify(parseTraceDocument(text).found.entries[0]?.input)).toBe('[9007199254740993,"NaN"]')
})

test('parseTraceDocument: rejects invalid JSON, other documents and other versions', () => {
  const texts = [
    '',
    '{',
    'null',
    '[]',
    '"portico"',
    '{}',
    '{"portico":"catalog","version":1}',
    toTraceDocument(DOCUMENT).slice(0, -20),
  ]

  for (const text of texts) expect(() => parseTraceDocument(text)).toThrow(SyntaxError)
  expect(() => parseTraceDocument(toTraceDocument(DOCUMENT).replace('"version":1', '"version":2'))).toThrow(
    'unsupported version, expected 1',
  )
  expect(() => parseTraceDocument(JSON.stringify({ portico: 'trace', version: 1, entries: [] }))).toThrow(
    'namespace, workflowId, runId or entries is missing or invalid',
  )
})

test('parseTraceDocument: rejects values that are nested too deep (threat 84)', () => {
  const deep = `${'['.repeat(MAX_JSON_DEPTH)}${']'.repeat(MAX_JSON_DEPTH)}`

  expect(() => parseTraceDocument(documentWith().replace('[]', `[${deep}]`))).toThrow(SyntaxError)
})

test('parseTraceDocument: skips invalid entries and counts them', () => {
  const wrong: unknown[] = [
    null,
    7,
    'entry',
    [],
    {},
    { ...ENTRY, id: '' },
    { ...ENTRY, id: 7 },
    { ...ENTRY, id: 'x'.repeat(5000) },
    { ...ENTRY, parentId: 7 },
    { ...ENTRY, kind: null },
    { ...ENTRY, name: {} },
    { ...ENTRY, at: '100' },
    { ...ENTRY, at: -1 },
    { ...ENTRY, at: 1e300 },
    { ...ENTRY, phase: 'paused' },
  ]

  const { found, skipped } = parseTraceDocument(documentWith(...wrong, ENTRY))

  expect(found.entries).toEqual([ENTRY])
  expect(skipped).toBe(wrong.length)
})

test('parseTraceDocument: drops unknown keys of an entry', () => {
  const hostile = `{"id":"a","parentId":null,"kind":"k","name":"n","at":1,"phase":"ended","children":[1],"encoded":["/input",7],"__proto__":{"x":1},
    "error":{"name":"E","message":"m","stack":"/home","cause":{"name":7}},"attributes":[1]}`

  const [entry] = parseTraceDocument(documentWith().replace('[]', `[${hostile}]`)).found.entries

  expect(entry).toEqual({
    id: 'a',
    parentId: null,
    kind: 'k',
    name: 'n',
    at: 1,
    phase: 'ended',
    error: { name: 'E', message: 'm', cause: null },
    encoded: ['/input'],
  })
})

test('parseTraceDocument: truncates a chain of causes (threat 84)', () => {
  const error = JSON.parse(`${'{"name":"E","message":"m","cause":'.repeat(50)}null${'}'.repeat(50)}`)

  const [entry] = parseTraceDocument(documentWith({ ...ENTRY, phase: 'ended', error })).found.entries

  expect(JSON.stringify(entry).match(/"name":"E"/g)).toHaveLength(11)
})

test('parseEntries: skips invalid entries and counts them', () => {
  expect(parseEntries([JSON.stringify(ENTRY), '{', '7'])).toEqual({ found: [ENTRY], skipped: 2 })
})

test('parseEntries: reads NaN and Infinity as strings, beside exact numbers', () => {
  const ended = { ...ENTRY, phase: 'ended', input: undefined, output: { score: 0 } }
  const line = JSON.stringify(ended).replace('"score":0', '"score":NaN,"low":-Infinity,"n":9007199254740993')

  const { found, skipped } = parseEntries([line])

  expect(skipped).toBe(0)
  expect(JSON.stringify(found[0]?.output)).toBe('{"score":"NaN","low":"-Infinity","n":9007199254740993}')
})

test('parseEntries: an entry keeps what is not nested too deep, and fits into a document', () => {
  const { input: _, ...ended } = { ...ENTRY, phase: 'ended' as const }
  const tree = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
  const line = (levels: number) => JSON.stringify({ ...ended, output: [{ tree: 0 }] }).replace('0}', `${tree(levels)}}`)

  for (const levels of [995, 996, 999, 1200, 100_000]) {
    const { found, skipped } = parseEntries([line(levels)])
    const text = toTraceDocument({ ...DOCUMENT, entries: found })

    expect(skipped).toBe(0)
    expect(parseTraceDocument(text).found.entries).toEqual(found)
    expect(text.includes(tree(levels))).toBe(levels === 995)
    expect(text.includes('"… [truncated: too large]"')).toBe(levels !== 995)
  }
})

test('spansKey: two different pairs never share a key', () => {
  expect(spansKey('a', 'b:c')).toBe('spans:a:b:c')
  expect(spansKey('a:b', 'c')).toBe('spans:a%3Ab:c')
})

test('stepId: contains the run id and the activity id', () => {
  expect(stepId('run-1', '5')).toBe('run-1:step:5')
})

test('docs/trace-protocol.md: its example is a stored trace', () => {
  const page = textOf('docs/trace-protocol.md')
  const [, example = ''] = /^```json trace\n(.*?)^```$/ms.exec(page) ?? []

  const { found, skipped } = parseTraceDocument(example)

  expect(skipped).toBe(0)
  expect(found.entries).toEqual(JSON.parse(example).entries)
})
