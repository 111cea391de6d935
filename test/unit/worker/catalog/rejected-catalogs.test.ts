/** What `defineCatalog` rejects at run time, for JavaScript and `any`. */
import * as v from 'valibot'
import { expect, test } from 'vitest'
import * as z from 'zod'
import * as z3 from 'zod/v3'
import { defineCatalog } from '../../../../src/worker/catalog/define-catalog.ts'

test('defineCatalog: rejects invalid schemas, with the path of each error', () => {
  const errors = errorsOf({
    type: { input: { type: 'objct' } },
    nested: { input: { type: 'object', properties: { 'a/b': { items: { type: 'str' } } } } },
    pattern: { input: { pattern: '(' }, output: { patternProperties: { '[': true } } },
    dangling: { input: { $ref: '#/$defs/none' } },
    remote: { input: { $ref: 'https://elsewhere.test/schema.json' } },
    circular: { input: { $ref: '#' }, output: { $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }] } }, $ref: '#/$defs/a' } },
    number: { input: { minLength: '3' } },
    list: { input: { required: 'name' } },
    flag: { input: { uniqueItems: 'yes' } },
    part: { input: { properties: { name: 'string' } } },
    tuple: { input: { $schema: 'https://json-schema.org/draft/2020-12/schema', items: [{ type: 'string' }] } },
    below: {
      signals: { go: { input: { not: { type: 'nul' } } } },
      queries: { ask: { output: { oneOf: [{ type: 'x' }, true] } } },
    },
  })

  expect(errors).toEqual([
    'type.input: /type: unknown type "objct"',
    'nested.input: /properties/a~1b/items/type: unknown type "str"',
    'pattern.input: /pattern: the pattern "(" is not a valid regular expression',
    'pattern.output: /patternProperties: the pattern "[" is not a valid regular expression',
    'dangling.input: /$ref: cannot resolve "#/$defs/none" within the schema',
    'remote.input: /$ref: cannot resolve "https://elsewhere.test/schema.json" within the schema',
    'circular.input: the schema refers to itself without end',
    'circular.output: /$defs/a refers to itself without end',
    'number.input: /minLength: must be a number, not "3"',
    'list.input: /required: must be an array, not "name"',
    'flag.input: /uniqueItems: must be a boolean, not "yes"',
    'part.input: /properties: a subschema must be an object or a boolean',
    'tuple.input: /items: a subschema must be an object or a boolean',
    'below.signals.go.input: /not: unknown type "nul"',
    'below.queries.ask.output: /oneOf/0/type: unknown type "x"',
  ])
})

test('defineCatalog: accepts valid schemas that the API cannot fully check', () => {
  const tree = {
    $dynamicAnchor: 'node',
    type: 'object',
    properties: { children: { type: 'array', items: { $dynamicRef: '#node' } } },
  }
  const list = { type: 'object', properties: { next: { $ref: '#' } } }

  const errors = errorsOf({
    lookbehind: { input: { pattern: '(?<=a)b' } },
    backreference: { input: { pattern: String.raw`(a)\1` } },
    below: { input: { not: { pattern: '(?<=a)b' } } },
    long: { input: { pattern: 'a'.repeat(3000) } },
    tree: { input: tree },
    list: { input: list },
    unknown: { input: { 'x-ours': 1, format: 'no-such-format' } },
    zod: { input: z.object({ code: z.string().regex(/(?<=a)b/) }) },
  })

  expect(errors).toEqual([])
})

test('defineCatalog: accepts four dialects with their own keywords, and rejects others', () => {
  const items = [{ type: 'string' }]

  const errors = errorsOf({
    new: { input: { $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: items } },
    old: { input: { $schema: 'http://json-schema.org/draft-07/schema#', items, definitions: {} } },
    undeclared: { input: { items } },
    '2019': { input: { $schema: 'https://json-schema.org/draft/2019-09/schema', items, unevaluatedItems: false } },
    six: { input: { $schema: 'http://json-schema.org/draft-06/schema#', items } },
    older: { input: { $schema: 'http://json-schema.org/draft-04/schema#' } },
    mixed: { input: { $schema: 'https://json-schema.org/draft/2020-12/schema', items } },
  })

  expect(errors).toEqual([
    'older.input: $schema "http://json-schema.org/draft-04/schema#" is not supported; use JSON Schema 2020-12, 2019-09, draft-07 or draft-06',
    'mixed.input: /items: a subschema must be an object or a boolean',
  ])
})

