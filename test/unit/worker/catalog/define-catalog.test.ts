import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import * as z from 'zod'
import * as mini from 'zod/mini'
import * as z3 from 'zod/v3'
import { parseCatalogWorkflows } from '../../../../src/shared/wire/catalog.ts'
import { defineCatalog } from '../../../../src/worker/catalog/define-catalog.ts'
import type { InputSchema } from '../../../../src/worker/catalog/schemas/json-schema.ts'

const WORKFLOWS = {
  greet: async ({ name }: { name: string }) => `Hello, ${name}!`,
  pay: async ({ amount }: { amount: number }, _note?: string) => ({ paid: amount }),
  nothing: async () => {},
  hasDefault: async (name = 'Ada') => name,
  anything: async (input: unknown) => input,
  notAWorkflow: 17,
}

const HANDLERS = {
  greet: async (_who: { name: string }, _times: number) => 'Hello',
  approve: defineSignal<[{ by: string }]>('approve'),
  rejectSignal: defineSignal<[{ by: string }]>('reject'),
  cancel: defineSignal<[reason?: string]>('cancel'),
  stageOf: defineQuery<{ stage: 'open' | 'done' }, [], 'stage-of'>('stage-of'),
  addItem: defineUpdate<number, [{ sku: string }, boolean?]>('addItem'),
}

test('defineCatalog: returns every key of each workflow, null or empty by default', () => {
  const catalog = defineCatalog<typeof WORKFLOWS>({ greet: {} })

  expect(catalog).toEqual({
    workflows: [
      {
        name: 'greet',
        description: null,
        inputSchema: null,
        inputOptional: null,
        outputSchema: null,
        aliases: [],
        signals: [],
        queries: [],
        updates: [],
      },
    ],
    workflowNames: { greet: 'greet' },
  })
})

test("defineCatalog: maps a workflow's name and its aliases to the name", () => {
  const catalog = defineCatalog({ greet: { aliases: ['hello', 'salute'] }, pay: {} })

  expect(catalog.workflowNames).toEqual({ greet: 'greet', hello: 'greet', salute: 'greet', pay: 'pay' })
})

test('defineCatalog: converts the input side of an input schema and the output side of an output schema', () => {
  const input = z.object({ name: z.string().default('Ada') })
  const { workflows } = defineCatalog({ greet: { input, output: input } })

  expect(workflows[0]?.inputSchema).toMatchObject({ properties: { name: { default: 'Ada', type: 'string' } } })
  expect(workflows[0]?.inputSchema).not.toHaveProperty('required')
  expect(workflows[0]?.outputSchema).toMatchObject({ required: ['name'] })
})

test('defineCatalog: describes signals, queries and updates with their schemas', () => {
  const { workflows } = defineCatalog({
    order: {
      signals: { approve: { description: 'Continues the order', input: z.string() } },
      queries: { progress: { output: z.number() } },
      updates: { priority: { input: { enum: ['low', 'high'] }, output: true } },
    },
  })

  expect(workflows[0]).toMatchObject({
    signals: [
      {
        name: 'approve',
        description: 'Continues the order',
        inputSchema: { type: 'string' },
        inputOptional: false,
        outputSchema: null,
      },
    ],
    queries: [{ name: 'progress', description: null, inputSchema: null, outputSchema: { type: 'number' } }],
    updates: [{ name: 'priority', description: null, inputSchema: { enum: ['low', 'high'] }, outputSchema: true }],
  })
})

test('defineCatalog: publishes that an argument may be left out if its schema accepts undefined', () => {
  const object = z.object({ name: z.string() })
  const schemas: Record<string, [schema: InputSchema, inputOptional: boolean]> = {
    object: [object, false],
    nullable: [object.nullable(), false],
    optional: [object.optional(), true],
    default: [object.default({ name: 'Ada' }), true],
    prefault: [object.prefault({ name: 'Ada' }), true],
    catch: [object.catch({ name: 'Ada' }), true],
    allOptional: [object.partial(), false],
    unknown: [z.unknown(), true],
    coerced: [z.coerce.string(), true],
    preprocessed: [z.preprocess((value) => value ?? 'Ada', z.string()), true],
    throws: [z.preprocess((value) => String(value).slice(0, (value as string).length), z.string()), true],
    asynchronous: [
      z
        .string()
        .optional()
        .refine(async () => false),
      true,
    ],
    never: [z.never(), true],
    mini: [mini.object({ name: mini.string() }), false],
    miniOptional: [mini.optional(mini.string()), true],
    arktype: [type({ name: 'string' }), false],
    arktypeOptional: [type('string | undefined'), true],
    valibot: [toStandardJsonSchema(v.object({ name: v.string() })), false],
    valibotOptional: [toStandardJsonSchema(v.optional(v.string())), true],
    json: [{ type: ['object', 'null'], default: {} }, false],
    jsonOfZod: [z.toJSONSchema(object), false],
    anyJson: [{ description: 'Anything' }, true],
    true: [true, true],
    false: [false, true],
  }
  const { workflows } = defineCatalog(
    Object.fromEntries(Object.entries(schemas).map(([name, [input]]) => [name, { input }])),
  )

  const optional = Object.fromEntries(workflows.map(({ name, inputOptional }) => [name, inputOptional]))
  expect(optional).toEqual(Object.fromEntries(Object.entries(schemas).map(([name, [, expected]]) => [name, expected])))
})

