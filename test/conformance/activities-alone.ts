/** What standalone activities do, on each runtime and over each transport. */
import { describe, expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { Api } from '../support/api.ts'

interface Fixtures {
  api: Api
  catalog: string
}

/** A `test` of vitest with these fixtures. */
export type ActivityTest = (name: string, act: (fixtures: Fixtures) => Promise<void>) => void

type Key = Record<string, string>

export function activityCalls({ call }: Pick<Api, 'call'>, id = `a-${crypto.randomUUID()}`) {
  const path = `/activity/${encodeURIComponent(id)}`
  return {
    id,
    start: (activityName: string, more: object = {}, headers?: Key) =>
      call('POST', '/activity/start', { activityName, activityId: id, input: null, ...more }, headers),
    run: (activityName: string, more: object = {}, headers?: Key, query = '') =>
      call('POST', `/activity/run${query}`, { activityName, activityId: id, input: null, ...more }, headers),
    get: (what: string, runId?: string) => call('GET', `${path}${runId ? `/runs/${runId}` : ''}/${what}`),
    post: (action: string, body?: object, headers?: Key) => call('POST', `${path}/${action}`, body, headers),
    stop: (body?: object) => call('PATCH', `${path}/stop`, body),
  }
}

const ONCE = { retry: { maximumAttempts: 1 } }

export function describeActivities(name: string, it: ActivityTest): void {
  describe(`standalone activities, ${name}`, () => {
    it('run returns the result, and result and status return it later', async ({ api, catalog }) => {
      const { id, run, get } = activityCalls(api)

      const { status, body } = await run('echoBack', { input: { n: 1 } })
      const read = await get('result')
      const pinned = await get('result', body.runId)
      const state = await get('status')

      expect([status, body]).toEqual([
        200,
        {
          activityId: id,
          runId: expect.any(String),
          status: 'completed',
          input: { n: 1 },
          output: { n: 1 },
          error: null,
          errorDetails: null,
        },
      ])
      expect([read.body, pinned.body]).toEqual([body, body])
      expect(state.body).toEqual({
        activityId: id,
        runId: body.runId,
        status: 'completed',
        activityName: 'echoBack',
        catalog,
        startedAt: expect.any(String),
        completedAt: expect.any(String),
        attempt: 1,
        nextAttemptAt: null,
        cancelRequested: false,
        lastFailure: null,
        progress: null,
        searchAttributes: {},
      })
      expect((await activityCalls(api).get('status')).body).toMatchObject({
        error: 'ActivityNotFoundError',
        status: 404,
      })
    })

    it('a failed activity is a result, without a stack or the names of other activities', async ({ api }) => {
      const failed = activityCalls(api)
      const missing = activityCalls(api)

      const { body } = await failed.run('rejects')
      const alone = await failed.get('result?body=output')
      await missing.start('no such activity')
      const lastFailure = await until('it has failed', async () => (await missing.get('status')).body.lastFailure)

      expect(body).toMatchObject({ status: 'failed', output: null, error: 'no retry please' })
      expect(body.errorDetails).toMatchObject({
        name: 'BadInput',
        retryable: false,
        activityId: failed.id,
        details: [{ field: 'name' }],
      })
      expect([alone.status, alone.body.error, alone.body.activityStatus]).toEqual([
        422,
        'ActivityFailedError',
        'failed',
      ])
      expect(lastFailure.message).toMatch(/no such activity/)
      expect(lastFailure.message).not.toMatch(/echoBack/)
      await missing.post('terminate')
    })

    it('a wait that is over is 424 with the path of the result, and respond-async is 202', async ({ api }) => {
      const { id, run, get, post } = activityCalls(api)

      const timedOut = await run('outside', { timeout: '300ms' })
      const accepted = await run('outside', { activityIdConflictPolicy: 'use-existing' }, { Prefer: 'respond-async' })
      const open = await get('result')
      const waiting = get('result?wait=30s&body=output')
      const completed = await post('complete', { output: { by: 'hand' } })
      const { status, body, headers } = await waiting

      expect([timedOut.status, timedOut.body.error, timedOut.headers.get('Location')]).toEqual([
        424,
        'ActivityExecutionTimedOutError',
        `/activity/${id}/result`,
      ])
      expect(timedOut.headers.get('Retry-After')).toBeNull()
      expect([accepted.status, accepted.headers.get('Location'), accepted.headers.get('Portico-Started')]).toEqual([
        202,
        `/activity/${id}/result`,
        'false',
      ])
      expect(accepted.body).toEqual({ activityId: id, runId: timedOut.body.runId, status: 'running' })
      expect([open.status, open.body.error, open.body.activityStatus]).toEqual([
        424,
        'ActivityNotCompletedError',
        'running',
      ])
      expect(completed.body).toEqual({ activityId: id, runId: timedOut.body.runId, completed: true })
      expect([status, body, headers.get('Portico-Activity-Id')]).toEqual([200, { by: 'hand' }, id])
    })

    it('reports need an attempt, are once for a key, and are 404 after the end', async ({ api }) => {
      const { id, start, get, post } = activityCalls(api)
      const key = { 'Idempotency-Key': 'report' }
      const delayed = activityCalls(api)
      await delayed.start('outside', { startDelay: '1h' })
      const early = await delayed.post('heartbeat')
      await delayed.post('terminate')
      await start('outside', { retry: { initialInterval: '10ms', maximumAttempts: 2 } })
      const beat = await until('it has begun', async () => {
        const answer = await post('heartbeat', { details: { percent: 40, token: 'x' } })
        return answer.status === 200 ? answer : null
      })
      const progress = (await get('status')).body.progress
      const message = 'wrong unit, supported types: cm'
      const failed = [await post('fail', { message }, key), await post('fail', { message }, key)]
      await until('its second attempt has begun', async () => (await post('heartbeat')).status === 200)
      const { attempt, lastFailure } = (await get('status')).body
      const completed = [await post('complete', { output: 1 }, key), await post('complete', { output: 1 }, key)]
      const after = [await post('complete', { output: 2 }), await post('fail', { message: 'late' })]

      expect([early.status, early.body.error]).toEqual([409, 'WorkflowNotReadyError'])
      expect(beat.body).toEqual({ activityId: id, runId: expect.any(String), cancelRequested: false })
      expect(progress).toEqual({ details: { percent: 40, token: '[redacted]' }, heartbeatAt: expect.any(String) })
      expect([failed.map(({ status }) => status), attempt, lastFailure.message]).toEqual([[200, 200], 2, message])
      expect(completed.map(({ status }) => status)).toEqual([200, 200])
      expect(after.map(({ status, body }) => [status, body.error, body.completed])).toEqual(
        Array(2).fill([404, 'ActivityNotFoundError', true]),
      )
      expect((await get('result')).body.output).toBe(1)
    })

    it('stop and terminate end a run, and say what was so already', async ({ api }) => {
      const [stopped, open, terminated] = [activityCalls(api), activityCalls(api), activityCalls(api)]
      await stopped.start('sleeps', { input: 60_000, startDelay: '1h' })
      await open.start('outside')
      await terminated.start('outside')
      await api.call('POST', '/workflow/start', { workflowName: 'neverEnds', workflowId: terminated.id, input: null })
      await until('it has begun', async () => (await open.post('heartbeat')).status === 200)

      const stops = [
        await stopped.stop({ reason: 'sold out' }),
        await stopped.stop(),
        await open.stop(),
        await open.stop(),
      ]
      const ends = [await terminated.post('terminate', { reason: 'wrong' }), await terminated.post('terminate')]
      const workflow = await api.call('POST', `/workflow/${terminated.id}/terminate`)
      const asked = await open.post('heartbeat')
      await open.post('terminate')

      expect(stops.map(({ status, body }) => [status, body.cancelRequested, body.status])).toEqual([
        [200, true, 'running'],
        [200, false, 'canceled'],
        [200, true, 'running'],
        [200, true, 'running'],
      ])
      expect(asked.body.cancelRequested).toBe(true)
      // An id of a workflow is another one.
      expect([workflow.status, workflow.body.workflowId]).toEqual([200, terminated.id])
      expect(ends.map(({ status, body }) => [status, body.error, body.terminated])).toEqual([
        [200, undefined, true],
        [409, 'ActivityNotRunningError', undefined],
      ])
      expect((await stopped.get('result')).body).toMatchObject({
        status: 'canceled',
        error: 'Activity canceled: sold out',
      })
      expect((await terminated.get('result')).body).toMatchObject({ status: 'terminated', error: 'wrong' })
    })

    it('a key starts one run, whatever the policies, and other requests with it are 422', async ({ api }) => {
      const { id, start, run, post } = activityCalls(api)
      const key = { 'Idempotency-Key': `k-${id}` }
      const other = { 'Idempotency-Key': `other-${id}` }

      const answers = await Promise.all([0, 1, 2].map(() => start('outside', {}, key)))
      const differs = await start('outside', { input: 2 }, key)
      const inUse = await start('outside', {}, other)
      await until('it has begun', async () => (await post('heartbeat')).status === 200)
      await post('complete', { output: 'done' })
      const again = await run('outside', {}, key)
      const differsLater = await start('outside', { input: 2 }, key)
      const generated = [
        await api.call('POST', '/activity/start', { activityName: 'outside', input: 1 }, key),
        await api.call('POST', '/activity/start', { activityName: 'outside', input: 1 }, key),
      ]

      expect(new Set(answers.map(({ status, body }) => `${status} ${body.runId}`)).size).toBe(1)
      expect(answers.map(({ headers }) => headers.get('Idempotency-Replayed')).toSorted()).toEqual([
        'false',
        'true',
        'true',
      ])
      expect([differs, differsLater].map(({ status, body }) => [status, body.error])).toEqual(
        Array(2).fill([422, 'IdempotencyKeyReusedError']),
      )
      expect([inUse.status, inUse.body.error, inUse.body.activityId]).toEqual([409, 'ActivityAlreadyStartedError', id])
      expect([again.body.output, again.headers.get('Idempotency-Replayed')]).toEqual(['done', 'true'])
      expect(generated[0]?.body.activityId).toMatch(/^key-[\da-f]{32}$/)
      expect(generated[1]?.body).toEqual(generated[0]?.body)
      await activityCalls(api, generated[0]?.body.activityId).post('terminate')
    })

    it('an id can be used again as its policies say', async ({ api }) => {
      const { id, start, run, get, post } = activityCalls(api)
      const policy = (activityIdReusePolicy: string) => ({ ...ONCE, activityIdReusePolicy })

      const first = await run('echoBack')
      const answers = [
        await start('rejects', policy('reject-duplicate')),
        await start('rejects', policy('allow-duplicate-failed-only')),
        await run('rejects', policy('allow-duplicate')),
        await run('echoBack', policy('allow-duplicate-failed-only')),
      ]

      await start('outside')
      const ofFirst = (method: string, action: string, body?: object) =>
        api.call(method, `/activity/${id}/runs/${first.body.runId}/${action}`, body)
      const late = [
        await ofFirst('PATCH', 'stop'),
        await ofFirst('POST', 'terminate'),
        await ofFirst('POST', 'complete', { output: 'late' }),
      ]
      const latest = await get('status')
      await post('terminate')

      expect(answers.map(({ status }) => status)).toEqual([409, 409, 200, 200])
      expect(answers[0]?.body.runId).toBe(first.body.runId)
      expect(late.map(({ status, body }) => [status, body.runId])).toEqual(
        [200, 409, 404].map((status) => [status, first.body.runId]),
      )
      expect([latest.body.status, latest.body.cancelRequested]).toEqual(['running', false])
    })

    it('what cannot be started is rejected before it is sent, or by the engine with its pointer', async ({ api }) => {
      const { start } = activityCalls(api)
      const answers = [
        await start('echoBack', { catalog: `none-${crypto.randomUUID()}` }),
        await start('toString'),
        await start('echoBack', { activityId: '$traces:x' }),
        await start('portico.archive-traces', { catalog: '$traces:x' }),
        await start('echoBack', { searchAttributes: { Unknown: 'x' } }),
        await start('echoBack', { memo: {} }),
        await start('echoBack', { summary: 'x'.repeat(1000) }),
      ]

      expect(answers.map(({ status, body }) => [status, body.error, body.issues?.[0].path])).toEqual([
        [503, 'CatalogNotAvailableError', undefined],
        [424, 'UnsupportedActivityError', undefined],
        [400, 'ValidationError', '/activityId'],
        [400, 'ValidationError', '/catalog'],
        [400, 'ValidationError', '/searchAttributes/Unknown'],
        [400, 'ValidationError', '/memo'],
        [400, 'ValidationError', '/summary'],
      ])
    })

    it('lists show activities by name and status, page by page', async ({ api, catalog }) => {
      const [one, two] = [activityCalls(api), activityCalls(api)]
      await one.run('succeedsLater', { retry: { initialInterval: '10ms' } })
      await two.run('succeedsLater', { retry: { initialInterval: '10ms' } })
      const query = `/activity/runs?activityName=succeedsLater&status=completed&catalog=${catalog}&pageSize=1`
      const first = await until('both are listed', async () => {
        const { body } = await api.call(
          'GET',
          `${query}&query=${encodeURIComponent(`ActivityId IN ('${one.id}', '${two.id}')`)}`,
        )
        return body.nextPageToken === null ? null : body
      })
      const listed = first.activities[0]

      expect([one.id, two.id]).toContain(listed.activityId)
      expect(listed).toEqual({
        activityId: listed.activityId,
        runId: expect.any(String),
        activityName: 'succeedsLater',
        catalog,
        status: 'completed',
        startedAt: expect.any(String),
        completedAt: expect.any(String),
      })
      const other = await api.call('GET', `${query}&pageToken=${encodeURIComponent(first.nextPageToken)}`)
      expect([other.status, other.body.error]).toEqual([400, 'InvalidPageTokenError'])
      expect((await api.call('GET', `/activity/runs?query=Nope%3D1`)).body.issues[0].path).toBe('/query')
    })
  })
}
