import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { renderCatalog, renderRuns } from '../../../../src/cli/output/lists.ts'

test('portico list: an open run whose code fails again and again is marked as stuck', () => {
  const run = (workflowId: string, problem: boolean) => ({
    ...{ workflowId, runId: 'r', workflowName: 'order', catalog: 'c', status: 'running' as const, problem },
    ...{ startedAt: '2026-11-21T02:55:53Z', completedAt: null },
  })

  const lines = stripVTControlCharacters(renderRuns([run('a', true), run('b', false)], null, 120)).split('\n')

  expect(lines).toEqual([
    'Status          Workflow  Id  Run  Started (UTC)        Took',
    'running, stuck  order     a   r    2026-11-21 02:55:53',
    'running         order     b   r    2026-11-21 02:55:53',
  ])
})

test('portico catalog: shows the activities of a catalog below its workflows, or alone', () => {
  const charge = { name: 'charge', description: 'Charges a card.' }
  const linesOf = (lists: object) =>
    stripVTControlCharacters(renderCatalog({ catalog: 'orders', ...lists }, 120)).split('\n')
  const alone = ['Activity  Description', 'charge    Charges a card.']

  expect(linesOf({ workflows: [], activities: [charge] })).toEqual(['Catalog  orders', '', ...alone])
  expect(linesOf({ workflows: [{ name: 'order' }], activities: [charge] }).slice(-4)).toEqual(['order', '', ...alone])
  expect(linesOf({ workflows: [{ name: 'order' }] })).toHaveLength(4)
  expect(linesOf({ workflows: [], activities: [] })).toEqual(['The catalog orders has no workflows.'])
})
