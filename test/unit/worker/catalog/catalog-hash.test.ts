import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from '../../../../src/shared/lib/json.ts'
import { catalogHash } from '../../../../src/worker/catalog/publish-catalog.ts'

const EMPTY = { workflows: [], workflowNames: {} }

test('canonicalJson: sorts keys by their UTF-16 code units, numeric and nested keys too', () => {
  const object = { b: 1, a: { '\ufb33': 6, '10': 1, '9': 2, Z: 3, é: 4, '😀': 5 } }

  expect(canonicalJson(object)).toBe('{"a":{"10":1,"9":2,"Z":3,"é":4,"😀":5,"\ufb33":6},"b":1}')
})

test('canonicalJson: keeps the order of arrays and omits undefined values', () => {
  expect(canonicalJson({ list: [3, 1, undefined, null], nothing: undefined })).toBe('{"list":[3,1,null,null]}')
})

test('canonicalJson: keeps an own __proto__', () => {
  expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1},"b":1}')
})

test('canonicalJson: is the same for any order of the keys', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value)
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
      expect(canonicalJson(reversed(value))).toBe(text)
    }),
  )
})

test('catalogHash: is the SHA-256 of the canonical definition and traces', async () => {
  const expected = createHash('sha256')
    .update('{"definition":{"workflowNames":{},"workflows":[]},"traces":false}')
    .digest('hex')

  expect(await catalogHash(EMPTY, false)).toBe(expected)
})

test('catalogHash: changes with the definition and with the traces', async () => {
  const hashes = await Promise.all([
    catalogHash(EMPTY, false),
    catalogHash({ ...EMPTY, workflowNames: { a: 'a' } }, false),
    catalogHash(EMPTY, { remote: 'https://b.s3.eu-central-1.amazonaws.com/{rootRunId}' }),
  ])

  expect(new Set(hashes).size).toBe(3)
})

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, member]): [string, unknown] => [key, reversed(member)])
      .reverse(),
  )
}
