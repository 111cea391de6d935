/** The response to a request about a standalone activity is lost: nothing is done twice. */
import { describe, expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { keyedId } from '../../../src/service/model/keyed-id.ts'
import { activityCalls } from '../../conformance/activities-alone.ts'
import type { Answer } from '../../support/api.ts'
import { test } from '../../support/fixtures.ts'
import { nothing, sendOverFaultProxy } from './fixture.ts'

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
      const [plain, existing, reused] = [activityCalls(api), activityCalls(api), activityCalls(api)]
      const useExisting = { activityIdConflictPolicy: 'use-existing' }

      const started = await faulted([START, fault], plain.id, () => plain.start('outside'))
      const found = await faulted([START, fault], existing.id, () => existing.start('outside', useExisting))
      await reused.run('echoBack')
      const again = () => reused.start('outside', {}, { 'Idempotency-Key': reused.id })
      const { answer } = await faulted([START, fault], reused.id, again, { times: 3 })

      expect([started.answer.status, started.attempts, found.answer.status]).toEqual([200, 1, 200])
      expect(found.answer.headers.get('Portico-Started')).toBe('true')
      expect([answer.status, answer.headers.get('Idempotency-Replayed')]).toEqual([200, 'false'])
      await expect.poll(() => Promise.all([plain.id, existing.id, reused.id].map(runsOf))).toEqual([1, 1, 2])
      await reused.post('terminate')
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

  /** The engine does not say which run has one of the ids, until the returned function is called. */
  function hideRuns(...ids: string[]) {
    const fault = { dropped: nothing }
    const rules = ids.map((containing) => proxy.on({ method: 'DescribeActivityExecution', containing, fault }))
    return () => {
      for (const takeBack of rules) takeBack()
    }
  }

  test('a start without any response is 424; with a key of a generated id 503, and repeated it finds the run', async () => {
    const { id, start, post } = activityCalls(api)
    const key = `lost-${id}`
    const generated = await keyedId(key)
    const keyed = () =>
      api.call('POST', '/activity/start', { activityName: 'outside', input: 1 }, { 'Idempotency-Key': key })
    const show = hideRuns(id, generated)
    const unkeyed = await faulted([START, 'lost'], id, () => start('outside'))

    const first = await faulted([START, 'lost'], generated, keyed)
    show()
    const again = await keyed()

    expect(facts(unkeyed.answer)).toEqual([424, 'OutcomeUnknownError', null])
    expect([unkeyed.answer.body.activityId, first.answer.body.activityId]).toEqual([id, generated])
    expect(facts(first.answer)).toEqual([503, 'EngineUnavailableError', '1'])
    expect([again.status, again.headers.get('Idempotency-Replayed')]).toEqual([200, 'true'])
    await expect.poll(() => runsOf(generated)).toBe(1)
    await post('terminate')
    await activityCalls(api, generated).post('terminate')
  })

  test('a repeated start is not sent again while nothing says which run has the id', async () => {
    const { id, start, post } = activityCalls(api)
    const key = { 'Idempotency-Key': id }
    const first = await start('outside', {}, key)
    await post('terminate')
    const show = hideRuns(id)

    const unknown = await start('outside', {}, key)
    show()
    const again = await start('outside', {}, key)

    expect(facts(unknown)).toEqual([503, 'EngineUnavailableError', '1'])
    expect([again.body.runId, again.body.status]).toEqual([first.body.runId, 'terminated'])
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
