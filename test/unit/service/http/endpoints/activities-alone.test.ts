import { expect, test } from 'vitest'
import type { Workflows } from '../../../../../src/service/verbs.ts'
import { makeApi } from '../api.ts'

type Start = Parameters<Workflows['startActivity']>[0]

const [MINUTE_MS, DAY_MS] = [60_000, 86_400_000]

test.for<[given: object, each: number, total: number]>([
  [{}, MINUTE_MS, DAY_MS],
  [{ startToCloseTimeout: '2h' }, 120 * MINUTE_MS, DAY_MS],
  [{ startToCloseTimeout: '48h' }, 2 * DAY_MS, 2 * DAY_MS],
  [{ scheduleToCloseTimeout: '5s' }, 5000, 5000],
  [{ scheduleToCloseTimeout: '2h' }, 120 * MINUTE_MS, 120 * MINUTE_MS],
])('a start with %j has these limits for each attempt and for all', async ([given, each, total]) => {
  const starts: Start[] = []
  const api = makeApi({
    workflows: {
      async startActivity(command) {
        starts.push(command)
        return { activityId: 'a', runId: 'r', status: 'running' }
      },
    },
  })

  await api.call('POST', '/activity/start', { activityName: 'charge', input: null, ...given })

  expect(starts[0]?.limits).toEqual({ startToCloseTimeoutMs: each, scheduleToCloseTimeoutMs: total })
  expect(starts[0]?.givenLimits).toEqual(Object.keys(given))
})

test.for(['/activity/start', '/activity/run'])('no %s reaches a queue of Portico itself', async (path) => {
  const body = { activityName: 'portico.deliver-webhook', input: {}, catalog: '$webhook:crm:orders' }
  const response = await makeApi().call('POST', path, body)
  const { issues } = (await response.json()) as { issues?: object[] }

  expect([response.status, issues]).toEqual([400, [expect.objectContaining({ path: '/catalog' })]])
})
