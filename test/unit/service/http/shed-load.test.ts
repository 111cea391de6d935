import { afterEach, expect, test, vi } from 'vitest'
import { rawPath } from '../../../../src/service/http/path.ts'
import { createInFlightLimit, createLoadShedder, isHeld } from '../../../../src/service/http/pipeline/places.ts'
import { type ApiOptions, makeApi, NO_METRICS, never, running } from './api.ts'

const SIGNAL = '/workflow/w/signal/s'

afterEach(() => void vi.useRealTimers())

/** A service whose only place is taken until `release` is called. */
async function full(options: Pick<ApiOptions, 'auth' | 'corsOrigins' | 'mount' | 'maxBodyBytes'> = {}) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let calls = 0
  const api = makeApi({
    maxInFlight: 1,
    readMetrics: () => '',
    readDocsFile: async () => null,
    ...options,
    workflows: {
      ready: async () => 'reachable',
      status: async () => {
        calls++
        await released
        return running
      },
      signal: async () => {
        calls++
        return { workflowId: 'w', runId: 'r', warnings: [] }
      },
    },
  })
  const basePath = options.mount?.basePath ?? ''
  const held = api.call('GET', `${basePath}/workflow/w/status`, undefined, { Authorization: 'Bearer s3cret' })
  await expect.poll(() => calls).toBe(1)
  vi.useFakeTimers()
  return {
    ...api,
    api,
    /** With `Host`, as a server receives it, and rejected at the end of its wait for a place. */
    async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
      const response = api.call(method, path, body, { Host: 'portico.test', ...headers })
      await vi.advanceTimersByTimeAsync(3000)
      return response
    },
    async fetch(request: Request) {
      const response = api.fetch(request)
      await vi.advanceTimersByTimeAsync(3000)
      return response
    },
    calls: () => calls,
    async release() {
      release()
      await held
    },
  }
}

test('shed load: the response is the same as that of the app', async () => {
  const { fetch, call, release, calls, events } = await full()
  const headers = { 'Content-Type': 'application/json', 'X-Request-Id': 'mine' }

  const early = await call('POST', SIGNAL, {}, headers)
  // The app handles requests without Host itself.
  const byApp = await fetch(new Request(`http://portico.test${SIGNAL}`, { method: 'POST', headers, body: '{}' }))
  await release()

  const facts = [early.status, [...early.headers], await early.json()]
  expect(facts).toEqual([byApp.status, [...byApp.headers], await byApp.json()])
  const known = [early.status, early.headers.get('Retry-After'), early.headers.get('X-Request-Id')]
  expect(known).toEqual([503, '1', 'mine'])
  expect(calls()).toBe(1)
  expect(events.map(({ fields }) => fields.requestId)).toContain('mine')
})

test('shed load: a rejected start with an Idempotency-Key says that it is not a replay', async () => {
  const { call, release } = await full()

  const keyed = await call('POST', '/workflow/start', {}, { 'Idempotency-Key': 'k' })
  const unkeyed = await call('POST', '/workflow/start', {})
  await release()

  expect([keyed, unkeyed].map(({ status, headers }) => [status, headers.get('Idempotency-Replayed')])).toEqual([
    [503, 'false'],
    [503, null],
  ])
})

test('shed load: pages of allowed origins can read the response', async () => {
  const { call, release } = await full({ corsOrigins: ['https://app.example'] })

  const allowed = await call('GET', '/workflow/w/status', undefined, { Origin: 'https://app.example' })
  const other = await call('GET', '/workflow/w/status', undefined, { Origin: 'https://other.example' })
  await release()

  const cors = ({ status, headers }: Response) => [
    status,
    headers.get('Access-Control-Allow-Origin'),
    headers.get('Access-Control-Expose-Headers')?.includes('Retry-After'),
    headers.get('Vary'),
  ]
  expect([allowed, other].map(cors)).toEqual([
    [503, 'https://app.example', true, 'Origin'],
    [503, null, undefined, 'Origin'],
  ])
})

