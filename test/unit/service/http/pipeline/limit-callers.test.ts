import { expect, test } from 'vitest'
import { createCallerLimiter } from '../../../../../src/service/http/pipeline/limit-callers.ts'
import type { CallerLimits } from '../../../../../src/shared/access/caller.ts'
import { unlessAborted } from '../../../../../src/shared/lib/abort.ts'
import { makeApi, running } from '../api.ts'
import { bearer, tokenPolicy } from '../policies.ts'
import { result } from '../run-api.ts'

/** A limiter and its clock. `admit` returns null for a request that is over a limit. */
function makeLimiter({ countsOpenRequests = true } = {}) {
  const clock = { now: 1000 }
  const limited: string[] = []
  const { admit } = createCallerLimiter({
    now: () => clock.now,
    countsOpenRequests,
    metrics: { callerLimited: (rule) => void limited.push(rule) },
  })
  return {
    clock,
    limited,
    admit(limits: CallerLimits, takes: 'work' | 'wait' | 'nothing' = 'work', caller = 'token:ci') {
      try {
        return { ...admit(caller, { ...limits, rule: 'ci' }, takes), retryAfter: null }
      } catch (error) {
        return {
          endWork() {},
          countWaits() {},
          end() {},
          retryAfter: Reflect.get(Object(error), 'details').retryAfterSeconds,
        }
      }
    },
  }
}

test('limits: perSecond and burst are a token bucket, and Retry-After is when the next request may come', () => {
  const { admit, clock } = makeLimiter()
  const limits = { perSecond: 0.5, burst: 2 }
  const results = () => [1, 2, 3].map(() => admit(limits).retryAfter)

  const first = results()
  clock.now += 1000
  const early = admit(limits).retryAfter
  clock.now += 1000
  const later = results()
  clock.now += 3_600_000

  expect([first, early, later, results()]).toEqual([[null, null, 2], 1, [null, 2, 2], [null, null, 2]])
})

test('limits: without burst as many requests may come at once as in a second, at least one', () => {
  const { admit } = makeLimiter()
  const accepted = (perSecond: number) =>
    Array.from({ length: 10 }, () => admit({ perSecond }, 'work', `token:${perSecond}`)).filter(
      ({ retryAfter }) => retryAfter === null,
    ).length

  expect([accepted(3), accepted(0.1)]).toEqual([3, 1])
})

test('limits: callers do not notice each other (threat 29)', () => {
  const { admit } = makeLimiter()

  const results = ['a', 'a', 'b', 'b'].map((caller) => admit({ perSecond: 1 }, 'work', caller).retryAfter)

  expect(results).toEqual([null, 1, null, 1])
})

test('limits: a request that is rejected uses nothing up', () => {
  const { admit } = makeLimiter()
  const limits = { inFlight: 1, perSecond: 1, burst: 2 }

  const first = admit(limits)
  const second = admit(limits)
  first.end()
  const third = admit(limits)

  expect([first.retryAfter, second.retryAfter, third.retryAfter]).toEqual([null, 1, null])
})

test('limits: what ends twice is given back once', () => {
  const { admit } = makeLimiter()
  const limits = { inFlight: 1, waits: 1 }
  const first = admit(limits, 'wait')

  first.endWork()
  first.endWork()
  first.end()
  first.end()
  const results = [admit(limits, 'wait'), admit(limits, 'wait'), admit(limits)].map(({ retryAfter }) => retryAfter)

  expect(results).toEqual([null, 1, 1])
})

test('limits: a request can count as several waits, and gives all of them back (threat 29)', () => {
  const { admit } = makeLimiter()
  const limits = { waits: 5 }
  const wait = () => admit(limits, 'wait').retryAfter
  const first = admit(limits, 'wait')
  const second = admit(limits, 'wait')

  first.countWaits(4)
  const full = wait()
  expect(() => second.countWaits(2)).toThrow('Too many requests of this caller are waiting')
  first.end()
  second.countWaits(5)
  const again = wait()
  second.end()
  second.countWaits(5)

  expect([full, again, wait()]).toEqual([1, 1, null])
})

test('limits: the metric counts by the name of the rule', () => {
  const { admit, limited } = makeLimiter()

  for (let request = 0; request < 3; request++) admit({ perSecond: 1 })

  expect(limited).toEqual(['ci', 'ci'])
})

test('limits: where the end of a request can go unnoticed, only the rate is limited', () => {
  const { admit } = makeLimiter({ countsOpenRequests: false })

  const results = [1, 2, 3].map(() => admit({ inFlight: 1, waits: 1, perSecond: 2 }, 'wait').retryAfter)

  expect(results).toEqual([null, null, 1])
})

test('limits: beyond 10 000 callers the one that is idle for longest is forgotten, never one with open requests (threat 29)', () => {
  const { admit } = makeLimiter()
  const limits = { inFlight: 1, perSecond: 1 }
  const open = admit(limits, 'work', 'open')
  admit(limits, 'work', 'idle').end()

  for (let caller = 0; caller < 10_000; caller++) admit(limits, 'work', `token:${caller}`).end()

  expect(admit({ perSecond: 1 }, 'work', 'idle').retryAfter).toBe(null)
  expect(admit({ inFlight: 1 }, 'work', 'open').retryAfter).toBe(1)
  open.end()
  expect(admit({ inFlight: 1 }, 'work', 'open').retryAfter).toBe(null)
})

