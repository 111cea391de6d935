import { expect, test } from 'vitest'
import type * as z from 'zod'
import { checkInput } from '../../../src/service/catalog/check-input.ts'
import type { JsonSchema } from '../../../src/shared/wire/catalog.ts'
import { toJsonSchema } from '../../../src/worker/catalog/schemas/json-schema.ts'
import type { ZodCase } from './zod-case.ts'
import { STRINGS } from './zod-strings.ts'
import { COMPOSITES, NUMBERS } from './zod-values.ts'

const CASES = Object.entries<ZodCase>({ ...STRINGS, ...NUMBERS, ...COMPOSITES })

/** The schema as the worker kit publishes it and the API reads it. */
function published(schema: z.ZodType): JsonSchema {
  const made = toJsonSchema(schema, 'input', (fault) => {
    throw new Error(fault)
  })
  return JSON.parse(JSON.stringify(made))
}

test('zod: the corpus is complete, and zod agrees with it', () => {
  const wrong = CASES.flatMap(([name, [schema, accepted, rejected = []]]) => [
    ...accepted.filter((value) => !schema.safeParse(value).success).map((value) => [name, 'is rejected', value]),
    ...rejected.filter((value) => schema.safeParse(value).success).map((value) => [name, 'is accepted', value]),
  ])

  expect(CASES.length).toBeGreaterThanOrEqual(133)
  expect(wrong).toEqual([])
})

test('zod: values that zod accepts are accepted', () => {
  const rejected = CASES.flatMap(([name, [schema, accepted]]) => {
    const own = published(schema)
    return accepted.flatMap((value) =>
      checkInput(value, own).issues.map(({ path, message }) => ({ name, value, path, message })),
    )
  })

  expect(rejected).toEqual([])
})

test('zod: values of another type, and with missing or unknown keys, are rejected', () => {
  const accepted = CASES.flatMap(([name, [schema, , rejected = []]]) => {
    const own = published(schema)
    return rejected
      .filter((value) => checkInput(value, own).issues.length === 0)
      .map((value) => ({ name, value, schema: own }))
  })

  expect(accepted).toEqual([])
})
