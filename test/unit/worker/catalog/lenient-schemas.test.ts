/** Published schemas accept every input that the library accepts, and reject what it rejects where they can. */
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { checkInput } from '../../../../src/service/catalog/check-input.ts'
import { defineCatalog } from '../../../../src/worker/catalog/define-catalog.ts'
import type { InputSchema } from '../../../../src/worker/catalog/schemas/json-schema.ts'

type Case = [name: string, schema: InputSchema, accepted: unknown[], rejected: [value: unknown, path: string][]]

const std = toStandardJsonSchema
const infinite = Number.POSITIVE_INFINITY

const VALIBOT: Case[] = [
  [
    'fallback of a field',
    std(v.object({ name: v.string(), size: v.fallback(v.string(), 'M') })),
    [{ name: 'mug' }, { name: 'mug', size: 5 }],
    [[{ name: 5 }, '/input/name']],
  ],
  [
    'fallback of a field with a pipe',
    std(v.object({ name: v.string(), size: v.fallback(v.pipe(v.string(), v.minLength(2)), 'M') })),
    [{ name: 'mug' }, { name: 'mug', size: 'x' }],
    [[{}, '/input/name']],
  ],
  [
    'fallback of items, members and alternatives',
    std(
      v.object({
        items: v.array(v.fallback(v.number(), 0)),
        by: v.record(v.string(), v.fallback(v.pipe(v.number(), v.minValue(1)), 1)),
        one: v.nullable(v.fallback(v.pipe(v.string(), v.minLength(1)), 'a')),
        maybe: v.optional(v.fallback(v.pipe(v.string(), v.minLength(1)), 'a')),
      }),
    ),
    [
      { items: ['x'], by: { a: 'x' }, one: 5 },
      { items: [], by: {}, one: null, maybe: 5 },
    ],
    [[{ items: 5, by: {}, one: null }, '/input/items']],
  ],
  ['fallback of the whole input', std(v.fallback(v.pipe(v.string(), v.minLength(2)), 'ab')), [5, 'x', null], []],
  [
    'optional items at the end of a tuple',
    std(v.tuple([v.number(), v.optional(v.number())])),
    [[1], [1, 2]],
    [
      [[], '/input'],
      [[1, 'x'], '/input/1'],
    ],
  ],
  [
    'items at the end of a tuple that accept nothing',
    std(v.strictTuple([v.string(), v.nullish(v.string()), v.fallback(v.number(), 1), v.any()])),
    [['a'], ['a', null, 'x', 1]],
    [[['a', null, 1, 1, 1], '/input/4']],
  ],
  [
    'a tuple with a rest',
    std(v.tupleWithRest([v.number(), v.undefinedable(v.number())], v.fallback(v.string(), ''))),
    [[1], [1, 2, 3]],
    [[['x'], '/input/0']],
  ],
  [
    'checks and changes',
    std(
      v.object({
        card: v.pipe(
          v.string(),
          v.check((card) => card.startsWith('4')),
        ),
        name: v.pipe(v.string(), v.minLength(2), v.trim(), v.minLength(5)),
        code: v.pipe(v.string(), v.toUpperCase(), v.regex(/^[A-Z]+$/)),
      }),
    ),
    [{ card: '4', name: '  long enough  ', code: 'abc' }],
    [
      [{ card: 5, name: 'Ada Lovelace', code: 'A' }, '/input/card'],
      [{ card: '4', name: 'A', code: 'A' }, '/input/name'],
    ],
  ],
  [
    'patterns with flags',
    std(v.object({ a: v.pipe(v.string(), v.regex(/^a$/i)), b: v.pipe(v.string(), v.regex(/^\p{L}$/u)) })),
    [{ a: 'A', b: 'é' }],
    [[{ a: 'x', b: '1' }, '/input/b']],
  ],
  [
    'alternatives that overlap once they are relaxed',
    std(
      v.variant('kind', [
        v.object({ kind: v.fallback(v.literal('a'), 'a') }),
        v.object({ kind: v.literal('b'), n: v.number() }),
      ]),
    ),
    [{ kind: 'b', n: 1 }],
    [[5, '/input']],
  ],
  [
    'a date that may be absent',
    std(v.object({ due: v.optional(v.date()), end: v.nullable(v.date()), n: v.number() })),
    [{ n: 1, end: null }],
    [[{ end: null }, '/input/n']],
  ],
  ['names for the compiler', std(v.pipe(v.string(), v.brand('Id'), v.readonly())), ['a'], [[5, '/input']]],
  ['bounds that are infinite', std(v.pipe(v.number(), v.maxValue(infinite))), [1e300], [['x', '/input']]],
  ['other types', std(v.object({ f: v.custom<string>((x) => x !== 5), n: v.number() })), [{ f: 'x', n: 1 }], []],
]