test('defineCatalog: publishes what the worker says about an argument that may be left out', () => {
  const { workflows } = defineCatalog({
    greet: { input: z.string(), inputOptional: true, signals: { stop: { input: z.unknown(), inputOptional: false } } },
  })

  expect(workflows[0]).toMatchObject({ inputOptional: true, signals: [{ inputOptional: false }] })
  expect(errorOf(() => defineCatalog({ greet: { input: z.string(), inputOptional: 'yes' as never } }))).toMatch(
    /^- greet.inputOptional: must be a boolean, not the string "yes"$/m,
  )
  expect(errorOf(() => defineCatalog({ greet: { inputOptional: true } }))).toMatch(
    /^- greet.inputOptional: has no effect without input$/m,
  )
})

test('defineCatalog: keeps JSON Schema unchanged', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $defs: { a: { type: 'string' } },
    $ref: '#/$defs/a',
    'x-ours': [1],
  }
  const { workflows } = defineCatalog({ greet: { input: schema } })

  expect(workflows[0]?.inputSchema).toEqual(schema)
})

test('defineCatalog: returns a catalog that the API can parse', () => {
  const { workflows } = defineCatalog({ greet: { input: z.object({ name: z.string() }), signals: { stop: {} } } })

  expect(parseCatalogWorkflows(JSON.parse(JSON.stringify({ workflows })))).toEqual(workflows)
})

test('defineCatalog: lists all errors in one TypeError', () => {
  const message = errorOf(() =>
    defineCatalog({
      $internal: {},
      __temporal_x: {},
      toString: {},
      greet: { aliases: ['pay', 'hello', 'hello', 'constructor'], input: z.date(), output: [] as never },
      pay: {
        aliases: ['pay'],
        input: { $schema: 'http://json-schema.org/draft-04/schema#' },
        queries: { __stack_trace: {}, ok: {} },
      },
      [`long${'x'.repeat(1000)}`]: {},
      order: { signals: { valueOf: {} }, updates: { set: { input: { _def: {} } as never } } },
    }),
  )

  expect(message.split('\n')).toEqual([
    'Invalid catalog:',
    '- greet.input: Date cannot be represented in JSON Schema',
    '- greet.output: must be a zod 4 schema, a schema that supports Standard JSON Schema, or JSON Schema',
    '- pay.input: $schema "http://json-schema.org/draft-04/schema#" is not supported; use JSON Schema 2020-12, 2019-09, draft-07 or draft-06',
    '- pay.queries: the name "__stack_trace" must not start with "__", which is reserved',
    '- order.signals: the name "valueOf" is reserved: every JavaScript object has a property of that name',
    '- order.updates.set.input: is a zod 3 schema; use zod 4',
    '- $internal: the name "$internal" must not start with "$", which is reserved',
    '- __temporal_x: the name "__temporal_x" must not start with "__temporal_", which is reserved',
    '- toString: the name "toString" is reserved: every JavaScript object has a property of that name',
    '- greet.aliases: "hello" is already a name or alias of greet',
    '- greet.aliases: the name "constructor" is reserved: every JavaScript object has a property of that name',
    '- pay: "pay" is already a name or alias of greet',
    '- pay.aliases: "pay" is already a name or alias of greet',
    expect.stringMatching(/^- longx+: the name "longx+" must be 1 to 1000 bytes of UTF-8, not 1004$/),
  ])
})

test('defineCatalog: rejects a catalog that is too large for the engine, with its size and the largest workflow', () => {
  const message = errorOf(() => defineCatalog({ small: {}, large: { description: 'ä'.repeat(1 << 20) }, greet: {} }))

  expect(message.split('\n')[1]).toMatch(
    /^- the catalog is too large: 2097\d{3} bytes as JSON, the maximum is 2097088; the largest workflow is "large" with 20972\d\d bytes$/,
  )
})

