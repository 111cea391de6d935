import { readFileSync } from 'node:fs'
import { Ajv2020, type Options } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { toJsonSchema } from '../../../../../src/worker/catalog/schemas/json-schema.ts'
import { openApiErrors } from '../../../../support/openapi-validators.ts'
import type { ZodCase } from '../../../corpora/zod-case.ts'
import { STRINGS } from '../../../corpora/zod-strings.ts'
import { COMPOSITES, NUMBERS } from '../../../corpora/zod-values.ts'
import { documentOf, entry } from './catalog-document.ts'

interface Corpus {
  cases: { name: string; schema: string; values: { json: string; fits: boolean }[] }[]
}

// Made by pydantic_corpus.py, which says how.
const { cases }: Corpus = JSON.parse(readFileSync(new URL('../../../corpora/pydantic.json', import.meta.url), 'utf8'))

// Of these the document has the schema, but JavaScript rounds large numbers,
// and reads patterns of Python in its own way.
const NOT_ALIKE = [
  'text pattern of rust: "abd"',
  'text pattern dot: "a\\rb"',
  'text pattern dot: "a\\u2028b"',
  'text pattern dot: "a\u2028b"',
  'int bounds: 9223372036854775807',
  'int beyond: 18446744073709551617',
  'int beyond: -18446744073709551615',
]

test('schemas that pydantic publishes accept the same values in the document', async () => {
  const { ajv, document } = await validatorOf(cases.map(({ schema }) => JSON.parse(schema)))
  const compared = cases.flatMap(({ name, values }, at) => {
    const accepts = ajv.getSchema(`document#/components/schemas/c${at}_input`)
    return values.map(({ json, fits }) => ({
      where: `${name}: ${json}`,
      fits,
      isAccepted: accepts?.(JSON.parse(json)),
    }))
  })

  expect(await openApiErrors(document)).toEqual([])
  expect(compared.filter(({ fits }) => fits).length).toBeGreaterThan(100)
  expect(compared.filter(({ fits, isAccepted }) => fits !== isAccepted).map(({ where }) => where)).toEqual(NOT_ALIKE)
})

// Patterns without the flag `u` count units instead of characters, and one is not valid with it.
const NOT_ALIKE_ZOD = [
  'regexUnits rejects "😀"',
  'regexSurrogates rejects "😀"',
  'regexEmptyClass rejects "😀a"',
  'emailRfc5322 accepts "a"',
]

test('schemas that the worker kit publishes for zod accept the same values in the document', async () => {
  const zodCases = Object.entries<ZodCase>({ ...STRINGS, ...NUMBERS, ...COMPOSITES })
  const { ajv, document } = await validatorOf(
    zodCases.map(([, [schema]]) => published(schema)),
    { multipleOfPrecision: 9 },
  )
  const wrong = zodCases.flatMap(([name, [, accepted, rejected = []]], at) => {
    const accepts = ajv.getSchema(`document#/components/schemas/c${at}_input`)
    return [
      ...accepted.filter((value) => !accepts?.(value)).map((value) => `${name} rejects ${JSON.stringify(value)}`),
      ...rejected.filter((value) => accepts?.(value)).map((value) => `${name} accepts ${JSON.stringify(value)}`),
    ]
  })

  expect(await openApiErrors(document)).toEqual([])
  expect(wrong).toEqual(NOT_ALIKE_ZOD)
})

/** The schema as the worker kit publishes it. */
function published(schema: ZodCase[0]) {
  const made = toJsonSchema(schema, 'input', (issue) => {
    throw new Error(issue)
  })
  return JSON.parse(JSON.stringify(made))
}

/** The document of a catalog with a workflow for each schema, and a validator of its components. */
async function validatorOf(schemas: readonly (Record<string, unknown> | boolean)[], options: Options = {}) {
  const document = await documentOf(schemas.map((schema, at) => entry(`c${at}`, schema)))
  const ajv = new Ajv2020({ strict: false, validateFormats: false, ...options })
  ajv.addSchema({ $id: 'document', components: document.components })
  return { ajv, document }
}
