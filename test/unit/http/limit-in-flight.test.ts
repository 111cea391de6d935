import { expect, test } from 'vitest'
import type { Call } from '../../../src/domain/call.ts'
import { ServiceError } from '../../../src/domain/errors.ts'
import type { Workflows } from '../../../src/domain/workflows.ts'
import { makeApi, running } from './api.ts'
import { result } from './run-api.ts'

const RUN = { workflowName: 'greet', input: null }
const OVERLOADED = [503, 'OverloadedError', 'gateway', '1']

/** A service that handles `maxInFlight` requests at a time, and whose `status` answers when it is released. */
function limited(maxInFlight: number, workflows: Partial<Workflows> = {}) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let described = 0
  const changes: number[] = []
  const metrics = { requestStarted() {}, requestEnded() {}, inFlightChanged: (by: number) => void changes.push(by) }
  const api = makeApi({
    metrics,
    maxInFlight,
    bodyTimeoutMs: 50,
    workflows: {
      status: async () => {
        described++
        await released
        return running
      },
      signal: async () => ({ workflowId: 'w', runId: 'r', warnings: [] }),
      ...workflows,
    },
  })
  return {
    ...api,
    release,
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

test('limit in flight: rejects one request more than the limit, before it reads the body or calls a verb', async () => {
  const { status, release, fetch, described } = limited(2)
  const held = [status(), status()]
  await expect.poll(described).toBe(2)
  const request = new Request('http://portico.test/workflow/run', { method: 'POST', body: JSON.stringify(RUN) })

  const response = await fetch(request)
  const { error, source } = await response.json()
  release()

  expect([response.status, error, source, response.headers.get('Retry-After')]).toEqual(OVERLOADED)
  expect(request.bodyUsed).toBe(false)
  expect((await Promise.all(held)).map((answer) => answer.status)).toEqual([200, 200])
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
  arrive()
  const response = await slow
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
        return running
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
  const full = await tryOne()
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

/** A body that never ends by itself. */
function body(pull: (controller: ReadableStreamDefaultController) => unknown) {
  return (api: LimitedApi): Promise<Response> =>
    api.fetch(
      new Request('http://portico.test/workflow/run', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: new ReadableStream({ pull: async (controller) => void (await pull(controller)) }),
        duplex: 'half',
      } as RequestInit),
    )
}
