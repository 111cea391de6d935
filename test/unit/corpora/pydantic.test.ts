import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { checkInput } from '../../../src/service/catalog/check-input.ts'
import { parseJson } from '../../../src/shared/lib/json.ts'
import type { JsonSchema } from '../../../src/shared/wire/catalog.ts'

interface Corpus {
  cases: {
    name: string
    /** As JSON, because parsing would round its numbers. */
    schema: string
    /** `accepted`: by pydantic. `fits`: the schema, formats being annotations. */
    values: { json: string; accepted: boolean; fits: boolean }[]
  }[]
}

// Made by pydantic_corpus.py, which says how.
const { cases }: Corpus = JSON.parse(readFileSync(new URL('pydantic.json', import.meta.url), 'utf8')) as Corpus

const VALUES = cases.flatMap(({ name, schema, values }) => {
  const own = parseJson(schema) as JsonSchema
  return values.map((value) => ({ ...value, name, issues: checkInput(parseJson(value.json), own).issues }))
})

test('pydantic: the corpus is complete', () => {
  expect(cases.length).toBeGreaterThanOrEqual(60)
  expect(VALUES.filter(({ accepted, fits }) => accepted && fits).length).toBeGreaterThanOrEqual(107)
})

// Coercions that are not in the schema: by the schema, these values have another type or do not match.
const COERCED = [
  'int: "5"',
  'int: true',
  'float: "1.5"',
  'bool: "yes"',
  'bool: 1',
  'datetime: 1704164645',
  'date: 0',
  'timedelta: 5',
  'ipv4: 2130706433',
  'enum int: "2"',
  'float infinite: "inf"',
  'list: ["1"]',
  'set: [1, 1]',
  'model: {"sku": " ABC-1 ", "quantity": 1, "price": 1}',
  'validated before: "5"',
]

test('pydantic: values that pydantic accepts are accepted, except those that its own schema rejects', () => {
  const rejected = VALUES.filter(({ accepted, issues }) => accepted && issues.length > 0)

  expect(rejected.map(({ name, json }) => `${name}: ${json}`)).toEqual(COERCED)
  expect(rejected.filter(({ fits }) => fits)).toEqual([])
})

test('pydantic: values that neither pydantic nor its schema accepts are rejected', () => {
  expect(VALUES.filter(({ accepted, fits, issues }) => !accepted && !fits && issues.length === 0)).toEqual([])
})
