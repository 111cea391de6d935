import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { parseWebhooksConfig, subscribesTo } from '../../../../../src/worker/closed-runs/webhooks/subscriptions.ts'
import { test } from '../../../../support/fixtures.ts'

const all = { workflows: ['*'], on: ['completed', 'failed'] as const }

test.each([
  ['a run that ended so', all, { workflowName: 'order', status: 'completed' }, true],
  ['a run that ended otherwise', all, { workflowName: 'order', status: 'canceled' }, false],
  ['a run that continued as a new one', all, { workflowName: 'order', status: 'continued' }, false],
  ['a workflow of this name', { ...all, workflows: ['order'] }, { workflowName: 'order', status: 'failed' }, true],
  ['a longer name', { ...all, workflows: ['order'] }, { workflowName: 'orders', status: 'failed' }, false],
  ['a prefix', { ...all, workflows: ['x', 'order*'] }, { workflowName: 'orders', status: 'failed' }, true],
  ['a run of Portico', all, { workflowName: '$catalog', status: 'completed' }, false],
  ['a run of Temporal', all, { workflowName: '__temporal_x', status: 'completed' }, false],
  ['a scheduler', all, { workflowName: 'temporal-sys-scheduler-workflow', status: 'completed' }, false],
] as const)('subscribesTo: %s', (_what, endpoint, run, expected) => {
  expect(subscribesTo(endpoint, run)).toBe(expected)
})

test('parseWebhooksConfig: reads the file, and reports one that cannot be read', ({ folder }) => {
  const path = join(folder, 'webhooks.json')
  const env = { SERVICE_WEBHOOKS_FILE: path, SERVICE_WEBHOOK_A: `whsec_${btoa('x'.repeat(24))}` }
  expect(() => parseWebhooksConfig(env)).toThrow('SERVICE_WEBHOOKS_FILE names a file that cannot be read (ENOENT)')

  const a = { url: 'http://127.0.0.1:1/', secretEnv: ['SERVICE_WEBHOOK_A'] }
  writeFileSync(path, JSON.stringify({ version: 1, endpoints: { a } }))

  expect(parseWebhooksConfig(env)).toMatchObject([{ name: 'a' }])
})
