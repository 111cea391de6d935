import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MAX_JSON_DEPTH, parseJson, parseLenientJson, pointerKeys, toPointer } from '../../../../src/shared/lib/json.ts'

/** Parses and prints. */
function roundTrip(text: string): string {
  return JSON.stringify(parseJson(text))
}

test.for([
  ['[9007199254740993,-9007199254740993,36893488147419103233]'],
  ['{"pi":3.14159265358979323846,"third":0.33333333333333333333}'],
  ['[1e400,-1E+400,1e-400,4.9e-324]'],
  ['[-0,-0.0,-0.0000000000000000000,-0e1]', '[0,0,0,0]'],
  ['{"a":9007199254740993,"a":1,"b":1,"b":9007199254740993}', '{"a":1,"b":9007199254740993}'],
  ['{"__proto__":{"a":1}}'],
  ['{"__proto__":{"a":9007199254740993}}'],
  ['{"9007199254740993":"9007199254740993","\\u0022":1e400}', '{"9007199254740993":"9007199254740993","\\"":1e400}'],
])('parseJson: loses nothing of %s', ([text, printed = text]) => {
  expect(roundTrip(text ?? '')).toBe(printed)
})

test('parseJson: returns a plain number if a double represents it', () => {
  expect(parseJson('[9007199254740991,9007199254740992,9007199254740994,0.1,1.5e3,123456789012345678e1]')).toEqual([
    9007199254740991,
    9007199254740992,
    9007199254740994,
    0.1,
    1500,
    JSON.rawJSON('123456789012345678e1'),
  ])
})

test('parseJson: returns a plain number whatever its spelling', () => {
  expect(parseJson('[1.0,1e20,100000000000000000000,1.50000000000000000,0e999,5e-324,12300e-2]')).toEqual([
    1, 1e20, 1e20, 1.5, 0, 5e-324, 123,
  ])
})

test('parseJson: does not touch numbers inside strings', () => {
  const found = parseJson('["9007199254740993","1e400",{"9007199254740993":"\\"9007199254740993"},7]')
  expect(found).toEqual(['9007199254740993', '1e400', { '9007199254740993': '"9007199254740993' }, 7])
})

test('parseJson: accepts 1000 levels of arrays and objects', () => {
  const deep = `${'[{"a":'.repeat(500)}9007199254740993${'}]'.repeat(500)}`

  expect(roundTrip(deep)).toBe(deep)
})

test('parseJson: rejects 1001 levels', () => {
  expect(() => parseJson('['.repeat(1001) + ']'.repeat(1001))).toThrow(
    new SyntaxError(`JSON is nested deeper than ${MAX_JSON_DEPTH} levels`),
  )
})

test('parseJson: counts the deepest level, not the brackets', () => {
  expect(parseJson(`[${'[],'.repeat(5000)}{}]`)).toHaveLength(5001)
})

test('parseJson: brackets inside strings do not count as levels, whatever is escaped around them', () => {
  const texts = ['['.repeat(2000), `\\"${'{'.repeat(2000)}`, `${'['.repeat(2000)}\\`, `\\\\"${'['.repeat(2000)}`]

  for (const text of texts) expect(parseJson(JSON.stringify(text))).toBe(text)
})

test('parseJson: levels after a string that ends in a backslash count', () => {
  expect(() => parseJson(`["\\\\",${'['.repeat(1000)}${']'.repeat(1000)}]`)).toThrow('nested deeper')
})

test('parseJson: throws a SyntaxError for invalid JSON', () => {
  const texts = [
    '',
    '{',
    '"open',
    '"open\\"',
    '[1,]',
    '01',
    '1.',
    '.5',
    '+1',
    'NaN',
    '1e',
    "{'a':1}",
    '9007199254740993x',
    ']',
    '1 2',
  ]

  for (const text of texts) expect(() => parseJson(text), text).toThrow(SyntaxError)
})

