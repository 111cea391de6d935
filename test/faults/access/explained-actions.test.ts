import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Api } from '../../support/api.ts'
import { testWithCallers, tokenRule } from './callers.ts'

const test = testWithCallers([
  tokenRule('reader', { can: ['read'] }),
  tokenRule('pauser', { can: ['read', 'pause'] }),
  // Each of two rules allows one half of it.
  tokenRule('split', { can: ['read'] }),
  { ...tokenRule('split', { can: ['pause'], workflows: ['echo'] }), name: 'split-pause' },
  tokenRule('parents', { can: ['read'], workflows: ['parent'] }),
])

async function actionFor(api: Api, workflowId: string, kind: string) {
  const { body } = await api.get(`${workflowId}/explain`)
  const reasons: { kind: string; action: { path: string } | null }[] = body.reasons
  return reasons.find((reason) => reason.kind === kind)?.action
}

test('explain: has the action of a paused run only for callers that may unpause it, with access tokens too (threat 105)', async ({
  callers: { as, operator },
}) => {
  const { workflowId, runId } = (await operator.start('neverEnds')).body
  await operator.get(`${workflowId}/explain`)
  await operator.post(`${workflowId}/pause`)
  const tokenFor = async (can: string[]) => (await operator.call('POST', '/tokens', { can })).body.token
  const narrowed = as('', await tokenFor(['read']))
  const whole = as('', await tokenFor(['read', 'pause']))

  const callers = [operator, as('pauser'), whole, as('reader'), as('split'), narrowed]
  const actions = await Promise.all(callers.map((api) => actionFor(api, workflowId, 'paused')))
  await operator.post(`${workflowId}/terminate`)

  const action = { method: 'POST', path: `/workflow/${workflowId}/runs/${runId}/unpause`, body: null }
  expect(actions).toEqual([action, action, action, null, null, null])
})

test('explain: has the action of a child only for callers that may read the child (threat 16)', async ({
  callers: { as, operator, service },
  client,
}) => {
  const workflowId = crypto.randomUUID()
  const input = { child: 'sleepFor', input: { ms: 3_600_000 }, workflowId: `${workflowId}-child` }
  await client.workflow.start('parent', { workflowId, taskQueue: service.catalog, args: [input] })
  const path = await until(
    'the child has started',
    async () => (await actionFor(operator, workflowId, 'waiting_child'))?.path,
  )

  const actions = await Promise.all(
    [as('reader'), as('parents')].map((api) => actionFor(api, workflowId, 'waiting_child')),
  )
  const { status } = await as('reader').call('GET', path)
  await operator.post(`${workflowId}/terminate`)

  expect([actions, status]).toEqual([[expect.objectContaining({ path }), null], 200])
})
