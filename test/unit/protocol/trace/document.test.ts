import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { MAX_JSON_DEPTH } from '../../../../src/lib/exact-json.ts'
import { parseEntryTexts, parseTraceDocument, toTraceDocument } from '../../../../src/protocol/trace/document.ts'
import type { TraceEntry } from '../../../../src/protocol/trace/entry.ts'
import { spansKey, stepId } from '../../../../src/protocol/trace/keys.ts'

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

test('parseTraceDocument: gives back what was written', () => {
  expect(parseTraceDocument(toTraceDocument(DOCUMENT))).toEqual({ found: DOCUMENT, skipped: 0 })
})

test('parseTraceDocument: carries numbers that no double holds', () => {
  const text = documentWith().replace(
    '[]',
    '[{"id":"a","parentId":null,"kind":"k","name":"n","at":1,"phase":"began","input":9007199254740993}]',
  )

  expect(JSON.stringify(parseTraceDocument(text).found.entries[0]?.input)).toBe('9007199254740993')
})

test('parseTraceDocument: refuses what is no JSON, or of another maker or version', () => {
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
    'its version is not 1',
  )
  expect(() => parseTraceDocument(JSON.stringify({ portico: 'trace', version: 1, entries: [] }))).toThrow(
    'it lacks namespace, workflowId, runId or entries',
  )
})

test('parseTraceDocument: refuses what is nested too deep', () => {
  const deep = `${'['.repeat(MAX_JSON_DEPTH)}${']'.repeat(MAX_JSON_DEPTH)}`

  expect(() => parseTraceDocument(documentWith().replace('[]', `[${deep}]`))).toThrow(SyntaxError)
})

test('parseTraceDocument: leaves out entries that are none, and counts them', () => {
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

test('parseTraceDocument: of an entry only what is known comes through', () => {
  const hostile = `{"id":"a","parentId":null,"kind":"k","name":"n","at":1,"phase":"ended","children":[1],"__proto__":{"x":1},
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
  })
})

test('parseTraceDocument: cuts a chain of causes', () => {
  const error = JSON.parse(`${'{"name":"E","message":"m","cause":'.repeat(50)}null${'}'.repeat(50)}`)

  const [entry] = parseTraceDocument(documentWith({ ...ENTRY, phase: 'ended', error })).found.entries

  expect(JSON.stringify(entry).match(/"name":"E"/g)).toHaveLength(11)
})

test('parseEntryTexts: a text that is no entry is left out and counted', () => {
  expect(parseEntryTexts([JSON.stringify(ENTRY), '{', '7'])).toEqual({ found: [ENTRY], skipped: 2 })
})

test('spansKey: two different pairs never share a key', () => {
  expect(spansKey('a', 'b:c')).toBe('spans:a:b:c')
  expect(spansKey('a:b', 'c')).toBe('spans:a%3Ab:c')
})

test('stepId: names run and activity', () => {
  expect(stepId('run-1', '5')).toBe('run-1:step:5')
})

test('docs/protocol.md: its example is a stored trace', () => {
  const page = readFileSync(new URL('../../../../docs/protocol.md', import.meta.url), 'utf8')
  const [, example = ''] = /^```json trace\n(.*?)^```$/ms.exec(page) ?? []

  const { found, skipped } = parseTraceDocument(example)

  expect(skipped).toBe(0)
  expect(found.entries).toEqual(JSON.parse(example).entries)
})
