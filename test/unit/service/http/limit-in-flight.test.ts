import { afterEach, expect, test, vi } from 'vitest'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import type { Workflows } from '../../../../src/service/verbs.ts'
import { makeApi, NO_METRICS, running as runningWorkflow } from './api.ts'
import { result } from './run-api.ts'

const RUN = { workflowName: 'greet', input: null }
const OVERLOADED = [503, 'OverloadedError', 'gateway', '1']

afterEach(() => void vi.useRealTimers())

/** The response to a request that is rejected because it waits for a place for as long as it may. */
async function rejectedInTime<T>(response: Promise<T>): Promise<T> {
  await vi.advanceTimersByTimeAsync(3000)
  return response
}

/** A service that handles `maxInFlight` requests at a time, and whose `status` answers when it is released. */
function limited(maxInFlight: number, workflows: Partial<Workflows> = {}, bodyTimeoutMs = 50) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let described = 0
  const changes: number[] = []
  let queued = 0
  const metrics = {
    ...NO_METRICS,
    inFlightChanged: (by: number) => void changes.push(by),
    queuedChanged(by: number) {
      queued += by
    },
  }
  const api = makeApi({
    metrics,
    maxInFlight,
    bodyTimeoutMs,
    workflows: {
      status: async () => {
        described++
        await released
        return runningWorkflow
      },
      signal: async () => ({ workflowId: 'w', runId: 'r', warnings: [] }),
      ...workflows,
    },
  })
  return {
    ...api,
    release,
    queued: () => queued,
    described: () => described,
    /** What was added to the number of requests in flight so far. */
    changes,
    status: () => api.call('GET', '/workflow/w/status'),
    /** Status and facts of a request that needs a free place. */
    async tryOne() {
      const response = await api.call('POST', '/workflow/w/signal/s')
      const { error, source } = await response.json()
      return error === undefined
        ? [response.status]
        : [response.status, error, source, response.headers.get('Retry-After')]
    },
  }
}

test('limit in flight: rejects one request more than the limit after 3 s, before it reads the body or calls a verb (threat 53)', async () => {
  const { status, release, fetch, described, queued } = limited(2)
  const held = [status(), status()]
  await expect.poll(described).toBe(2)
  vi.useFakeTimers()
  const request = new Request('http://portico.test/workflow/run', { method: 'POST', body: JSON.stringify(RUN) })

  const waiting = fetch(request)
  await vi.advanceTimersByTimeAsync(2900)
  const before = queued()
  const response = await rejectedInTime(waiting)
  const { error, source } = await response.json()
  release()

  expect([response.status, error, source, response.headers.get('Retry-After')]).toEqual(OVERLOADED)
  expect(request.bodyUsed).toBe(false)
  expect([before, queued()]).toEqual([1, 0])
  expect((await Promise.all(held)).map((answer) => answer.status)).toEqual([200, 200])
})

test('limit in flight: a place that a request has waited for is kept for its body for 100 ms only', async () => {
  const api = limited(1, {}, 60_000)
  const { status, release, described, queued, changes, tryOne } = api
  const held = status()
  await expect.poll(described).toBe(1)
  const { promise: arriving, resolve: arrive } = Promise.withResolvers<void>()
  const slow = body(async (controller) => {
    await arriving
    controller.enqueue(new TextEncoder().encode('{}'))
    controller.close()
  }, '/workflow/w/signal/s')(api)
  await expect.poll(queued).toBe(1)

  const next = tryOne()
  release()
  const meanwhile = await next
  arrive()

  expect([meanwhile, (await slow).status, queued(), sum(changes)]).toEqual([[200], 200, 0, 0])
  await held
})

test('limit in flight: at shutdown those that wait are rejected, and none waits any more', async () => {
  const { status, release, fetch, described, loadShedder } = limited(1)
  const held = status()
  await expect.poll(described).toBe(1)
  const waiting = [fetch(signalRequest()), fetch(keyedRequest())]
  await expect.poll(loadShedder.waiting).toBe(2)

  loadShedder.close()
  const statuses = (await Promise.all([...waiting, fetch(signalRequest())])).map((response) => response.status)
  release()

  expect(statuses).toEqual([503, 503, 503])
  expect((await held).status).toBe(200)
})