test('defineCatalog: rejects a schema object with a circular structure', () => {
  const circular: Record<string, unknown> = { type: 'object' }
  circular.properties = { self: circular }

  expect(errorsOf({ greet: { input: circular } })).toEqual([
    'greet.input: has a circular structure; use $ref for recursive schemas',
  ])
})

test('defineCatalog: rejects schemas that cannot be converted to JSON Schema, and names the library', () => {
  class Struct {
    type = 'object'
  }
  const { '~standard': _, ...olderValibot } = v.object({ name: v.string() })

  const errors = errorsOf({
    valibot: { input: v.object({ name: v.string() }) },
    zod3: { input: z3.object({ name: z3.string() }) },
    unknown: {
      updates: { set: { input: { '~standard': { version: 1, vendor: 'acme', validate: () => ({ value: 1 }) } } } },
    },
    instance: { input: new Struct() },
    functions: { input: olderValibot },
    calls: { input: () => true },
    text: { output: 'string' },
  })

  const none = 'must be a zod 4 schema, a schema that supports Standard JSON Schema, or JSON Schema'
  expect(errors).toEqual([
    'valibot.input: is a schema from valibot without Standard JSON Schema support; wrap it in toStandardJsonSchema from @valibot/to-json-schema',
    'zod3.input: is a zod 3 schema; use zod 4',
    'unknown.updates.set.input: is a schema from acme without Standard JSON Schema support; use a version of the library that supports Standard JSON Schema, or pass JSON Schema',
    `instance.input: ${none}`,
    `functions.input: ${none}`,
    `calls.input: ${none}`,
    `text.output: ${none}`,
  ])
})

test('defineCatalog: accepts the result of z.toJSONSchema as JSON Schema', () => {
  const schema = z.toJSONSchema(z.object({ name: z.string() }), { io: 'input' })
  schema.title = 'Mine'

  expect(defineCatalog({ greet: { input: schema } }).workflows[0]?.inputSchema).toMatchObject({
    title: 'Mine',
    required: ['name'],
  })
})

test('defineCatalog: rejects unknown keys and suggests the intended one', () => {
  const errors = errorsOf({
    greet: { inputSchema: {}, signal: {}, version: 2 },
    order: { signals: { go: { outputSchema: {} } }, queries: { ask: { aliases: ['a'] } } },
  })

  expect(errors).toEqual([
    'greet: unknown key "inputSchema"; did you mean "input"?',
    'greet: unknown key "signal"; did you mean "signals"?',
    'greet: unknown key "version"; the known keys are description, aliases, input, inputOptional, output, signals, queries, updates',
    'order.signals.go: unknown key "outputSchema"; did you mean "output"?',
    'order.queries.ask: unknown key "aliases"; the known keys are description, input, inputOptional, output',
  ])
})

test('defineCatalog: rejects values of the wrong type', () => {
  const errors = errorsOf({
    nothing: null,
    list: [],
    text: { description: 7, aliases: 'hello' },
    aliases: { aliases: ['a', 7] },
    handlers: { signals: ['go'], queries: null, updates: { set: null, reset: { description: ['x'] } } },
  })

  expect(errors).toEqual([
    'nothing: must be an object ({} is allowed), not null',
    'list: must be an object ({} is allowed), not an array',
    'text.description: must be a string, not number',
    'text.aliases: must be an array of strings, not the string "hello"',
    'aliases.aliases: must contain only strings, not number',
    'handlers.signals: must be an object with a key for each handler, not an array',
    'handlers.queries: must be an object with a key for each handler, not null',
    'handlers.updates.set: must be an object ({} is allowed), not null',
    'handlers.updates.reset.description: must be a string, not an array',
  ])
  expect(errorsOf([])).toEqual(['the catalog must be an object with a key for each workflow, not an array'])
  expect(errorsOf(null)).toEqual(['the catalog must be an object with a key for each workflow, not null'])
})

/** Calls it like untyped JavaScript. */
function errorsOf(workflows: unknown): string[] {
  try {
    defineCatalog(workflows as never)
    return []
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return error.message
      .split('\n')
      .slice(1)
      .map((line) => line.replace(/^- /, ''))
  }
}
