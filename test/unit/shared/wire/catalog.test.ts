import fc from 'fast-check'
import { expect, test } from 'vitest'
import { catalogWorkflowId, parseCatalogMemo, parseCatalogWorkflows } from '../../../../src/shared/wire/catalog.ts'

function memo(fields: Record<string, unknown>): Map<string, unknown> {
  return new Map(Object.entries(fields))
}

test('catalogWorkflowId: is the workflow id of the run that holds a catalog', () => {
  expect(catalogWorkflowId('orders')).toBe('$catalog:orders')
})

test('parseCatalogWorkflows: absent keys are null, absent lists are empty', () => {
  expect(parseCatalogWorkflows({ workflows: [{ name: 'greet' }] })).toEqual([
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
  ])
})

test('parseCatalogWorkflows: null means absent', () => {
  const entry = { name: 'greet', description: null, inputSchema: null, aliases: null, signals: null }

  expect(parseCatalogWorkflows({ workflows: [entry] })).toMatchObject([
    { description: null, inputSchema: null, aliases: [], signals: [] },
  ])
})

test('parseCatalogWorkflows: keeps schemas unchanged, boolean ones too', () => {
  const inputSchema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}},"x-own":[1,null]}')

  const workflows = parseCatalogWorkflows({ workflows: [{ name: 'greet', inputSchema, outputSchema: false }] })

  expect(JSON.stringify(workflows?.[0]?.inputSchema)).toBe(JSON.stringify(inputSchema))
  expect(workflows?.[0]?.outputSchema).toBe(false)
})

test('parseCatalogWorkflows: reads handlers like workflows', () => {
  const signals = [{ name: 'approve', description: 'Approves', inputSchema: { type: 'object' }, inputOptional: false }]

  expect(parseCatalogWorkflows({ workflows: [{ name: 'order', signals }] })?.[0]?.signals).toEqual([
    {
      name: 'approve',
      description: 'Approves',
      inputSchema: { type: 'object' },
      inputOptional: false,
      outputSchema: null,
    },
  ])
})

test('parseCatalogWorkflows: ignores unknown keys', () => {
  expect(parseCatalogWorkflows({ workflows: [], version: 9 })).toEqual([])
})

test('parseCatalogWorkflows: returns null for an invalid definition', () => {
  const entries = [
    null,
    {},
    { name: 7 },
    ...[{ inputSchema: 'text' }, { inputSchema: [] }, { aliases: [7] }, { signals: [{}] }].map(named),
  ]
  const definitions = [
    null,
    undefined,
    'text',
    [],
    {},
    { workflows: {} },
    ...entries.map((entry) => ({ workflows: [entry] })),
  ]

  for (const definition of definitions) expect(parseCatalogWorkflows(definition), JSON.stringify(definition)).toBeNull()
})

test('parseCatalogMemo: reads names, hash, traces, redaction, version and publisher', () => {
  const traces = { remote: 'https://b/{namespace}/{runId}' }
  const version = { deploymentName: 'shop', buildId: 'v2' }
  const given = {
    workflowNames: { greet: 'greet', hello: 'greet' },
    hash: 'abc',
    traces,
    redacted: true,
    version,
    publisher: '1@host',
  }

  expect(parseCatalogMemo(memo(given))).toEqual({
    workflowNames: new Map([
      ['greet', 'greet'],
      ['hello', 'greet'],
    ]),
    hash: 'abc',
    traces,
    redacted: true,
    version,
    publisher: '1@host',
  })
})

test('parseCatalogMemo: absent and invalid fields are null', () => {
  const unknown = {
    workflowNames: new Map(),
    hash: null,
    traces: null,
    redacted: false,
    version: null,
    publisher: null,
  }

  expect(parseCatalogMemo(memo({ workflowNames: {} }))).toEqual(unknown)
  expect(
    parseCatalogMemo(
      memo({ workflowNames: {}, hash: 7, traces: { remote: 7 }, version: { buildId: 'v2' }, publisher: 7 }),
    ),
  ).toEqual(unknown)
  expect(parseCatalogMemo(memo({ workflowNames: {}, traces: true }))).toEqual(unknown)
})

test('parseCatalogMemo: traces: false means not archived, which is not the same as unknown', () => {
  expect(parseCatalogMemo(memo({ workflowNames: {}, traces: false }))?.traces).toBe(false)
})

test('parseCatalogMemo: skips names that map to something else than a name', () => {
  expect(parseCatalogMemo(memo({ workflowNames: { a: 'a', b: 7, c: null } }))?.workflowNames).toEqual(
    new Map([['a', 'a']]),
  )
})

test('parseCatalogMemo: names of Object.prototype count only if they are published (threat 50)', () => {
  const published = parseCatalogMemo(memo({ workflowNames: JSON.parse('{"__proto__":"greet"}') }))

  expect(published?.workflowNames.get('__proto__')).toBe('greet')
  expect(published?.workflowNames.get('toString')).toBeUndefined()
})

test('parseCatalogMemo: returns null without names', () => {
  const memos = [undefined, null, 'text', [['a', 'a']], 7].map((workflowNames) => memo({ workflowNames }))

  expect([new Map(), ...memos].map(parseCatalogMemo)).toEqual([null, null, null, null, null, null])
})

test('parseCatalogWorkflows and parseCatalogMemo: never throw (threat 81)', () => {
  fc.assert(
    fc.property(fc.anything(), (anything) => {
      parseCatalogWorkflows(anything)
      parseCatalogWorkflows({ workflows: [{ name: 'a', inputSchema: anything, aliases: anything, signals: anything }] })
      parseCatalogMemo(memo({ workflowNames: anything, hash: anything, traces: anything }))
    }),
  )
})

function named(keys: object): object {
  return { name: 'greet', ...keys }
}
