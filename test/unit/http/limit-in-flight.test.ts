import { afterEach, expect, test, vi } from 'vitest'
import type { Call } from '../../../src/domain/model/call.ts'
import { ServiceError } from '../../../src/domain/model/errors.ts'
import type { Workflows } from '../../../src/domain/model/workflows.ts'
import { makeApi, running as runningWorkflow } from './api.ts'
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
    requestStarted() {},
    requestEnded() {},
    inFlightChanged: (by: number) => void changes.push(by),
    queuedChanged(by: number) {
      queued += by
    },
    callerDenied() {},
    callerLimited() {},
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

test('limit in flight: rejects one request more than the limit after 3 s, before it reads the body or calls a verb', async () => {
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

test('limit in flight: a request that finds no place gets the next one that is free, and only then is its body read', async () => {
  const { status, release, fetch, described, changes, queued } = limited(1)
  const held = status()
  await expect.poll(described).toBe(1)
  const bodies = Array.from({ length: 5 }, () => signalRequest())

  const waiting = bodies.map((request) => fetch(request))
  await expect.poll(queued).toBe(5)
  const read = bodies.map(({ bodyUsed }) => bodyUsed)
  release()
  const statuses = (await Promise.all(waiting)).map((response) => response.status)

  expect([read, statuses]).toEqual([Array(5).fill(false), Array(5).fill(200)])
  expect((await held).status).toBe(200)
  expect([queued(), sum(changes), Math.max(...running(changes))]).toEqual([0, 0, 1])
})

test('limit in flight: a request whose client leaves gives its turn up', async () => {
  const { status, release, fetch, described, changes, queued, tryOne } = limited(1)
  const held = status()
  await expect.poll(described).toBe(1)
  const leaving = new AbortController()
  const left = [signalRequest({ signal: leaving.signal }), keyedRequest(leaving.signal)].map((request) =>
    fetch(request),
  )
  await expect.poll(queued).toBe(2)

  leaving.abort()
  await Promise.all(left)
  const stillQueued = queued()
  release()
  await held

  expect([stillQueued, await tryOne(), sum(changes)]).toEqual([0, [200], 0])
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

test('limit in flight: at most 32 requests wait for each place', async () => {
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

test('limit in flight: a request whose body is still on its way takes no place, and gets one only when it has arrived', async () => {
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

test('limit in flight: health checks are answered meanwhile, and do not count', async () => {
  const { call, status, release, described } = limited(1, { ready: async () => 'reachable' })
  const held = status()
  await expect.poll(described).toBe(1)

  const answers = [await call('GET', '/health'), await call('GET', '/ready')]
  release()

  expect(answers.map((answer) => answer.status)).toEqual([200, 200])
  expect((await held).status).toBe(200)
})

test('limit in flight: a request without a valid token takes no place and gets no other answer', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let called = 0
  const { call } = makeApi({
    maxInFlight: 1,
    auth: { tokens: ['s3cret'] },
    workflows: {
      status: async () => {
        called++
        await released
        return runningWorkflow
      },
    },
  })
  const held = call('GET', '/workflow/w/status', undefined, { Authorization: 'Bearer s3cret' })
  await expect.poll(() => called).toBe(1)

  const answer = await call('GET', '/workflow/w/status')
  release()

  expect([answer.status, (await held).status]).toEqual([401, 200])
})

test('limit in flight: a request that only waits does not count, however often it says so', async () => {
  const calls: Call[] = []
  const { promise: ended, resolve: end } = Promise.withResolvers<typeof result>()
  const { call, status, release, described, tryOne } = limited(1, {
    run: (_command, runCall) => {
      runCall.startWaiting()
      calls.push(runCall)
      return ended
    },
  })
  const waiting = [call('POST', '/workflow/run', RUN)]
  await expect.poll(() => calls.length).toBe(1)
  waiting.push(call('POST', '/workflow/run', RUN))
  await expect.poll(() => calls.length).toBe(2)
  for (const { startWaiting } of calls) startWaiting()
  const free = await tryOne()
  end(result)
  await Promise.all(waiting)

  const held = status()
  await expect.poll(described).toBe(1)
  vi.useFakeTimers()
  const full = await rejectedInTime(tryOne())
  release()
  await held

  expect([free, full]).toEqual([[200], OVERLOADED])
})

test('limit in flight: an open event stream does not count', async () => {
  const { promise: ended, resolve: end } = Promise.withResolvers<typeof result>()
  const { call, tryOne } = limited(1, {
    run: ({ onStarted }) => {
      onStarted?.({ workflowId: 'w', runId: 'r' })
      return ended
    },
  })
  const stream = await call('POST', '/workflow/run', RUN, { Accept: 'text/event-stream' })

  const answer = await tryOne()
  end(result)

  expect(answer).toEqual([200])
  expect(await stream.text()).toContain('event: result')
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

test('limit in flight: a run of which a repeat finds the chain closed takes one place, and gives it back', async () => {
  const { call, changes } = limited(2, {
    start: async () => ({ workflowId: 'w', runId: 'r', repeatedStatus: 'completed' }),
    run: async () => result,
  })
  const headers = { Prefer: 'respond-async', 'Idempotency-Key': 'k' }

  const statuses: number[] = []
  for (let repeats = 0; repeats < 3; repeats++)
    statuses.push((await call('POST', '/workflow/run', RUN, headers)).status)

  expect(statuses).toEqual([200, 200, 200])
  expect(changes).toEqual([1, -1, 1, -1, 1, -1])
})

type LimitedApi = ReturnType<typeof limited>

function call([method, path, text]: [method: string, path: string, body?: string]) {
  return (api: LimitedApi): Promise<Response> => api.call(method, path, text)
}

const sum = (changes: number[]) => changes.reduce((total, change) => total + change, 0)
/** The number of requests in flight after each change. */
const running = (changes: number[]) => changes.map((_, at) => sum(changes.slice(0, at + 1)))

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
