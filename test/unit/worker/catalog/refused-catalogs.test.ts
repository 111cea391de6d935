/** What `defineCatalog` refuses at run time, where plain JavaScript or `any` has no compiler. */
import * as v from 'valibot'
import { expect, test } from 'vitest'
import * as z from 'zod'
import * as z3 from 'zod/v3'
import { defineCatalog } from '../../../../src/worker/catalog/define-catalog.ts'

test('defineCatalog: refuses schemas that are broken, and says where', () => {
  const faults = faultsOf({
    type: { input: { type: 'objct' } },
    nested: { input: { type: 'object', properties: { 'a/b': { items: { type: 'str' } } } } },
    pattern: { input: { pattern: '(' }, output: { patternProperties: { '[': true } } },
    dangling: { input: { $ref: '#/$defs/none' } },
    remote: { input: { $ref: 'https://elsewhere.test/schema.json' } },
    circle: { input: { $ref: '#' }, output: { $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }] } }, $ref: '#/$defs/a' } },
    number: { input: { minLength: '3' } },
    list: { input: { required: 'name' } },
    flag: { input: { uniqueItems: 'yes' } },
    part: { input: { properties: { name: 'string' } } },
    tuple: { input: { items: [{ type: 'string' }] } },
    below: {
      signals: { go: { input: { not: { type: 'nul' } } } },
      queries: { ask: { output: { oneOf: [{ type: 'x' }, true] } } },
    },
  })

  expect(faults).toEqual([
    'type.input: /type: unknown type "objct"',
    'nested.input: /properties/a~1b/items/type: unknown type "str"',
    'pattern.input: /pattern: the pattern "(" is not a valid regular expression',
    'pattern.output: /patternProperties: the pattern "[" is not a valid regular expression',
    'dangling.input: /$ref: cannot resolve "#/$defs/none" within the schema',
    'remote.input: /$ref: cannot resolve "https://elsewhere.test/schema.json" within the schema',
    'circle.input: the schema refers to itself without end',
    'circle.output: /$defs/a refers to itself without end',
    'number.input: /minLength: must be a number, not "3"',
    'list.input: /required: must be an array, not "name"',
    'flag.input: /uniqueItems: must be a boolean, not "yes"',
    'part.input: /properties: a subschema must be an object or a boolean',
    'tuple.input: /items: a subschema must be an object or a boolean',
    'below.signals.go.input: /not: unknown type "nul"',
    'below.queries.ask.output: /oneOf/0/type: unknown type "x"',
  ])
})

test('defineCatalog: takes schemas that are valid, but more than the API can check', () => {
  const tree = {
    $dynamicAnchor: 'node',
    type: 'object',
    properties: { children: { type: 'array', items: { $dynamicRef: '#node' } } },
  }
  const list = { type: 'object', properties: { next: { $ref: '#' } } }

  const faults = faultsOf({
    lookbehind: { input: { pattern: '(?<=a)b' } },
    backreference: { input: { pattern: String.raw`(a)\1` } },
    below: { input: { not: { pattern: '(?<=a)b' } } },
    long: { input: { pattern: 'a'.repeat(3000) } },
    tree: { input: tree },
    list: { input: list },
    unknown: { input: { 'x-ours': 1, format: 'no-such-format' } },
    zod: { input: z.object({ code: z.string().regex(/(?<=a)b/) }) },
  })

  expect(faults).toEqual([])
})

test('defineCatalog: takes both dialects, with what each of them allows, and no other', () => {
  const items = [{ type: 'string' }]

  const faults = faultsOf({
    new: { input: { $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: items } },
    old: { input: { $schema: 'http://json-schema.org/draft-07/schema#', items, definitions: {} } },
    older: { input: { $schema: 'http://json-schema.org/draft-04/schema#' } },
    mixed: { input: { $schema: 'https://json-schema.org/draft/2020-12/schema', items } },
  })

  expect(faults).toEqual([
    'older.input: $schema "http://json-schema.org/draft-04/schema#" is not supported; use JSON Schema 2020-12 or draft-07',
    'mixed.input: /items: a subschema must be an object or a boolean',
  ])
})

test('defineCatalog: refuses a schema that contains itself', () => {
  const circle: Record<string, unknown> = { type: 'object' }
  circle.properties = { self: circle }

  expect(faultsOf({ greet: { input: circle } })).toEqual([
    'greet.input: contains itself: refer to a part of it with $ref',
  ])
})

test('defineCatalog: refuses schemas of libraries that do not convert themselves to JSON Schema, by the name of the library', () => {
  class Struct {
    type = 'object'
  }
  const { '~standard': _, ...olderValibot } = v.object({ name: v.string() })

  const faults = faultsOf({
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

  const none = 'must be a zod 4 schema, a schema with Standard JSON Schema, or JSON Schema'
  expect(faults).toEqual([
    'valibot.input: is a schema of valibot, which does not convert itself to JSON Schema: wrap it in toStandardJsonSchema of @valibot/to-json-schema',
    'zod3.input: is a schema of zod 3: zod 4 is needed',
    'unknown.updates.set.input: is a schema of acme, which does not convert itself to JSON Schema: a version that has Standard JSON Schema is needed, or JSON Schema in its place',
    `instance.input: ${none}`,
    `functions.input: ${none}`,
    `calls.input: ${none}`,
    `text.output: ${none}`,
  ])
})

test('defineCatalog: takes what z.toJSONSchema returns for the JSON Schema that it is', () => {
  const schema = z.toJSONSchema(z.object({ name: z.string() }), { io: 'input' })
  schema.title = 'Mine'

  expect(defineCatalog({ greet: { input: schema } }).workflows[0]?.inputSchema).toMatchObject({
    title: 'Mine',
    required: ['name'],
  })
})

test('defineCatalog: refuses unknown keys, with the one that may be meant', () => {
  const faults = faultsOf({
    greet: { inputSchema: {}, signal: {}, version: 2 },
    order: { signals: { go: { outputSchema: {} } }, queries: { ask: { aliases: ['a'] } } },
  })

  expect(faults).toEqual([
    'greet: "inputSchema" is not a known key: did you mean "input"?',
    'greet: "signal" is not a known key: did you mean "signals"?',
    'greet: "version" is not a known key: there are description, aliases, input, output, signals, queries, updates',
    'order.signals.go: "outputSchema" is not a known key: did you mean "output"?',
    'order.queries.ask: "aliases" is not a known key: there are description, input, output',
  ])
})

test('defineCatalog: refuses what is not of the kind that it should be', () => {
  const faults = faultsOf({
    nothing: null,
    list: [],
    text: { description: 7, aliases: 'hello' },
    aliases: { aliases: ['a', 7] },
    handlers: { signals: ['go'], queries: null, updates: { set: null, reset: { description: ['x'] } } },
  })

  expect(faults).toEqual([
    'nothing: must be an object, {} when there is nothing to say, not null',
    'list: must be an object, {} when there is nothing to say, not an array',
    'text.description: must be a string, not number',
    'text.aliases: must be an array of strings, not the string "hello"',
    'aliases.aliases: must be an array of strings, without number',
    'handlers.signals: must be an object with a key for each handler, not an array',
    'handlers.queries: must be an object with a key for each handler, not null',
    'handlers.updates.set: must be an object, {} when there is nothing to say, not null',
    'handlers.updates.reset.description: must be a string, not an array',
  ])
  expect(faultsOf([])).toEqual(['it must be an object with a key for each workflow, not an array'])
  expect(faultsOf(null)).toEqual(['it must be an object with a key for each workflow, not null'])
})

/** As JavaScript would call it. */
function faultsOf(workflows: unknown): string[] {
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
