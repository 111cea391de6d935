import { expect, test } from 'vitest'
import { parseWithBigInts, toJson } from '../../../../src/client/connection/json.ts'

test('parseJson: integers that a number cannot hold are bigints, everything else is as JSON.parse returns it', () => {
  const json = '{"big":9007199254740993,"least":-9007199254740993,"safe":9007199254740991,"text":"9007199254740993"}'

  expect(parseWithBigInts(json)).toEqual({
    big: 9007199254740993n,
    least: -9007199254740993n,
    safe: 9007199254740991,
    text: '9007199254740993',
  })
  expect(parseWithBigInts('[1e21, 0.1234567890123456789, 12345678901234567.5]')).toEqual([
    1e21, 0.12345678901234568, 12345678901234568,
  ])
  expect(parseWithBigInts('{"__proto__": 9007199254740993}')).toHaveProperty('__proto__', 9007199254740993n)
})

test('toJson: writes a bigint as an integer', () => {
  expect(toJson({ id: 9007199254740993n, of: [1n] })).toBe('{"id":9007199254740993,"of":[1]}')
})
