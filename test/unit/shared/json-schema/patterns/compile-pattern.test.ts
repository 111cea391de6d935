import fc from 'fast-check'
import { expect, test } from 'vitest'
import { accepts, paths, skippedIn } from '../accepts.ts'

const SPACES = '\t\n\v\f\r \u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000\ufeff'

test('patterns: \\s matches every ECMAScript space and \\S none of them, inside and outside classes', () => {
  for (const space of SPACES) {
    const name = space.codePointAt(0)?.toString(16)

    for (const pattern of ['^\\s$', '^[\\s]$', '^[a\\s-]$', '^[^\\S]$', '^[\\w\\s]+$'])
      expect(accepts({ pattern }, space), name).toBe(true)
    for (const pattern of ['^\\S$', '^[\\S]$', '^[^\\s]$', '^[a\\S]$'])
      expect(accepts({ pattern }, space), name).toBe(false)
  }
  expect(accepts({ pattern: '^[\\w\\s]+$' }, 'a\u00a0b')).toBe(true)
  expect(accepts({ pattern: '^\\S+$' }, 'aé😀\u0085\u200b')).toBe(true)
})

test('patterns: \\w, \\d and \\b are those of ECMAScript', () => {
  expect(accepts({ pattern: '^\\w+$' }, 'aZ_9')).toBe(true)
  for (const text of ['é', 'ſ', '\u212a', '٣']) {
    expect(accepts({ pattern: '^\\w$' }, text), text).toBe(false)
    expect(accepts({ pattern: '^\\W$' }, text), text).toBe(true)
    expect(accepts({ pattern: '^\\d$' }, text), text).toBe(false)
  }
  expect(accepts({ pattern: 'a\\b' }, 'aé')).toBe(true)
  expect(accepts({ pattern: '^[\\b]$' }, '\b')).toBe(true)
})

test('patterns: $ is the end of the string, not of its last line', () => {
  expect(accepts({ pattern: '^a$' }, 'a\n')).toBe(false)
  expect(accepts({ pattern: '^a$' }, 'b\na')).toBe(false)
})

test('patterns: a string is valid if one way of counting characters makes it match', () => {
  // One character with the flag u, two without.
  expect(accepts({ pattern: '^.$' }, '😀')).toBe(true)
  expect(accepts({ pattern: '^..$' }, '😀')).toBe(true)
  expect(accepts({ pattern: '^...$' }, '😀')).toBe(false)
  expect(accepts({ not: { pattern: '^.$' } }, '😀')).toBe(true)
  expect(accepts({ not: { pattern: '^.$' } }, 'a')).toBe(false)
})

test('patterns: a property is not checked if implementations disagree on whether its key matches', () => {
  const schema = { patternProperties: { '^.$': { type: 'string' } }, additionalProperties: false }

  expect(accepts(schema, { '😀': 5 })).toBe(true)
  expect(paths(schema, { a: 5 })).toEqual(['/input/a'])
  expect(paths(schema, { abc: 5 })).toEqual(['/input/abc'])
})

test('patterns: syntax that languages read differently is not evaluated', () => {
  for (const pattern of [
    '^a{,3}$',
    '^[[:alpha:]]$',
    '^(?<n>a)\\k<n>$',
    '^[\\ud800-\\udbff]$',
    '(a)\\1',
    '(?<!a)b',
    'a(?=b)',
    '\\p{Script=Greek}',
  ])
    expect(skippedIn({ pattern }), pattern).toHaveLength(1)
})

// Thousands of patterns are compiled, which takes a busy machine more than the usual 5 s.
test('patterns: a string that ECMAScript matches, with or without the flag u, is valid', () => {
  const atom = fc.constantFrom(
    ...[
      'a',
      'b',
      '.',
      '\\s',
      '\\S',
      '\\w',
      '\\W',
      '\\d',
      '\\D',
      '\\b',
      '\\B',
      '\\.',
      '\\-',
      '\\u00a0',
      '\\x41',
      '\\n',
      '\\t',
      '\\/',
      '\\cA',
    ],
    ...[
      '[ab]',
      '[^ab]',
      '[\\s\\d]',
      '[^\\s]',
      '[\\S]',
      '[^\\S\\n]',
      '[\\w-]',
      '[a-c\\s]',
      '[\\b]',
      '[.]',
      '[^]',
      '[]',
      '(?:a|b)',
      '(a|\\s)',
    ],
    ...['é', '^', '$', '|', '(?=a)', '(?!\\s)'],
  )
  const quantifier = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,2}', '*?')
  const pattern = fc
    .array(fc.tuple(atom, quantifier), { maxLength: 6 })
    .map((parts) => parts.map((part) => part.join('')).join(''))
  const text = fc
    .array(
      fc.constantFrom(
        'a',
        'b',
        'A',
        '-',
        '.',
        '1',
        'é',
        '😀',
        '\ud83d',
        '\n',
        '\r',
        '\u2028',
        '\u0001',
        '\b',
        ...SPACES,
      ),
      { maxLength: 6 },
    )
    .map((characters) => characters.join(''))

  fc.assert(
    fc.property(pattern, fc.constantFrom('', '^', '^(?!b)'), text, (body, before, text) => {
      const pattern = before === '' ? body : `${before}(?:${body})$`
      const matches = ['', 'u'].some((flags) => regExpOf(pattern, flags)?.test(text))
      const differs = ['', 'u'].some((flags) => regExpOf(pattern, flags)?.test(text) === false)

      expect(accepts({ pattern }, text) || !matches, 'rejects').toBe(true)
      expect(accepts({ not: { pattern } }, text) || !differs, 'rejects below not').toBe(true)
    }),
    { numRuns: 3000 },
  )
})

function regExpOf(pattern: string, flags: string): RegExp | null {
  try {
    return new RegExp(pattern, flags)
  } catch {
    return null // not a pattern with these flags
  }
}
