/** The response to a request about a standalone activity is lost: nothing is done twice. */
import { describe, expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { activityCalls } from '../../conformance/activities-alone.ts'
import type { Answer } from '../../support/api.ts'
import { test } from '../../support/fixtures.ts'
import { sendOverFaultProxy } from './fixture.ts'

describe.for(['grpc', 'http'] as const)('lost answers about standalone activities over %s', (transport) => {
  const { proxy, api } = sendOverFaultProxy(transport)

  /** Sends a request whose first attempts meet a fault; `meanwhile` follows the first one. */
  async function faulted(
    [method, fault]: [method: string, fault: 'dropped' | 'lost'],
    id: string,
    send: () => Promise<Answer>,
    { times = 1, meanwhile = async () => {} }: { times?: number; meanwhile?: () => Promise<unknown> } = {},
  ) {
    let attempts = 0
    const count = async () => {
      if (attempts++ === 0) await meanwhile()
    }
    const rule = fault === 'lost' ? { lost: count } : { dropped: count }
    const takeBack = proxy.on({ method, containing: id, fault: rule, times })
    const answer = await send()
    takeBack()
    return { answer, attempts }
  }

  const facts = ({ status, body, headers }: Answer) => [status, body.error, headers.get('Retry-After')]
  const START = 'StartActivityExecution'
  const runsOf = async (id: string) => {
    const query = encodeURIComponent(`ActivityId = '${id}'`)
    return (await api.call('GET', `/activity/runs?query=${query}`)).body.activities.length
  }

  test('a start is found, or sent again, and started once, also when it may find an open run', async () => {
    for (const fault of ['lost', 'dropped'] as const) {
      const [plain, existing] = [activityCalls(api), activityCalls(api)]
      const useExisting = { activityIdConflictPolicy: 'use-existing' }

      const started = await faulted([START, fault], plain.id, () => plain.start('outside'))
      const found = await faulted([START, fault], existing.id, () => existing.start('outside', useExisting))

      expect([started.answer.status, started.attempts, found.answer.status]).toEqual([200, 1, 200])
      expect(found.answer.headers.get('Portico-Started')).toBe('true')
      await expect.poll(() => runsOf(plain.id)).toBe(1)
      await plain.post('terminate')
      await existing.post('terminate')
    }
  })

  test('a start is not sent again once another client has used the id: 424', async () => {
    const { id, start, run, post } = activityCalls(api)
    const meanwhile = async () => {
      await until('the first run is known', async () => (await post('terminate')).status === 200)
      await start('outside')
    }

    const { answer } = await faulted([START, 'lost'], id, () => run('outside'), { meanwhile })

    expect(facts(answer)).toEqual([424, 'OutcomeUnknownError', null])
    expect(answer.body.activityId).toBe(id)
    await post('terminate')
  })

  test('a start without any response is 424; with a key of a generated id 503, and the repeated one finds it', async () => {
    const { id, start, post } = activityCalls(api)
    const key = { 'Idempotency-Key': `lost-${id}` }
    const mark = `mark-${id}`
    const keyed = () => api.call('POST', '/activity/start', { activityName: 'outside', input: mark }, key)
    const noFind = proxy.on({
      method: 'DescribeActivityExecution',
      containing: id,
      fault: { dropped: async () => {} },
      times: 99,
    })
    const unkeyed = await faulted([START, 'lost'], id, () => start('outside'), { times: 9 })
    noFind()

    const first = await keyed()
    const again = await keyed()

    expect(facts(unkeyed.answer)).toEqual([424, 'OutcomeUnknownError', null])
    expect([first.body.runId, again.headers.get('Idempotency-Replayed')]).toEqual([again.body.runId, 'true'])
    await post('terminate')
    await activityCalls(api, first.body.activityId).post('terminate')
  })

  test('complete and fail are looked up, stop and terminate sent again', async () => {
    for (const fault of ['lost', 'dropped'] as const) {
      const done = activityCalls(api)
      const ended = activityCalls(api)
      await done.start('outside')
      await ended.start('sleeps', { input: 60_000, startDelay: '1h' })
      await until('it has begun', async () => (await done.post('heartbeat')).status === 200)

      const completed = await faulted(['RespondActivityTaskCompletedById', fault], done.id, () => done.post('complete'))
      const stopped = await faulted(['RequestCancelActivityExecution', fault], ended.id, () => ended.stop())

      expect(facts(completed.answer)).toEqual(
        fault === 'lost' ? [200, undefined, null] : [424, 'OutcomeUnknownError', null],
      )
      expect([stopped.answer.status, stopped.answer.body.cancelRequested]).toEqual([200, true])
      const open = activityCalls(api)
      await open.start('outside')
      const terminated = await faulted(['TerminateActivityExecution', fault], open.id, () => open.post('terminate'))
      expect([terminated.answer.status, terminated.answer.body.terminated]).toEqual([200, true])
    }
  })
})
