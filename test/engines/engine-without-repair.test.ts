/** An engine of an older version, which cannot repair activities. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { GrpcCode } from '../../src/shared/temporal/grpc-code.ts'
import { test } from '../support/fixtures.ts'

const METHODS = [
  'ResetActivityExecution',
  'PauseActivityExecution',
  'UnpauseActivityExecution',
  'UpdateActivityExecutionOptions',
]

test('an engine without repairs: capabilities say so, each repair is a 501, and explain names none', async ({
  faultProxy,
  serve,
  worker: _,
}) => {
  const fault = { code: GrpcCode.UNIMPLEMENTED, message: 'unknown method for service WorkflowService' }
  const heals = METHODS.map((method) => faultProxy.on({ method, containing: '', fault }))
  const [older, current] = [serve({ ENGINE_ADDRESS: faultProxy.address }), serve()]
  const { body: run } = await older.start('completesOutside', { retryInterval: '1h' })
  const activity = `${run.workflowId}/activities/approval`
  await until('the activity waits', async () => (await older.post(`${activity}/heartbeat`)).status === 200)
  await older.post(`${activity}/fail`, { message: 'the bank is closed' })

  const [reason, repairable] = await Promise.all(
    [older, current].map(async (api) => (await api.get(`${run.workflowId}/explain`)).body.reasons[0]),
  )
  const { body: capabilities } = await older.call('GET', '/capabilities')
  const answers = [
    await older.post(`${activity}/retry`),
    await older.post(`${activity}/pause`),
    await older.post(`${activity}/unpause`),
    await older.call('PATCH', `/workflow/${activity}`, { heartbeatTimeout: '2m' }),
  ]
  for (const heal of heals) heal()
  await older.post(`${run.workflowId}/terminate`)

  expect([reason.kind, reason.action]).toEqual(['activity_retrying', null])
  expect(repairable.action.path).toMatch(/\/activities\/approval\/retry$/)
  expect(capabilities.features.repair).toBe(false)
  expect(answers.map(({ status, body }) => [status, body.error])).toEqual(METHODS.map(() => [501, 'NotSupportedError']))
})
