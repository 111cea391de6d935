/** What of a hostile catalog is in the OpenAPI document, and how often it is read. */
import { expect, test } from 'vitest'
import { numbers } from '../../../../../dev/hostile-schemas.ts'
import { isolateRequests } from '../../../../support/isolate-requests.ts'
import { apiOf, documentOf, entry } from './catalog-document.ts'

const LOOPS = { anyOf: numbers(2000).map(() => ({ $ref: '#' })) }

test('an expensive schema is not shown, the others of its catalog are (threat 78)', async () => {
  const { components } = await documentOf([entry('a', LOOPS), entry('b', { type: 'number' }), entry('c', LOOPS)])

  expect([components.schemas.a_input, components.schemas.b_input, components.schemas.c_input]).toEqual([
    { description: 'The published schema is too large to be shown' },
    { type: 'number' },
    { description: 'The published schema is too large to be shown' },
  ])
})

test('schemas of a quarter of a megabyte that are mostly references are shown', async () => {
  const model = (n: number) => ({
    type: 'object',
    properties: {
      one: { $ref: `#/$defs/M${(n * 7) % 1500}` },
      other: { anyOf: [{ $ref: `#/$defs/M${(n * 3) % 1500}` }, { type: 'null' }] },
      text: { type: 'string' },
    },
  })
  const schema = {
    ...{ $ref: '#/$defs/M0' },
    $defs: Object.fromEntries(numbers(1500).map((n) => [`M${n}`, model(n)])),
  }
  expect(JSON.stringify(schema).length).toBeGreaterThan(225_000)

  const document = await documentOf([entry('a', schema), entry('b', schema)])

  expect(JSON.stringify(document)).not.toContain('too large')
  expect(document.components.schemas.b_input_M1.properties.one).toEqual({ $ref: '#/components/schemas/b_input_M7' })
})

test('a schema with a long list of values has a document', async () => {
  const { components } = await documentOf([entry('w', { enum: numbers(200_000) })])

  expect(components.schemas.w_input.enum).toHaveLength(200_000)
})

test('requests that come while the document is created share it, except on workerd', async () => {
  const readsOf = async (requests: number) => {
    let reads = 0
    const described = Object.defineProperty(entry('w'), 'description', { get: () => `Read ${++reads} times` })
    const { call } = apiOf([described])
    await Promise.all(numbers(requests).map(() => call('GET', '/openapi.json')))
    return reads
  }
  const once = await readsOf(1)

  expect(once).toBeGreaterThan(0)
  expect(await readsOf(3)).toBe(once)
  isolateRequests()
  expect(await readsOf(3)).toBe(3 * once)
})