test('limit in flight: at most 32 requests wait for each place (threat 53)', async () => {
  const { status, release, fetch, described, queued } = limited(1)
  const held = status()
  await expect.poll(described).toBe(1)
  const waiting = Array.from({ length: 32 }, () => fetch(signalRequest()))
  await expect.poll(queued).toBe(32)

  const beyond = await fetch(signalRequest())
  release()

  expect(beyond.status).toBe(503)
  expect(new Set((await Promise.all(waiting)).map((response) => response.status))).toEqual(new Set([200]))
  await held
})

test('limit in flight: a request whose body is still on its way takes no place, and gets one only when it has arrived (threat 46)', async () => {
  const api = limited(1)
  const { status, release, described, tryOne } = api
  const { promise: arriving, resolve: arrive } = Promise.withResolvers<void>()
  const slow = body(async (controller) => {
    await arriving
    controller.enqueue(new TextEncoder().encode(JSON.stringify(RUN)))
    controller.close()
  })(api)

  const meanwhile = await tryOne()
  const held = status()
  await expect.poll(described).toBe(1)
  vi.useFakeTimers()
  arrive()
  const response = await rejectedInTime(slow)
  release()
  await held

  expect(meanwhile).toEqual([200])
  expect([response.status, (await response.json()).error]).toEqual([503, 'OverloadedError'])
})

test.for([
  ['a result', () => call(['GET', '/workflow/w/result'])],
  ['an expected error', () => call(['POST', '/workflow/w/query/q'])],
  ['a bug', () => call(['POST', '/workflow/w/update/u'])],
] as const)('limit in flight: the place is free again after %s', async ([, act]) => {
  const api = limited(1, {
    result: async () => result,
    query: () => Promise.reject(new ServiceError('QueryFailedError', 'no')),
    update: () => Promise.reject(new Error('a bug')),
  })

  await act()(api)

  expect(await api.tryOne()).toEqual([200])
})

test.for([
  ['with an invalid id', () => call(['GET', '/workflow/%00/status']), 400],
  ['with invalid JSON', () => call(['POST', '/workflow/run', '{']), 400],
  ['whose body takes too long', () => body(() => new Promise(() => {})), 408],
  ['whose client disconnects while it sends the body', () => body((sent) => sent.error(new Error('reset'))), 400],
] as const)('limit in flight: a request %s never takes a place', async ([, act, status]) => {
  const api = limited(1)

  const response = await act()(api)

  expect([response.status, api.changes]).toEqual([status, []])
  expect([await api.tryOne(), api.changes]).toEqual([[200], [1, -1]])
})

type LimitedApi = ReturnType<typeof limited>

function call([method, path, text]: [method: string, path: string, body?: string]) {
  return (api: LimitedApi): Promise<Response> => api.call(method, path, text)
}

const sum = (changes: number[]) => changes.reduce((total, change) => total + change, 0)

function signalRequest(init: RequestInit = {}): Request {
  const headers = { 'Content-Type': 'application/json', Host: 'portico.test', ...init.headers }
  return new Request('http://portico.test/workflow/w/signal/s', { method: 'POST', body: '{}', ...init, headers })
}

/** The app itself lets it wait. */
function keyedRequest(signal?: AbortSignal): Request {
  return signalRequest({ headers: { 'Idempotency-Key': 'k' }, ...(signal && { signal }) })
}

/** A body that never ends by itself. */
function body(pull: (controller: ReadableStreamDefaultController) => unknown, path = '/workflow/run') {
  return (api: LimitedApi): Promise<Response> =>
    api.fetch(
      new Request(`http://portico.test${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: new ReadableStream({ pull: async (controller) => void (await pull(controller)) }),
        duplex: 'half',
      } as RequestInit),
    )
}
