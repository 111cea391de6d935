/** What is said once about schemas when the worker starts. */
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import * as z from 'zod'
import * as mini from 'zod/mini'
import { defineCatalog, uncheckedInputs } from '../../../../src/worker/catalog/define-catalog.ts'
import type { InputSchema } from '../../../../src/worker/catalog/schemas/json-schema.ts'

const std = toStandardJsonSchema

const NODE: z.ZodType = z.object({
  name: z.string().refine((name) => name !== ''),
  get children() {
    return z.array(NODE)
  },
})

test.for<[InputSchema, string]>([
  [
    z.object({ card: z.string().refine((card) => card.startsWith('4')), n: z.coerce.number().default(1) }),
    'refine at /card, coerce and default at /n are not checked by Portico',
  ],
  [z.string().refine((name) => name !== ''), 'refine is not checked by Portico'],
  [
    z.object({
      a: z.array(z.string().trim().min(2)),
      b: z.record(z.string(), z.url()),
      'c/d': z.string().regex(/a/i).nullable(),
    }),
    'overwrite at /a/*, url at /b/*, regex at /c~1d are not checked by Portico',
  ],
  [
    z.object({
      a: z.preprocess(Number, z.number()),
      b: z.string().transform(Number),
      c: z.string().pipe(z.string().min(2)),
      d: z.stringbool(),
      e: z.string().catch('x'),
      f: z.custom<string>(() => true),
    }),
    'preprocess at /a, transform at /b, pipe at /c, codec at /d, catch at /e, custom at /f are not checked by Portico',
  ],
  [
    z.intersection(
      z.strictObject({ a: z.string() }).meta({ id: 'OnlyA' }),
      z.strictObject({ b: z.string() }).meta({ id: 'OnlyB' }),
    ),
    'intersection is not checked by Portico',
  ],
  [z.object({ due: z.date().optional() }), 'date at /due is not checked by Portico'],
  [NODE, 'refine at /name is not checked by Portico'],
  [mini.object({ a: mini.string().check(mini.trim()) }), 'overwrite at /a is not checked by Portico'],
  [
    std(
      v.object({
        card: v.pipe(
          v.string(),
          v.check((card) => card.startsWith('4')),
        ),
        name: v.pipe(v.string(), v.trim()),
        to: v.pipe(v.string(), v.email()),
        n: v.fallback(v.number(), 1),
        m: v.optional(v.number(), 2),
        at: v.pipe(v.string(), v.transform(Number)),
        all: v.array(v.pipe(v.string(), v.regex(/a/i))),
      }),
    ),
    'check at /card, trim at /name, email at /to, fallback at /n, default at /m, transform at /at, regex at /all/* are not checked by Portico',
  ],
  [
    type({ a: type('string').narrow(() => true), b: /b/i, c: ['string', '...', 'number[]', 'boolean'] }),
    'predicate at /a, pattern at /b, arrayPostfix at /c are not checked by Portico',
  ],
  [type({ a: type('string').pipe(Number) }), 'morph is not checked by Portico'],
])('defineCatalog: %#: %s says what the worker alone checks', ([input, expected]) => {
  const catalog = defineCatalog({ pay: { input } })

  expect(uncheckedInputs(catalog)).toEqual([`pay: ${expected}`])
  expect(JSON.stringify(catalog)).not.toContain('portico:')
})

test.for<[name: string, schema: InputSchema]>([
  [
    'zod',
    z.object({ a: z.email(), b: z.array(z.int().min(1)).max(3), c: z.literal(['x', 'y']).optional(), d: z.iso.date() }),
  ],
  ['valibot', std(v.object({ a: v.pipe(v.string(), v.minLength(2), v.regex(/^a/u)), b: v.optional(v.number()) }))],
  ['arktype', type({ a: 'string > 1', 'b?': 'number.integer', c: /^a/u })],
  ['JSON Schema', { type: 'string', format: 'email' }],
])('defineCatalog: nothing is said about a schema of %s that says all', ([, input]) => {
  expect(uncheckedInputs(defineCatalog({ pay: { input } }))).toEqual([])
})

test('defineCatalog: each handler has a line, and long lines end', () => {
  const input = z.string().refine(() => true)
  const many = z.object(Object.fromEntries(Array.from({ length: 13 }, (_, at) => [`f${at}`, input])))
  const catalog = defineCatalog({
    pay: { signals: { go: { input } }, queries: { ask: { input } }, updates: { set: { input: many } } },
  })

  expect(uncheckedInputs(catalog)).toEqual([
    'pay.signals.go: refine is not checked by Portico',
    'pay.queries.ask: refine is not checked by Portico',
    expect.stringMatching(
      /^pay\.updates\.set: refine at \/f0, .* refine at \/f9, and 3 more are not checked by Portico$/,
    ),
  ])
})
