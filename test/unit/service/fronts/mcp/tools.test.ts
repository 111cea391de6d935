import { expect, test } from 'vitest'
import { toolsOf } from '../../../../../src/service/fronts/mcp/tools.ts'
import type { CatalogEntry } from '../../../../../src/shared/wire/catalog.ts'
import { entry } from '../../openapi/typed/catalog-document.ts'

function listing(...workflows: CatalogEntry[]) {
  return { catalog: 'orders', inputsChecked: true, workflows, activities: [] }
}

const handler = { description: null, inputSchema: null, inputOptional: null, outputSchema: null }

test('toolsOf: has one tool for each workflow, in the order of the catalog', async () => {
  const { tools } = await toolsOf(listing(entry('greet'), entry('a b'), entry('$catalog'), entry('cancel')))

  expect(tools.map(({ tool }) => [tool.name, tool.title])).toEqual([
    ['greet', undefined],
    ['a_b_c8687a08', 'a b'],
    ['cancel', undefined],
  ])
})

test('toolsOf: the description says what the workflow takes while it runs, within the limit of hosts', async () => {
  const order = {
    ...entry('order'),
    description: 'Ships an order.',
    signals: [{ ...handler, name: 'approve', description: 'Approves it' }],
    queries: [{ ...handler, name: 'progress' }],
    updates: [{ ...handler, name: 'priority' }],
  }
  const long = { ...entry('long'), description: 'x'.repeat(2000) }
  const { tools } = await toolsOf(listing(order, long, entry('plain')))

  expect(tools.map(({ tool }) => tool.description.length)).toEqual([expect.any(Number), 1024, 24])
  expect(tools[2]?.tool.description).toBe('Runs the workflow plain.')
  expect(tools[0]?.tool.description).toBe(
    'Ships an order.\nWhile it runs it takes: signal approve: Approves it; query progress; update priority',
  )
})

test('toolsOf: a description is never cut inside a character', async () => {
  const { tools } = await toolsOf(listing({ ...entry('long'), description: '😀'.repeat(1000) }))

  expect(tools[0]?.tool.description).toBe(`${'😀'.repeat(511)}…`)
  expect(tools[0]?.tool.description.isWellFormed()).toBe(true)
})

test('toolsOf: an alias leads to its workflow, unless a tool has that name', async () => {
  const greet = { ...entry('greet'), aliases: ['hello', 'say hello', 'plain'] }
  const { byName } = await toolsOf(listing(greet, entry('plain')))

  expect(byName.get('hello')?.workflowName).toBe('greet')
  expect([...byName].filter(([, { workflowName }]) => workflowName === 'greet')).toHaveLength(3)
  expect(byName.get('plain')?.workflowName).toBe('plain')
  expect([byName.get('toString'), byName.get('__proto__')]).toEqual([undefined, undefined])
})

test('toolsOf: returns the same tools for the same entries', async () => {
  const one = listing(entry('greet'))

  expect(await toolsOf({ ...one })).toBe(await toolsOf({ ...one }))
})

test('toolsOf: outputs are checked with a schema that is too large to be shown', async () => {
  const long = { type: 'object', properties: { n: { type: 'number', description: 'x'.repeat(70_000) } } }
  const { tools } = await toolsOf(listing({ ...entry('greet'), outputSchema: long }))

  expect(JSON.stringify(tools[0]?.tool).length).toBeLessThan(2000)
  expect(JSON.stringify(tools[0]?.outputSchema)).toContain('"n"')
})