test.for([
  [200, 'GET', '/health', {}],
  [200, 'GET', '/ready', {}],
  [200, 'GET', '/metrics', { Authorization: 'Bearer s3cret' }],
  [404, 'GET', '/workflows', { Authorization: 'Bearer s3cret' }],
  [401, 'GET', '/workflow/w/status', {}],
  [403, 'PATCH', '/workflow/w/stop', { Authorization: 'Bearer s3cret', Origin: 'https://evil.example' }],
  [413, 'POST', SIGNAL, { Authorization: 'Bearer s3cret', 'Content-Length': '101' }],
  [400, 'GET', '/workflow/%E0%A4%A/status', { Authorization: 'Bearer s3cret' }],
  [400, 'POST', SIGNAL, { Authorization: 'Bearer s3cret', 'Idempotency-Key': 'a b' }],
  [501, 'POST', '/workflow/w/terminate', { Authorization: 'Bearer s3cret', 'Idempotency-Key': 'k' }],
  [204, 'OPTIONS', '/workflow/w/status', {}],
  [503, 'GET', '/capabilities', { Authorization: 'Bearer s3cret' }],
  [503, 'GET', '/docs', {}],
  [503, 'HEAD', '/workflow/w/status', { Authorization: 'Bearer s3cret' }],
  [503, 'POST', SIGNAL, { Authorization: 'Bearer s3cret', 'Idempotency-Key': 'k' }],
  [503, 'POST', SIGNAL, { Authorization: 'Bearer s3cret' }],
] as const)('shed load: %i for %s %s', async ([status, method, path, headers]) => {
  const { call, release } = await full({ auth: { tokens: ['s3cret'] }, maxBodyBytes: 100 })

  const response = await call(method, path, undefined, headers)
  await release()

  expect(response.status).toBe(status)
  expect(response.headers.get('Retry-After')).toBe(status === 503 ? '1' : null)
})

test('shed load: rejections do not get a log line each, but one per second that counts all of them (threat 53)', async () => {
  const { api, fetch, call, release, events } = await full()
  const logged = () => events.splice(0).map(({ level, message, fields }) => [level, message, fields])
  const warning = (rejected: number) => ['warn', expect.stringContaining('requests rejected'), { rejected }]

  async function rejectAtOnce(count: number): Promise<void> {
    const request = () => new Request('http://portico.test/workflow/w/status', { headers: { Host: 'portico.test' } })
    const held = Array.from({ length: count - 1 }, () => api.fetch(request()))
    await fetch(request())
    await Promise.all(held)
  }

  await rejectAtOnce(3)
  vi.advanceTimersByTime(999)
  const before = logged()
  vi.advanceTimersByTime(1)
  const first = logged()
  vi.advanceTimersByTime(5000)
  await rejectAtOnce(2)
  vi.advanceTimersByTime(1000)
  const second = logged()
  await release()
  const after = await call('POST', SIGNAL, {})

  expect([before, first, second]).toEqual([[], [warning(3)], [warning(2)]])
  expect(after.status).toBe(200)
})

test('shed load: the metrics count each rejection, without a route, and how long it has waited', async () => {
  vi.useFakeTimers()
  const counted: unknown[] = []
  const metrics = {
    ...NO_METRICS,
    requestStarted: (method: string) => void counted.push(method),
    requestEnded: (request: object) => void counted.push(request),
    queuedChanged: (by: number) => void counted.push(by),
  }
  const limit = createInFlightLimit(1, metrics)
  limit.take()
  const { hold } = createLoadShedder({
    limit,
    handle: never,
    observers: { log() {}, metrics },
    corsOrigins: [],
    checks: [],
    pathOf: rawPath,
    isWork: (path) => path === '/workflow/w/status',
  })

  const header = (name: string) => (name === 'Host' ? 'portico.test' : undefined)
  // Node has only the path, not the whole URL.
  const held = hold({ method: 'GET', url: '/workflow/w/status?from=http://a/b', header })
  await vi.advanceTimersByTimeAsync(3000)

  expect(held !== null && isHeld(held) && (await held.outcome)).toMatchObject({ status: 503 })
  expect(hold({ method: 'GET', url: '/other', header })).toBe(null)
  expect(counted).toEqual([1, -1, 'GET', { method: 'GET', route: null, status: 503, ms: 3000 }])
})

test('shed load: a client that leaves gives its turn up, and a place that it has already got', async () => {
  const changes: number[] = []
  const limit = createInFlightLimit(1, { ...NO_METRICS, inFlightChanged: (by) => void changes.push(by) })
  const first = limit.take()
  const { hold } = createLoadShedder({
    limit,
    handle: never,
    observers: { log() {} },
    corsOrigins: [],
    checks: [],
    pathOf: rawPath,
    isWork: () => true,
  })
  const head = { method: 'GET', url: '/', header: (name: string) => (name === 'Host' ? 'portico.test' : undefined) }
  const held = [hold(head), hold(head)].filter((one) => one !== null && isHeld(one))

  held[0]?.giveUp()
  first?.leave()
  held[1]?.giveUp()

  expect(await Promise.all(held.map(({ outcome }) => outcome))).toEqual([null, null])
  expect([limit.waiting(), limit.isReached(), changes]).toEqual([0, false, [1, -1, 1, -1]])
})
