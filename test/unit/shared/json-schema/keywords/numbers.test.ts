import fc from 'fast-check'
import { expect, test } from 'vitest'
import { accepts, acceptsJson } from '../accepts.ts'

test('numbers: limits that a double cannot represent are compared exactly', () => {
  const below = '{"type":"integer","exclusiveMaximum":9223372036854775807,"minimum":-9223372036854775808}'

  expect(acceptsJson(below, '9223372036854775806')).toBe(true)
  expect(acceptsJson(below, '9223372036854775807')).toBe(false)
  expect(acceptsJson(below, '9223372036854775808')).toBe(false)
  expect(acceptsJson(below, '-9223372036854775808')).toBe(true)
  expect(acceptsJson(below, '-9223372036854775809')).toBe(false)
  expect(acceptsJson('{"maximum":9223372036854775807}', '9223372036854775808')).toBe(false)
  expect(acceptsJson('{"exclusiveMinimum":0.12345678901234567890}', '0.12345678901234567891')).toBe(true)
  expect(acceptsJson('{"exclusiveMinimum":0.12345678901234567890}', '0.12345678901234567890')).toBe(false)
})

test('numbers: values that a double cannot represent are compared exactly', () => {
  expect(acceptsJson('{"exclusiveMinimum":9007199254740992}', '9007199254740993')).toBe(true)
  expect(acceptsJson('{"maximum":5}', '1e400')).toBe(false)
  expect(acceptsJson('{"minimum":5}', '1e400')).toBe(true)
  expect(acceptsJson('{"exclusiveMinimum":0}', '1e-400')).toBe(true)
})

test('numbers: a value is valid if an implementation with only doubles accepts it', () => {
  // JavaScript rounds it to the limit.
  expect(acceptsJson('{"maximum":9007199254740992}', '9007199254740993')).toBe(true)
  expect(acceptsJson('{"const":9007199254740992}', '9007199254740993')).toBe(true)
  expect(acceptsJson('{"enum":[{"id":9007199254740992}]}', '{"id":9007199254740993}')).toBe(true)
})

test('numbers: below not, a value on which implementations disagree is valid', () => {
  expect(acceptsJson('{"not":{"const":9007199254740992}}', '9007199254740993')).toBe(true)
  expect(acceptsJson('{"not":{"maximum":9007199254740992}}', '9007199254740993')).toBe(true)
  expect(acceptsJson('{"not":{"multipleOf":0.1}}', '0.3000000001')).toBe(true)
  expect(acceptsJson('{"not":{"multipleOf":2}}', '4')).toBe(false)
  expect(acceptsJson('{"not":{"uniqueItems":true}}', '[9007199254740993,9007199254740992]')).toBe(true)
})

test('numbers: items are duplicates only if they are exactly equal', () => {
  expect(acceptsJson('{"uniqueItems":true}', '[9007199254740993,9007199254740992]')).toBe(true)
  expect(acceptsJson('{"uniqueItems":true}', '[9007199254740993,9007199254740993]')).toBe(false)
})

test('numbers: a number without a fraction is an integer, however long and however spelled', () => {
  for (const number of ['1', '1.0', '1e3', '9007199254740993', '1e400', '9007199254740993.0', '120e-1'])
    expect(acceptsJson('{"type":"integer"}', number), number).toBe(true)
  for (const number of ['1.5', '1e-1', '"1"', 'null'])
    expect(acceptsJson('{"type":"integer"}', number), number).toBe(false)
  expect(acceptsJson('{"type":"number"}', '9007199254740993')).toBe(true)
  expect(acceptsJson('{"type":"object"}', '9007199254740993')).toBe(false)
})

test('numbers: multipleOf accepts what zod or pydantic accepts', () => {
  const cent = { multipleOf: 0.01 }

  for (const value of [0, 0.07, 2.03, 0.3, 0.1 + 0.2, -19.99, 1e15, 1e300, 0.300000000001])
    expect(accepts(cent, value), `${value}`).toBe(true)
  for (const value of [0.071, 0.0123, -19.999]) expect(accepts(cent, value), `${value}`).toBe(false)
  const facts = [accepts({ multipleOf: 3 }, 9), accepts({ multipleOf: 3 }, 10), accepts({ multipleOf: 1 }, 1.5)]
  expect(facts).toEqual([true, false, false])
  expect(accepts({ type: 'integer', multipleOf: 5 }, 10_000_000_001)).toBe(false)
  expect(acceptsJson('{"multipleOf":3}', '9007199254740993')).toBe(true)
})

test('numbers: multiples of a number with decimals are accepted', () => {
  const step = fc.tuple(fc.integer({ min: 1, max: 99_999 }), fc.integer({ min: 0, max: 9 }))

  fc.assert(
    fc.property(step, fc.integer({ min: -1_000_000, max: 1_000_000 }), ([digits, places], times) => {
      const product = BigInt(digits) * BigInt(times)

      expect(accepts({ multipleOf: Number(`${digits}e-${places}`) }, Number(`${product}e-${places}`))).toBe(true)
    }),
  )
})

test('numbers: keywords about numbers ignore other values', () => {
  for (const value of ['abc', null, [1], { a: 1 }])
    expect(accepts({ minimum: 5, multipleOf: 7, exclusiveMaximum: 6 }, value)).toBe(true)
})

test('numbers: a string has any length that an implementation counts', () => {
  // One character, two UTF-16 code units.
  expect(accepts({ minLength: 2 }, '😀')).toBe(true)
  expect(accepts({ maxLength: 1 }, '😀')).toBe(true)
  expect(accepts({ minLength: 3 }, '😀')).toBe(false)
  expect(accepts({ maxLength: 0 }, '😀')).toBe(false)
  expect(accepts({ not: { minLength: 2 } }, '😀')).toBe(true)
  expect(accepts({ not: { minLength: 2 } }, 'ab')).toBe(false)
})