/** The app with a caller that may have this much. Waits end when `release` is called. */
function limitedApi(limits: CallerLimits) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const started = { waits: 0 }
  const api = makeApi({
    auth: {
      tokens: ['s3cret'],
      policy: tokenPolicy({ name: 'ci', can: ['*'], limits }, { name: 'other', can: ['*'], limits }),
    },
    readMetrics: () => 'up 1\n',
    workflows: {
      status: async () => running,
      async result({ ref: { workflowId }, onFound }, call) {
        const run = { workflowId, runId: '00000000-0000-4000-8000-000000000000' }
        started.waits++
        onFound?.(run)
        call.startWaiting()
        await unlessAborted(released, call.signal)
        return { ...result, ...run }
      },
      async updateWithStart() {
        started.waits++
        await released
        return { workflowId: 'w', runId: 'r', started: true, result: 1 }
      },
    },
  })
  const call = (path: string, token = 'ci', method = 'GET', body?: object) =>
    api.call(method, path, body, bearer(token)).then(({ status }) => status)
  return { ...api, call, started, release }
}

const RESULT = '/workflow/w/result?wait=60'
const UPDATE_WITH_START = '/workflow/update-with-start/u'

test('limits: a request that waits is not in flight, and counts as a wait until its response (threat 29)', async () => {
  const { call, started, release } = limitedApi({ inFlight: 1, waits: 2 })
  const waits = [call(RESULT)]
  await expect.poll(() => started.waits).toBe(1)
  waits.push(call(RESULT))
  await expect.poll(() => started.waits).toBe(2)

  const third = await call(RESULT)
  const [status, others, operator] = [await call('/workflow/w/status'), call(RESULT, 'other'), call(RESULT, 's3cret')]
  release()
  const ended = await Promise.all([...waits, others, operator])

  expect([third, status, ended]).toEqual([429, 200, [200, 200, 200, 200]])
  expect(await call(RESULT)).toBe(200)
})

test('limits: a request that fails gives back what it holds', async () => {
  const { call } = limitedApi({ inFlight: 1, waits: 1 })
  const paths = ['/workflow/%zz/status', '/workflow/w/result?wait=never', '/workflow/w/explain', '/nope']

  const statuses = []
  for (const path of [...paths, ...paths]) statuses.push(await call(path))

  expect(statuses).toEqual([400, 400, 500, 404, 400, 400, 500, 404])
})

test('limits: requests without a route and OPTIONS with a credential count (threat 29)', async () => {
  const requests = [
    ['GET', '/nope'],
    ['DELETE', '/workflow/run'],
    ['OPTIONS', '/workflow/run'],
  ]

  const statuses = await Promise.all(
    requests.map(async ([method, path = '']) => {
      const { call } = limitedApi({ perSecond: 0.001, burst: 2 })
      return [await call(path, 'ci', method), await call(path, 'ci', method), await call(path, 'ci', method)]
    }),
  )
  const preflights = limitedApi({ perSecond: 0.001, burst: 1 })
  const plain = () => preflights.fetch(new Request('http://portico.test/workflow/run', { method: 'OPTIONS' }))

  expect(statuses).toEqual([
    [404, 404, 429],
    [405, 405, 429],
    [204, 204, 429],
  ])
  expect([(await plain()).status, (await plain()).status]).toEqual([204, 204])
})

test('limits: an update that starts its workflow is a wait (threat 29)', async () => {
  const { call, started, release } = limitedApi({ waits: 1 })
  const update = () => call(UPDATE_WITH_START, 'ci', 'POST', { workflowName: 'order', input: null, payload: 1 })

  const first = update()
  await expect.poll(() => started.waits).toBe(1)

  expect([await update(), await call(RESULT)]).toEqual([429, 429])
  release()
  expect(await first).toBe(200)
})

test('limits: a client that leaves gives back what it holds, also of an event stream', async () => {
  const { fetch, call, started, release } = limitedApi({ waits: 1 })
  const leaving = new AbortController()
  const headers = { ...bearer('ci'), Accept: 'text/event-stream' }

  const response = await fetch(new Request(`http://portico.test${RESULT}`, { headers, signal: leaving.signal }))
  await expect.poll(() => started.waits).toBe(1)
  const during = await call(RESULT)
  await response.body?.cancel()
  leaving.abort()

  expect([response.status, during]).toEqual([200, 429])
  release()
  await expect.poll(() => call(RESULT)).toBe(200)
})

test('limits: public routes do not count, and a scrape counts as a request', async () => {
  const { call } = limitedApi({ perSecond: 0.001, inFlight: 1 })

  const statuses = []
  for (const path of ['/health', '/health', '/metrics', '/metrics']) statuses.push(await call(path))

  expect(statuses).toEqual([200, 200, 200, 429])
})

test('limits: requests that no rule allows count, too (threat 29)', async () => {
  const api = makeApi({ auth: { policy: tokenPolicy({ name: 'ci', can: ['start'], limits: { perSecond: 0.001 } }) } })
  const get = (path: string) => api.call('GET', path, undefined, bearer('ci')).then(({ status }) => status)

  expect([await get('/workflow/w/status'), await get('/workflow/w/status')]).toEqual([403, 429])
})
