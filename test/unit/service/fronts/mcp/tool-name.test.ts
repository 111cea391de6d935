import { expect, test } from 'vitest'
import { toolNameOf } from '../../../../../src/service/fronts/mcp/tool-name.ts'

test.for<[workflowName: string, toolName: string]>([
  ['greet', 'greet'],
  ['order-item_2', 'order-item_2'],
  ['a b', 'a_b_c8687a08'],
  ['a.b', 'a_b_2e7336dc'],
  ['日本語', 'w_77710aed'],
  ['workflow_result', 'workflow_result_b3468599'],
])('toolNameOf: the tool of %s is %s', async ([workflowName, toolName]) => {
  expect(await toolNameOf(workflowName)).toBe(toolName)
})

test('toolNameOf: a name that looks like one with a hash gets a hash, so that the two kinds never meet', async () => {
  const hashed = await toolNameOf('a b')

  expect(await toolNameOf(hashed)).toMatch(/^a_b_c8687a08_[0-9a-f]{8}$/)
})

test('toolNameOf: hosts accept the name of any workflow', async () => {
  const names = [
    'x'.repeat(1000),
    'Ünïcødé',
    '__proto__',
    '-a',
    '0',
    ' ',
    '\ud800',
    'a'.repeat(49),
    `${'a_'.repeat(30)}`,
  ]
  const tools = await Promise.all(names.map(toolNameOf))

  expect(tools.filter((name) => !/^[A-Za-z][A-Za-z0-9_-]{0,47}$/.test(name))).toEqual([])
  expect(new Set(tools).size).toBe(names.length)
})
