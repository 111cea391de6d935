/** Schemas of libraries that convert themselves: https://standardschema.dev/json-schema. */
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import * as mini from 'zod/mini'
import { checkInput } from '../../../../src/service/catalog/check-input.ts'
import type { CatalogEntry } from '../../../../src/shared/wire/catalog.ts'
import { defineCatalog } from '../../../../src/worker/catalog/define-catalog.ts'

const GREET = async ({ name }: { name: string; times?: number | undefined }): Promise<{ text: string }> => ({
  text: name,
})
const WORKFLOWS = { greet: GREET }

const VALIBOT_INPUT = v.object({ name: v.pipe(v.string(), v.minLength(1)), times: v.optional(v.number()) })
const MINI_INPUT = mini.object({
  name: mini.string().check(mini.minLength(1)),
  times: mini.optional(mini.number()),
})

test.for<[library: string, greet: NonNullable<Parameters<typeof defineCatalog<typeof WORKFLOWS>>[0]['greet']>]>([
  ['arktype schemas', { input: type({ name: 'string > 0', 'times?': 'number' }), output: type({ text: 'string' }) }],
  [
    'valibot schemas in toStandardJsonSchema',
    { input: toStandardJsonSchema(VALIBOT_INPUT), output: toStandardJsonSchema(v.object({ text: v.string() })) },
  ],
  ['zod/mini schemas', { input: MINI_INPUT, output: mini.object({ text: mini.string() }) }],
])('defineCatalog: converts the input and output of %s, and the API enforces them', ([, greet]) => {
  expectGreet(defineCatalog<typeof WORKFLOWS>({ greet }).workflows[0])
})

test('defineCatalog: a schema that transforms its value has different input and output schemas', () => {
  const ark = type({ count: type('string').pipe(Number) })
  const valibot = v.object({ count: v.pipe(v.string(), v.transform(Number), v.number()) })

  const { workflows } = defineCatalog({
    ark: { input: ark, updates: { set: { input: ark } } },
    valibot: { input: toStandardJsonSchema(valibot) },
  })

  expect(workflows.map(({ inputSchema }) => inputSchema)).toMatchObject([
    { properties: { count: { type: 'string' } } },
    { properties: { count: { type: 'string' } } },
  ])
  expect(workflows[0]?.updates[0]?.inputSchema).toEqual(workflows[0]?.inputSchema)
})

function expectGreet(greet: CatalogEntry | undefined): void {
  expect(greet).toMatchObject({
    inputSchema: { type: 'object', properties: { name: { type: 'string', minLength: 1 } }, required: ['name'] },
    outputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  })
  const paths = (input: unknown) => checkInput(input, greet?.inputSchema ?? false).issues.map(({ path }) => path)
  expect([
    paths({ name: 'Ada', times: 2 }),
    paths({ name: '' }),
    paths({ name: 'Ada', times: '2' }),
    paths({}),
  ]).toEqual([[], ['/input/name'], ['/input/times'], ['/input/name']])
}
