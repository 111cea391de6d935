/** zod's numbers, objects, unions and wrappers of other schemas. */
import * as z from 'zod'
import type { ZodCase } from './zod-case.ts'

const tree: z.ZodType = z.lazy(() => z.object({ name: z.string(), children: z.array(tree).optional() }))

const person = z.object({
  name: z.string(),
  get friend() {
    return person.optional()
  },
})

export const NUMBERS: Record<string, ZodCase> = {
  number: [z.number(), [0, -1.5, 1e300, 5e-324], ['5', null, true, []]],
  int: [z.int(), [0, -5, 2 ** 53 - 1], [1.5, '1', 2 ** 53]],
  numberInt: [z.number().int(), [7], [7.5]],
  int32: [z.int32(), [-2147483648, 2147483647], [2147483648]],
  uint32: [z.uint32(), [0, 4294967295], [-1]],
  float32: [z.float32(), [1.5, -3.4e38], [1e39]],
  float64: [z.float64(), [1.7976931348623157e308], ['1']],
  bounds: [z.number().gte(0).lt(1), [0, 0.5, 0.9999999999999999], [1, -0.1]],
  positive: [z.number().positive(), [5e-324], [0, -1]],
  nonnegative: [z.number().nonnegative(), [0], [-1]],
  beyondSafe: [z.number().max(2 ** 63), [2 ** 63, 2 ** 53], [1e19]],
  multipleOfCent: [z.number().multipleOf(0.01), [0.1 + 0.2, 2.03, 9.99, 0, -19.99, 1e15], [0.071, 1.005]],
  multipleOfSmall: [z.number().multipleOf(0.07), [2.03, 0.07, 0.21], [2.04]],
  multipleOfTwice: [z.number().multipleOf(2).multipleOf(3), [6, 12], [4, 9]],
  multipleOfNegative: [z.number().multipleOf(-5), [10, -10], [7]],
  step: [z.number().step(0.1), [0.3, 0.7, 1e-17], [0.35]],
  safeThenRound: [z.number().overwrite(Math.round).int(), [1.5, 2], ['1']],
  roundThenMax: [z.number().overwrite(Math.floor).max(5), [5.9], ['5']],
  coerceNumber: [z.coerce.number(), ['5', 5, true, null, '']],
  coerceNumberMin: [z.coerce.number().int().min(1), ['5', 5]],
  coerceBoolean: [z.coerce.boolean(), ['', 0, 'false', {}]],
  coerceDate: [z.coerce.date(), ['2024-01-02T03:04:05Z', 1700000000000, 0]],
  coerceBigint: [z.coerce.bigint(), ['123456789012345678901234567890', 5]],
  catchNumber: [z.number().catch(0), ['x', 5, null, {}]],
  preprocess: [
    z.preprocess((value) => (typeof value === 'string' ? Number(value) : value), z.number().min(1)),
    ['5', 5],
  ],
  preprocessDate: [z.preprocess((value) => new Date(String(value)), z.date()), ['2024-01-02']],
  codecDate: [
    z.codec(z.iso.datetime(), z.date(), { decode: (text) => new Date(text), encode: (date) => date.toISOString() }),
    ['2024-01-02T03:04:05Z'],
    [5, 'x'],
  ],
  transformOnly: [z.transform((value) => value), [5, 'a', null]],
  custom: [z.custom<number>((value) => typeof value === 'number'), [5]],
  boolean: [z.boolean(), [true, false], ['true', 0]],
  null: [z.null(), [null], [0, '', {}]],
  any: [z.any(), [1, 'a', null, {}, []]],
  unknown: [z.unknown(), [1, null]],
  never: [z.object({ a: z.never().optional() }), [{}], [{ a: 1 }]],
  literal: [z.literal('a'), ['a'], ['b', 5]],
  literals: [z.literal(['a', 5, null, true]), ['a', 5, null, true], ['b', false]],
  enum: [z.enum(['a', 'b']), ['a'], ['c', 1]],
  numericEnum: [z.enum({ Off: 0, On: 1 }), [0, 1], [2, 'On']],
  enumExtract: [z.enum(['a', 'b', 'c']).exclude(['c']), ['b'], ['c']],
}