test('parseJson: prints the same decimals that it has parsed', () => {
  const digits = (minLength: number, maxLength: number) =>
    fc.string({ unit: fc.constantFrom(...'0123456789'), minLength, maxLength }).map((text) => text || '0')
  const literal = fc
    .record({
      sign: fc.constantFrom('', '-'),
      whole: digits(1, 24).map((text) => text.replace(/^0+(?=\d)/, '')),
      fraction: fc.option(digits(1, 24), { nil: null }),
      exponent: fc.option(fc.tuple(fc.constantFrom('e', 'E', 'e+', 'E-', 'e-'), fc.integer({ min: 0, max: 400 })), {
        nil: null,
      }),
    })
    .map(
      ({ sign, whole, fraction, exponent }) =>
        `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${exponent?.join('') ?? ''}`,
    )
  const document = fc.array(fc.oneof(literal, fc.double({ noNaN: true, noDefaultInfinity: true }).map(String)), {
    maxLength: 8,
  })

  fc.assert(
    fc.property(document, fc.string(), (literals, text) => {
      const given = JSON.stringify(text)
      const sent = `[${literals.map((number, index) => `{"k${index}":[${given},${number}]}`).join(',')}]`

      const left = roundTrip(sent)

      expect(numbersIn(left, given)).toEqual(numbersIn(sent, given))
    }),
    { numRuns: 500 },
  )
})

test('parseJson: a long number instead of a key is a syntax error', () => {
  expect(() => parseJson('{9007199254740993:1}')).toThrow(SyntaxError)
  expect(() => parseJson('[9007199254740993.]')).toThrow(SyntaxError)
  expect(() => parseJson('[-9007199254740993 9007199254740993]')).toThrow(SyntaxError)
})

test('parseJson: returns the same as a parser that examines every number', () => {
  const numbers = fc.oneof(
    fc.constantFrom(
      '1e1',
      '-0',
      '1E+5',
      '9007199254740993',
      '-1e400',
      '4.9e-324',
      '0.1',
      '1e22',
      '1e23',
      '123456789012345',
      '1234567890123456',
    ),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String),
    fc
      .tuple(fc.integer(), fc.nat(), fc.integer({ min: -400, max: 400 }))
      .map(([whole, part, power]) => `${whole}.${part}e${power}`),
  )
  const { document } = fc.letrec<{ document: string }>((tie) => ({
    document: fc.oneof(
      { depthSize: 'small' },
      numbers,
      fc.string().map((text) => JSON.stringify(text)),
      fc.constantFrom('true', 'null'),
      fc.array(tie('document'), { maxLength: 4 }).map((items) => `[${items.join(' , ')}]`),
      fc
        .array(fc.tuple(fc.constantFrom('a', 'b', '1', '__proto__', '9007199254740993'), tie('document')), {
          maxLength: 4,
        })
        .map((members) => `{${members.map(([key, member]) => `"${key}": ${member}`).join(',')}}`),
    ),
  }))

  fc.assert(
    fc.property(document, (text) => {
      expect(roundTrip(text)).toBe(JSON.stringify(parseEachNumber(text)))
    }),
    { numRuns: 2000 },
  )
})

test.for<[pointer: string, keys: (string | number)[]]>([
  ['', []],
  ['/lines/0/a~1b', ['lines', '0', 'a/b']],
  ['//a~1b/~01/~001/0', ['', 'a/b', '~1', '~01', '0']],
])('toPointer, pointerKeys: %s', ([pointer, keys]) => {
  expect([toPointer(keys), pointerKeys(pointer)]).toEqual([pointer, keys])
})

declare global {
  interface JSON {
    parse(text: string, reviver: (key: string, value: unknown, context: { source: string }) => unknown): unknown
  }
}

/** Slow and plain: a number stays a double only when that has the same digits and exponent. */
function parseEachNumber(text: string): unknown {
  return JSON.parse(text, (_key, value, { source }) => {
    if (typeof value !== 'number') return value
    const [exact, shortest] = [source, String(value)].map((number) => numbersIn(number, '\u0000')[0])
    return exact === shortest ? value : JSON.rawJSON(source)
  })
}

/** Every number of the text in lowest terms: a whole number and a power of ten. */
function numbersIn(text: string, withoutString: string): string[] {
  const literals = text.replaceAll(withoutString, '').match(/-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g) ?? []
  return literals.map((literal) => {
    const [, sign, whole = '', fraction = '', exponent = '0'] =
      /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? []
    let number = BigInt(whole + fraction)
    let power = Number(exponent) - fraction.length
    if (number === 0n) return '0'
    while (number % 10n === 0n) {
      number /= 10n
      power++
    }
    return `${sign}${number}e${power}`
  })
}

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
