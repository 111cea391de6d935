import { expect, test } from 'vitest'
import type * as z from 'zod'
import { checkInput } from '../../../src/domain/admission/check-input.ts'
import type { JsonSchema } from '../../../src/protocol/catalog.ts'
import { toJsonSchema } from '../../../src/worker/catalog/json-schema.ts'
import type { ZodCase } from './zod-case.ts'
import { STRINGS } from './zod-strings.ts'
import { COMPOSITES, NUMBERS } from './zod-values.ts'

const CASES = Object.entries<ZodCase>({ ...STRINGS, ...NUMBERS, ...COMPOSITES })

/** As the kit publishes it, and as it arrives. */
function published(schema: z.ZodType): JsonSchema {
  const made = toJsonSchema(schema, 'input', (fault) => {
    throw new Error(fault)
  })
  return JSON.parse(JSON.stringify(made))
}

test('zod: the corpus is that large, and zod takes what it says', () => {
  const wrong = CASES.flatMap(([name, [schema, accepted, refused = []]]) => [
    ...accepted.filter((value) => !schema.safeParse(value).success).map((value) => [name, 'is refused', value]),
    ...refused.filter((value) => schema.safeParse(value).success).map((value) => [name, 'is accepted', value]),
  ])

  expect(CASES.length).toBeGreaterThanOrEqual(133)
  expect(wrong).toEqual([])
})

test('zod: nothing is refused that zod accepts', () => {
  const refused = CASES.flatMap(([name, [schema, accepted]]) => {
    const own = published(schema)
    return accepted.flatMap((value) =>
      checkInput(value, own).issues.map(({ path, message }) => ({ name, value, path, message })),
    )
  })

  expect(refused).toEqual([])
})

test('zod: what plainly is of another type, lacks a key or has one too many is refused', () => {
  const accepted = CASES.flatMap(([name, [schema, , refused = []]]) => {
    const own = published(schema)
    return refused
      .filter((value) => checkInput(value, own).issues.length === 0)
      .map((value) => ({ name, value, schema: own }))
  })

  expect(accepted).toEqual([])
})