export const COMPOSITES: Record<string, ZodCase> = {
  object: [z.object({ a: z.string() }), [{ a: '' }, { a: 'x', more: 1 }], [{}, { a: 1 }, null, 'a', []]],
  strictObject: [z.strictObject({ a: z.string() }), [{ a: '' }], [{ a: '', b: 1 }]],
  looseObject: [z.looseObject({ a: z.string() }), [{ a: '', b: 1 }], [{ b: 1 }]],
  catchall: [z.object({ a: z.string() }).catchall(z.number()), [{ a: '', b: 1 }], [{ a: '', b: 'x' }]],
  optional: [z.object({ a: z.string().optional() }), [{}, { a: 'x' }], [{ a: 1 }, { a: null }]],
  exactOptional: [z.object({ a: z.exactOptional(z.string()) }), [{}, { a: 'x' }], [{ a: 1 }]],
  nullable: [z.object({ a: z.string().nullable() }), [{ a: null }], [{}, { a: 1 }]],
  nullish: [z.object({ a: z.string().nullish() }), [{}, { a: null }], [{ a: 1 }]],
  default: [
    z.object({ a: z.string().default('x'), b: z.number() }),
    [{ b: 1 }, { a: 'y', b: 1 }],
    [{ a: 'y' }, { a: 1, b: 1 }],
  ],
  prefault: [z.object({ a: z.string().trim().prefault(' x ') }), [{}, { a: 'y' }], [{ a: 1 }]],
  catch: [z.object({ a: z.number().catch(0), b: z.string() }), [{ b: '' }, { a: 'x', b: '' }], [{ a: 1 }]],
  preprocessed: [z.object({ a: z.preprocess((value) => value ?? 'x', z.string()) }), [{}, { a: 'y' }, { a: null }]],
  transformed: [z.object({ a: z.string().transform((text) => text.length) }), [{ a: 'x' }], [{}, { a: 1 }]],
  transformOfAbsent: [z.object({ a: z.transform((value) => value ?? 1) }), [{}, { a: 'x' }]],
  unionWithUndefined: [z.object({ a: z.union([z.string(), z.undefined()]) }), [{ a: 'x' }]],
  nonoptional: [z.object({ a: z.string().optional().nonoptional() }), [{ a: '' }], [{}, { a: 1 }]],
  readonly: [z.object({ a: z.string() }).readonly(), [{ a: '' }], [{}]],
  partial: [z.object({ a: z.string(), b: z.number() }).partial(), [{}, { b: 1 }], [{ b: '' }]],
  required: [z.object({ a: z.string().optional() }).required(), [{ a: '' }], [{}]],
  pick: [z.strictObject({ a: z.string(), b: z.number() }).pick({ a: true }), [{ a: '' }], [{ a: '', b: 1 }]],
  extend: [z.object({ a: z.string() }).extend({ b: z.number() }), [{ a: '', b: 1 }], [{ a: '' }]],
  coercedKey: [
    z.strictObject({ count: z.coerce.number(), id: z.string() }),
    [
      { count: '2', id: 'a' },
      { count: 2, id: 'a' },
    ],
    [{ count: 2 }, { id: 'a' }],
  ],
  refinedObject: [z.object({ a: z.number(), b: z.number() }).refine(({ a, b }) => a < b), [{ a: 1, b: 2 }], [{ a: 1 }]],
  trimmedKey: [z.object({ name: z.string().trim().min(1).max(3) }), [{ name: '  abc  ' }], [{ name: 5 }, {}]],
  protoKey: [z.object({ ['__proto__']: z.string() }), [JSON.parse('{"__proto__":"a"}')]],
  array: [z.array(z.number()), [[], [1, 2]], [['a'], {}, '1']],
  arrayLength: [z.array(z.number()).min(1).max(2), [[1], [1, 2]], [[], [1, 2, 3]]],
  arrayOverwrite: [
    z
      .array(z.number())
      .overwrite((all) => all.slice(0, 2))
      .max(2),
    [[1, 2, 3]],
    [['a']],
  ],
  nonemptyArray: [z.array(z.string()).nonempty(), [['a']], [[]]],
  tuple: [z.tuple([z.string(), z.number()]), [['a', 1]], [['a'], ['a', 1, 2], [1, 'a']]],
  tupleRest: [z.tuple([z.string()], z.number()), [['a'], ['a', 1, 2]], [[], ['a', 'b']]],
  tupleOptional: [z.tuple([z.string(), z.number().optional()]), [['a'], ['a', 1]], [[], ['a', 'b']]],
  tupleDefault: [z.tuple([z.string(), z.number().default(1)]), [['a'], ['a', 1]], [[]]],
  tupleCatch: [z.tuple([z.string(), z.number().catch(1)]), [['a'], ['a', 'b']]],
  record: [z.record(z.string(), z.number()), [{}, { a: 1 }], [{ a: 'x' }, []]],
  recordEnum: [z.record(z.enum(['a', 'b']), z.number()), [{ a: 1, b: 2 }], [{ a: 1 }, { a: 1, b: 2, c: 3 }]],
  recordEnumOptional: [z.record(z.enum(['a', 'b']), z.number().optional()), [{}, { a: 1 }], [{ a: 'x' }]],
  recordEnumCatch: [z.record(z.enum(['a', 'b']), z.number().catch(0)), [{ a: 1, b: 'x' }, {}]],
  partialRecord: [z.partialRecord(z.enum(['a', 'b']), z.number()), [{}, { a: 1 }], [{ c: 1 }]],
  recordNumberKeys: [z.record(z.number(), z.string()), [{ 1: 'a' }, { '1.5': 'a' }], [{ a: 'a' }]],
  recordIntKeys: [z.record(z.int(), z.string()), [{ 1: 'a' }], [{ a: 'a' }]],
  recordRegexKeys: [z.record(z.string().regex(/^x-/), z.string()), [{ 'x-a': '' }], [{ a: '' }]],
  recordFlaggedKeys: [z.record(z.string().regex(/^x-/i), z.string()), [{ 'X-A': '' }], [{ a: 1 }]],
  looseRecord: [z.looseRecord(z.string().regex(/^n_/), z.number()), [{ n_a: 1, other: 'x' }]],
  looseRecordTwo: [z.looseRecord(z.string().regex(/^n/).min(3), z.number()), [{ n: 'short', nnn: 1 }]],
  recordTrimmedKeys: [z.record(z.string().trim().max(2), z.number()), [{ ' ab ': 1 }], [{ a: 'x' }]],
  union: [z.union([z.string(), z.number()]), ['a', 1], [null, {}]],
  unionOfObjects: [
    z.union([z.object({ a: z.string() }), z.object({ b: z.number() })]),
    [{ a: '' }, { b: 1 }, { a: '', b: 1 }],
    [{}, { b: '' }],
  ],
  nestedUnion: [z.union([z.string().regex(/^a/i), z.array(z.string())]), ['A', ['b']], [5, [5]]],
  discriminated: [
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a'), x: z.number() }),
      z.object({ kind: z.literal('b'), y: z.string().regex(/^q$/i) }),
    ]),
    [
      { kind: 'a', x: 1 },
      { kind: 'b', y: 'Q' },
    ],
    [{ kind: 'c' }, { kind: 'a' }, { x: 1 }],
  ],
  discriminatedFallback: [
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a') }),
      z.object({ kind: z.literal('b').default('b'), n: z.coerce.number() }),
    ]),
    [{ kind: 'a' }, { kind: 'b', n: '1' }],
  ],
  xor: [z.xor([z.object({ a: z.string() }), z.object({ b: z.string() })]), [{ a: '' }, { b: '' }], [{}]],
  xorFlags: [z.xor([z.string().regex(/^a$/i), z.string().regex(/^b$/i)]), ['A', 'B'], [5]],
  xorCoerced: [z.xor([z.coerce.number().max(5), z.string().min(3)]), [1, '1', 'abc']],
  intersection: [z.object({ a: z.string() }).and(z.object({ b: z.number() })), [{ a: '', b: 1 }], [{ a: '' }]],
  strictIntersection: [
    z.strictObject({ a: z.string() }).and(z.strictObject({ b: z.number() })),
    [{ a: '', b: 1 }],
    [{ a: '' }, { a: '', b: 1, c: 1 }],
  ],
  describedIntersection: [
    z.strictObject({ a: z.string() }).and(z.strictObject({ b: z.number() }).describe('with b')),
    [{ a: '', b: 1 }],
  ],
  unionIntersection: [
    z
      .strictObject({ a: z.string() })
      .and(z.union([z.strictObject({ b: z.number() }), z.strictObject({ c: z.number() })])),
    [
      { a: '', b: 1 },
      { a: '', c: 1 },
    ],
  ],
  namedIntersection: [
    z.intersection(
      z.strictObject({ a: z.string() }).meta({ id: 'WithA' }),
      z.strictObject({ b: z.string() }).meta({ id: 'WithB' }),
    ),
    [{ a: '', b: '' }],
  ],
  lazyTree: [tree, [{ name: 'a', children: [{ name: 'b' }] }], [{ name: 'a', children: [{}] }]],
  recursive: [person, [{ name: 'a', friend: { name: 'b' } }], [{ name: 'a', friend: {} }]],
  json: [z.json(), [1, 'a', [{ a: null }]]],
  named: [
    z.object({ a: z.string().regex(/^a$/i).meta({ id: 'Flagged' }), b: z.string() }),
    [{ a: 'A', b: '' }],
    [{ a: 'A' }],
  ],
  reused: [
    z.object({ from: z.iso.date(), to: z.iso.date() }),
    [{ from: '2024-01-01', to: '2024-01-02' }],
    [{ from: '2024-01-01' }],
  ],
  pipe: [z.string().pipe(z.string().min(1)), ['a'], [5]],
  superRefine: [z.array(z.string()).superRefine(() => {}), [['a']], [[1]]],
  promise: [
    z
      .object({ a: z.string() })
      .transform(({ a }) => a)
      .pipe(z.string().min(1)),
    [{ a: 'x' }],
    [{}],
  ],
  defaultOfObject: [
    z.object({ options: z.object({ deep: z.boolean().default(true) }).default({ deep: false }) }),
    [{}, { options: {} }],
    [{ options: { deep: 'x' } }],
  ],
  order: [
    z.object({
      id: z.uuid(),
      email: z.email().toLowerCase(),
      at: z.iso.datetime({ offset: true }),
      lines: z.array(
        z.object({
          sku: z
            .string()
            .trim()
            .regex(/^[A-Z]{3}-\d+$/),
          quantity: z.coerce.number().int().positive(),
          price: z.number().multipleOf(0.01),
        }),
      ),
      note: z.string().max(10).optional(),
    }),
    [
      {
        id: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
        email: 'Ada@Example.com',
        at: '2024-01-02T03:04:05+01:00',
        lines: [{ sku: ' ABC-1 ', quantity: '2', price: 0.1 + 0.2 }],
      },
    ],
    [{}, { id: '3f2504e0-4f89-41d3-9a0c-0305e82c3301', email: 'a@b.co', at: '2024-01-02', lines: [] }],
  ],
}
