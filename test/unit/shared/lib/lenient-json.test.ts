import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MAX_JSON_DEPTH, parseJson } from '../../../../src/shared/lib/json.ts'
import { parseLenientJson } from '../../../../src/shared/lib/lenient-json.ts'

test('parseLenientJson: NaN, Infinity and -Infinity are strings of their names, on every level', () => {
  expect(parseLenientJson('NaN')).toBe('NaN')
  expect(parseLenientJson(' -Infinity\n')).toBe('-Infinity')
  expect(parseLenientJson('{"a":NaN,"b":[Infinity,-Infinity , {"c":NaN}]}')).toEqual({
    a: 'NaN',
    b: ['Infinity', '-Infinity', { c: 'NaN' }],
  })
})

test('parseLenientJson: other numbers stay exact beside them', () => {
  const json = '[NaN,9007199254740993,-0.12345678901234567890,1e400,0.1,7]'

  expect(JSON.stringify(parseLenientJson(json))).toBe(json.replace('NaN', '"NaN"'))
})

test('parseLenientJson: strings and keys stay as they are', () => {
  const json = String.raw`{"NaN":"NaN","-Infinity":"[NaN, \"Infinity\", \\","x\\\"":"\\","":NaN}`

  expect(parseLenientJson(json)).toEqual({
    NaN: 'NaN',
    '-Infinity': '[NaN, "Infinity", \\',
    'x\\"': '\\',
    '': 'NaN',
  })
})

test('parseLenientJson: of duplicate keys the last one counts, and __proto__ is a key like any other', () => {
  const found = parseLenientJson('{"a":NaN,"a":1,"__proto__":{"a":NaN},"n":9007199254740993}')

  expect(JSON.stringify(found)).toBe('{"a":1,"__proto__":{"a":"NaN"},"n":9007199254740993}')
  expect(Object.getPrototypeOf(found)).toBe(Object.prototype)
})

test('parseLenientJson: rejects everything else that is not JSON', () => {
  const rejected = ['', '{', 'nan', '-NaN', '+Infinity', '--Infinity', 'NaN1', '1NaN', 'NaNNaN', 'Infinit', 'undefined']
  const inValues = ["{'a':NaN}", '{"a":NaN', '[NaN,]', '["a"NaN]', '[NaN"a"]', '"NaN', '[NaN]x', '[NaN 1]']

  for (const json of [...rejected, ...inValues]) expect(() => parseLenientJson(json), json).toThrow(SyntaxError)
})

test('parseLenientJson: rejects a nesting that is too deep, with and without NaN (threat 84)', () => {
  const deep = (levels: number, inner: string) => `${'['.repeat(levels)}${inner}${']'.repeat(levels)}`

  expect(JSON.stringify(parseLenientJson(deep(MAX_JSON_DEPTH, 'NaN')))).toBe(deep(MAX_JSON_DEPTH, '"NaN"'))
  for (const inner of ['', 'NaN'])
    expect(() => parseLenientJson(deep(MAX_JSON_DEPTH + 1, inner))).toThrow(/nested deeper than 1000/)
})

test('parseLenientJson: what is too deep can be replaced, brackets in strings do not count', () => {
  const limits = { maxDepth: 2, replacement: 'too deep' }

  expect(parseLenientJson('{"a":[{"s":"[[["},[[NaN]],"]",{}],"b":NaN}', limits)).toEqual({
    a: ['too deep', 'too deep', ']', 'too deep'],
    b: 'NaN',
  })
  expect(parseLenientJson('{"a":["[[["]}', limits)).toEqual({ a: ['[[['] })
  for (const json of ['{"a":[[1}', '{"a":[["x]]}', '{"a":[[1]]', '[[[]]]]'])
    expect(() => parseLenientJson(json, limits), json).toThrow(SyntaxError)
})

test('parseLenientJson: is parseJson for JSON', () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: 'binary' }), (json) => {
      expect(parseLenientJson(json)).toEqual(parseJson(json))
    }),
  )
})

test('parseLenientJson: of any values, only numbers without a JSON form change', () => {
  const value = fc.jsonValue({ stringUnit: 'binary' })
  const special = fc.constantFrom('NaN', 'Infinity', '-Infinity')
  fc.assert(
    fc.property(fc.array(fc.tuple(value, special)), (pairs) => {
      const json = `[${pairs.map(([one, other]) => `${JSON.stringify(one)},${other}`).join(',')}]`
      expect(parseLenientJson(json)).toEqual(JSON.parse(JSON.stringify(pairs.flat())))
    }),
  )
})

// Each takes milliseconds. In quadratic time, each would take many minutes.
test('parseLenientJson: takes time in proportion to hostile text (threat 84)', () => {
  const length = 1_000_000
  const hostile = ['"\\"', '[', '-', '\\', 'NaN', '[NaN,', '"', '{"a":', '"\\\\"', '-Infinity,'].flatMap((part) => {
    const text = part.repeat(length / part.length)
    return [text, `"${text}`, `[NaN,${text}`]
  })

  for (const json of hostile)
    for (const limits of [undefined, { maxDepth: 100, replacement: '…' }])
      expect(() => parseLenientJson(json, limits)).toThrow(SyntaxError)
})
