import { expect, test } from 'vitest'
import { readableSchema } from '../../../../../src/shared/json-schema/published/readable-schema.ts'

test('readableSchema: several types become anyOf, each with the keywords of its type', () => {
  const schema = { description: 'An id', type: ['string', 'integer', 'null'], minLength: 1, minimum: 0 }

  expect(readableSchema(schema)).toEqual({
    description: 'An id',
    anyOf: [{ type: 'string', minLength: 1 }, { type: 'integer', minimum: 0 }, { type: 'null' }],
  })
})

test('readableSchema: several types apply together with an anyOf that exists', () => {
  const schema = { type: ['string', 'number'], anyOf: [{ minLength: 1 }, { minimum: 1 }], allOf: [{ maximum: 9 }] }

  expect(readableSchema(schema)).toEqual({
    anyOf: [{ minLength: 1 }, { minimum: 1 }],
    allOf: [{ maximum: 9 }, { anyOf: [{ type: 'string' }, { type: 'number' }] }],
  })
})

test('readableSchema: one type, and one type or null, stay as they are', () => {
  const schemas = [{ type: 'string' }, { type: ['string', 'null'] }, { type: ['null'] }, {}]

  expect(schemas.map(readableSchema)).toEqual(schemas)
})

test('readableSchema: a constant object or array becomes an enum', () => {
  expect(readableSchema({ const: { a: 1 } })).toEqual({ enum: [{ a: 1 }] })
  expect(readableSchema({ const: [] })).toEqual({ enum: [[]] })
  expect(readableSchema({ const: null })).toEqual({ const: null })
})