const ZOD: Case[] = [
  ['success', z.object({ ok: z.success(z.string()) }), [{ ok: 'x' }], [[5, '/input']]],
  ['success of an item', z.array(z.success(z.number())), [[1], []], [[5, '/input']]],
  [
    'success with a default',
    z.object({ ok: z.success(z.string()).default(true), n: z.number() }),
    [{ n: 1 }, { n: 1, ok: 'x' }],
    [],
  ],
  [
    'bounds that are infinite',
    z.object({ n: z.number().max(infinite), m: z.number().min(-infinite).max(5), l: z.int().gt(-infinite) }),
    [{ n: 1e300, m: -1e300, l: 1 }],
    [[{ n: 1, m: 6, l: 1 }, '/input/m']],
  ],
  ['an optional date', z.object({ due: z.date().optional(), n: z.number() }), [{ n: 1 }], [[{}, '/input/n']]],
  [
    'a date in alternatives',
    z.object({ due: z.date().nullable(), at: z.union([z.string(), z.date()]), or: z.date().default(new Date(0)) }),
    [{ due: null, at: 'x' }],
    [[{ at: 'x' }, '/input/due']],
  ],
  [
    'a date inside an alternative',
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a'), at: z.date() }),
      z.object({ kind: z.literal('b'), n: z.bigint().optional(), m: z.number() }),
    ]),
    [{ kind: 'b', m: 1 }],
    [[5, '/input']],
  ],
]

const ARKTYPE: Case[] = [
  ['patterns with flags', type({ a: /^a$/i, b: /^b$/ }), [{ a: 'A', b: 'b' }], [[{ a: 'a', b: 'x' }, '/input/b']]],
  ['narrowed types', type({ a: type('string').narrow((s) => s !== 'x') }), [{ a: 'b' }], [[{ a: 5 }, '/input/a']]],
  ['items after the rest', type(['string', '...', 'number[]', 'boolean']), [['a', 1, true]], [[[5], '/input/0']]],
]

const JSON_SCHEMA: Case[] = [
  // As TypeBox writes Type.Tuple([Type.String(), Type.Number()]).
  [
    'a tuple of TypeBox',
    {
      type: 'array',
      items: [{ type: 'string' }, { type: 'number' }],
      additionalItems: false,
      minItems: 2,
      maxItems: 2,
    },
    [['a', 1]],
    [
      [['a'], '/input'],
      [[1, 'a'], '/input/0'],
    ],
  ],
  ['a bound that is infinite', { type: 'number', maximum: infinite, minimum: 1 }, [1e300], [[0, '/input']]],
]

describe.for([
  ['valibot', VALIBOT],
  ['zod', ZOD],
  ['arktype', ARKTYPE],
  ['JSON Schema', JSON_SCHEMA],
] satisfies [string, Case[]][])('defineCatalog: the schema of %s', ([, cases]) => {
  test.for(cases)('%s', ([, input, accepted, rejected]) => {
    const { inputSchema } = defineCatalog({ greet: { input } }).workflows[0] ?? { inputSchema: null }
    const pathsOf = (value: unknown) => checkInput(value, inputSchema ?? true).issues.map(({ path }) => path)

    for (const value of accepted) {
      expect([value, accepts(input, value)]).toEqual([value, true])
      expect([value, pathsOf(value)]).toEqual([value, []])
    }
    for (const [value, path] of rejected) expect([value, pathsOf(value)]).toContainEqual(expect.arrayContaining([path]))
  })
})

test.for<[InputSchema, string]>([
  [z.object({ at: z.date() }), 'greet.input: Date cannot be represented in JSON Schema'],
  [z.array(z.date()), 'greet.input: Date cannot be represented in JSON Schema'],
  [std(v.object({ at: v.date() })), 'greet.input: valibot cannot convert the schema to JSON Schema: The "date" schema'],
  [std(v.array(v.bigint())), 'greet.input: valibot cannot convert the schema to JSON Schema: The "bigint" schema'],
])('defineCatalog: rejects a value that JSON cannot have and that must be there', ([input, message]) => {
  expect(() => defineCatalog({ greet: { input } })).toThrow(message)
})

test('defineCatalog: the schema of an output leaves out what cannot be expressed', () => {
  const { workflows } = defineCatalog({
    zod: { output: z.object({ a: z.string().transform(Number), n: z.number().max(infinite) }) },
    valibot: { output: std(v.object({ a: v.pipe(v.string(), v.trim(), v.minLength(2)), b: v.custom(() => true) })) },
  })

  expect(workflows.map(({ outputSchema }) => outputSchema)).toMatchObject([
    { properties: { a: {}, n: { type: 'number' } } },
    { properties: { a: { type: 'string', minLength: 2 }, b: {} } },
  ])
  expect(JSON.stringify(workflows)).not.toContain('portico:')
})

/** The library itself; true for JSON Schema. */
function accepts(schema: InputSchema, value: unknown): unknown {
  const standard = Reflect.get(Object(schema), '~standard')
  return standard === undefined || standard.validate(value).issues === undefined
}