test('defineCatalog: accepts only exported workflows, with schemas that match their types', () => {
  defineCatalog<typeof WORKFLOWS>({
    greet: { input: z.object({ name: z.string().min(1) }), output: z.string() },
    pay: { input: z.object({ amount: z.int() }), output: z.object({ paid: z.number() }) },
    nothing: { input: z.null(), inputOptional: true, output: z.null() },
    anything: { input: z.array(z.string()), output: z.string() },
  })

  // @ts-expect-error the module exports no such workflow
  defineCatalog<typeof WORKFLOWS>({ gret: {} })
  // @ts-expect-error the export is not a workflow
  defineCatalog<typeof WORKFLOWS>({ notAWorkflow: {} })
  // @ts-expect-error the workflow takes a string
  defineCatalog<typeof WORKFLOWS>({ greet: { input: z.object({ name: z.number() }) } })
  // @ts-expect-error zod/mini: another property
  defineCatalog<typeof WORKFLOWS>({ greet: { input: mini.object({ nam: mini.string() }) } })
  defineCatalog<typeof WORKFLOWS>({ greet: { input: mini.object({ name: mini.string() }), output: mini.string() } })
  // @ts-expect-error arktype: another property
  defineCatalog<typeof WORKFLOWS>({ greet: { input: type({ nam: 'string' }) } })
  defineCatalog<typeof WORKFLOWS>({ greet: { input: type({ name: 'string' }), output: type('string') } })
  // @ts-expect-error valibot: the workflow takes a string
  defineCatalog<typeof WORKFLOWS>({ greet: { input: toStandardJsonSchema(v.object({ name: v.number() })) } })
  defineCatalog<typeof WORKFLOWS>({ greet: { input: toStandardJsonSchema(v.object({ name: v.string() })) } })
  // @ts-expect-error the default is not applied: the workflow would receive an object without a name
  defineCatalog<typeof WORKFLOWS>({ greet: { input: z.object({ name: z.string().default('Ada') }) } })
  // @ts-expect-error the function needs its argument
  defineCatalog<typeof WORKFLOWS>({ greet: { input: z.object({ name: z.string() }), inputOptional: true } })
  // @ts-expect-error the function has a default: the catalog must say whether the API needs the argument
  defineCatalog<typeof WORKFLOWS>({ hasDefault: { input: z.string() } })
  defineCatalog<typeof WORKFLOWS>({ hasDefault: { input: z.string(), inputOptional: true } })
  defineCatalog<typeof WORKFLOWS>({ hasDefault: { input: z.string().optional(), inputOptional: false } })
  // @ts-expect-error the workflow returns a string
  defineCatalog<typeof WORKFLOWS>({ greet: { output: z.number() } })
})

test('defineCatalog: handlers have the names and the types of their definitions', () => {
  const define = defineCatalog<typeof HANDLERS>
  const by = z.object({ by: z.string() })
  define({
    greet: {
      input: z.object({ name: z.string() }),
      signals: {
        approve: { input: by },
        // Of an export like this one the compiler cannot know the name.
        reject: { input: by },
        rejectSignal: {},
        cancel: { input: z.string().optional(), inputOptional: true },
      },
      queries: { 'stage-of': { output: z.object({ stage: z.enum(['open', 'done']) }) } },
      updates: { addItem: { input: z.object({ sku: z.string() }), output: z.int() } },
    },
  })

  // @ts-expect-error the first parameter is an object
  define({ greet: { input: z.number() } })
  // @ts-expect-error no signal of that name
  define({ greet: { signals: { aprove: {} } } })
  // @ts-expect-error a definition with a name in its type is known only by that name
  define({ greet: { queries: { stageOf: {} } } })
  // @ts-expect-error `by` is a string
  define({ greet: { signals: { approve: { input: z.object({ by: z.number() }) } } } })
  // @ts-expect-error the catalog must say whether the argument may be left out
  define({ greet: { signals: { cancel: { input: z.string().optional() } } } })
  // @ts-expect-error `sku` is a string
  define({ greet: { updates: { addItem: { input: z.object({ sku: z.number() }) } } } })
  // @ts-expect-error the update returns a number
  define({ greet: { updates: { addItem: { output: z.string() } } } })
  // @ts-expect-error the query has no such stage
  define({ greet: { queries: { 'stage-of': { output: z.object({ stage: z.enum(['closed']) }) } } } })
  // @ts-expect-error a module with definitions must export every kind that its catalog uses
  defineCatalog<Pick<typeof HANDLERS, 'greet' | 'approve'>>({ greet: { queries: { progress: {} } } })
  defineCatalog<typeof WORKFLOWS>({ greet: { queries: { progress: { output: z.number() } } } })
})

test('defineCatalog: a schema that cannot be converted to JSON Schema does not compile', () => {
  const define = defineCatalog<typeof WORKFLOWS>

  // @ts-expect-error it needs toStandardJsonSchema
  expect(() => define({ greet: { input: v.object({ name: v.string() }) } })).toThrow(TypeError)
  // @ts-expect-error zod 3
  expect(() => define({ greet: { input: z3.object({ name: z3.string() }) } })).toThrow(TypeError)
})

function errorOf(define: () => unknown): string {
  try {
    define()
  } catch (error) {
    if (error instanceof TypeError) return error.message
    throw error
  }
  throw new Error('defineCatalog did not throw')
}
