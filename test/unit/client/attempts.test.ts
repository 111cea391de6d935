/** What an error says about the attempts of its call, and what a client hears of them meanwhile. */
import { expect, test, vi } from 'vitest'
import type { Retry } from '../../../src/client/index.ts'
import { clientOf, cut, hang, ok, problem, type Respond, resetBeforeEach, sent, settled } from './scripted-service.ts'

resetBeforeEach()

const RUN = { workflowId: 'x', runId: 'r' }
const UNAVAILABLE = problem(503, 'EngineUnavailableError', {}, { 'Retry-After': '1' })
const MAYBE_DONE = problem(503, 'EngineUnavailableError')
const OVERLOADED = problem(503, 'OverloadedError', {}, { 'Retry-After': '1' })
const rejected: Respond = () =>
  Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error('rejected'), { syscall: 'connect' }) }))
/** The `fetch` of a browser does not say what has happened. */
const silent: Respond = () => Promise.reject(new TypeError('Failed to fetch'))

async function rejection(call: Promise<unknown>) {
  const error = call.then(
    () => null,
    (reason) => reason,
  )
  await vi.advanceTimersByTimeAsync(120_000)
  sent.length = 0
  return error
}

test('a deadline: the error is that of the last attempt with a response', async () => {
  const start = await rejection(clientOf([UNAVAILABLE, OVERLOADED, hang]).start('order', { timeoutMs: 5000 }))
  const status = await rejection(clientOf([UNAVAILABLE, hang]).status('x', { timeoutMs: 5000 }))
  const none = await rejection(clientOf([hang]).status('x', { timeoutMs: 5000 }))

  expect(start).toMatchObject({
    error: 'OverloadedError',
    status: 503,
    message: 'a message; attempt 3 got no response; it may have been carried out',
    attempts: 3,
    mayHaveTakenEffect: true,
  })
  expect(status).toMatchObject({ error: 'EngineUnavailableError', attempts: 2 })
  expect(status.message).toBe('a message; attempt 2 got no response')
  expect(none).toMatchObject({ error: 'DeadlineExceededError', status: null, attempts: 1 })
  expect(none.message).toBe('GET /workflow/x/status: no response within 5000 ms')
})

test('a deadline: run and result say why there was no response, if the service did', async () => {
  const run = await rejection(clientOf([UNAVAILABLE, hang]).run('order', { timeoutMs: 5000 }))
  const result = await rejection(clientOf([UNAVAILABLE, hang]).result(RUN, { timeoutMs: 5000 }))
  const silence = await rejection(clientOf([hang]).run('order', { timeoutMs: 5000 }))

  expect(run).toMatchObject({ error: 'EngineUnavailableError', mayHaveTakenEffect: true, attempts: 2 })
  expect(result).toMatchObject({ error: 'EngineUnavailableError', workflowId: 'x', runId: 'r', attempts: 2 })
  expect(silence).toMatchObject({ error: 'WorkflowExecutionTimedOutError', status: null, mayHaveTakenEffect: true })
})

test('a deadline: an update says which run has not completed it', async () => {
  const unanswered = problem(504, 'DeadlineExceededError', { workflowId: 'x', runId: 'r', updateId: 'u' })

  const update = await rejection(clientOf([unanswered, hang]).update(RUN, 'set', { timeoutMs: 5000 }))

  expect(update).toMatchObject({ error: 'DeadlineExceededError', status: 504, runId: 'r', updateId: 'u' })
})

test('an error: says whether the request may have been carried out, unless it only reads', async () => {
  const said = async (call: Promise<unknown>) => {
    const { mayHaveTakenEffect, message } = await rejection(call)
    return [mayHaveTakenEffect ?? false, message]
  }
  const page: Respond = () => new Response('<h1>a page</h1>', { status: 502 })
  const options = { retryMs: 0 }

  expect([
    await said(clientOf([cut], options).signal(RUN, 'go')),
    await said(clientOf([page], options).terminate(RUN)),
    await said(clientOf([MAYBE_DONE], options).signal(RUN, 'go')),
    await said(clientOf([cut, OVERLOADED], { retryMs: 500 }).signal(RUN, 'go')),
    await said(clientOf([rejected], options).signal(RUN, 'go')),
    await said(clientOf([OVERLOADED], options).signal(RUN, 'go')),
    await said(clientOf([cut], options).query(RUN, 'state')),
    await said(clientOf([MAYBE_DONE], options).status(RUN)),
    await said(clientOf([cut], options).request('POST', '/workflow/validate')),
    await said(clientOf([cut], options).request('POST', '/workflow/x/runs/r/query/state')),
    await said(clientOf([cut], options).request('POST', '/workflow/query/signal/state')),
  ]).toEqual([
    [true, 'POST /workflow/x/runs/r/signal/go: fetch failed: ECONNRESET; it may have been carried out'],
    [true, 'POST /workflow/x/runs/r/terminate: unexpected response with status 502; it may have been carried out'],
    // The service itself says it.
    [true, 'a message'],
    [true, 'a message; an earlier attempt may have been carried out'],
    [false, 'POST /workflow/x/runs/r/signal/go: fetch failed: rejected'],
    [false, 'a message'],
    [false, 'POST /workflow/x/runs/r/query/state: fetch failed: ECONNRESET'],
    [false, 'a message'],
    [false, 'POST /workflow/validate: fetch failed: ECONNRESET'],
    [false, 'POST /workflow/x/runs/r/query/state: fetch failed: ECONNRESET'],
    [true, 'POST /workflow/query/signal/state: fetch failed: ECONNRESET; it may have been carried out'],
  ])
})

test('request: one that only reads is sent again without a key, whatever its method', async () => {
  const attemptsOf = async (path: string) =>
    (await rejection(clientOf([cut, cut, problem(400, 'ValidationError')]).request('POST', path))).attempts

  expect([await attemptsOf('/workflow/validate'), await attemptsOf('/workflow/x/query/state')]).toEqual([3, 3])
  expect(await attemptsOf('/workflow/start')).toBe(1)
})

test('request: with a key, a start and a request to one run are sent again, a message to a workflow id is not', async () => {
  const attemptsOf = async (path: string) => {
    const client = clientOf([cut, cut, problem(400, 'ValidationError')])
    return (await rejection(client.request('POST', path, { idempotencyKey: 'k' }))).attempts
  }

  const repeated = ['start', 'run', 'x/runs/r/signal/next', 'x/runs/r/activities/a/complete']
  for (const path of repeated) expect([path, await attemptsOf(`/workflow/${path}`)]).toEqual([path, 3])
  const single = ['x/signal/next', 'x/stream?from=/runs/', 'x/activities/runs/complete', 'signal-with-start/next']
  for (const path of [...single, 'x/runs/r/activities/a/fail'])
    expect([path, await attemptsOf(`/workflow/${path}`)]).toEqual([path, 1])
})

test('onRetry: gets the error of each attempt before the next one', async () => {
  const retries: Retry[] = []
  const client = clientOf([UNAVAILABLE, cut, ok()], { onRetry: (retry) => retries.push(retry) })

  const status = client.status('x')
  await vi.advanceTimersByTimeAsync(10_000)
  await status

  expect(retries).toMatchObject([
    { error: { error: 'EngineUnavailableError' }, attempts: 1, delayMs: 1000 },
    { error: { error: 'ConnectionError' }, attempts: 2 },
  ])
})

test.for([
  ['rejected', rejected],
  ['silent', silent],
] as const)('a client that never had a connection gives up after one more attempt: %s', async ([, failing]) => {
  const run = settled(clientOf([failing]).run('order'))

  await vi.advanceTimersByTimeAsync(200)

  expect(await run).toMatchObject({ error: 'ConnectionError', attempts: 2 })
})

test('a client that had a connection repeats requests for retryMs', async () => {
  const client = clientOf([ok(), rejected, silent, cut, ok({ runId: 'r' })])
  await client.status('x')

  const status = client.status('x')
  await vi.advanceTimersByTimeAsync(10_000)

  expect(await status).toEqual({ runId: 'r' })
})

test('a client whose first connection was cut repeats its request', async () => {
  const slow: Respond = async (request) => {
    await new Promise((resolve) => setTimeout(resolve, 3000))
    return silent(request)
  }
  const calls = [
    [cut, rejected, rejected, ok()],
    [slow, silent, silent, ok()],
    [silent, ok()],
  ].map(async (responses) => {
    const status = clientOf(responses).status('x')
    await vi.advanceTimersByTimeAsync(20_000)
    sent.length = 0
    return status
  })

  for (const call of calls) expect(await call).toEqual({})
})

test('a request that was not sent is repeated, even if it must not be carried out twice', async () => {
  const client = clientOf([ok(), rejected, ok({ terminated: true })])
  await client.status('x')

  const terminated = client.terminate(RUN)
  await vi.advanceTimersByTimeAsync(1000)

  expect(await terminated).toEqual({ terminated: true })
})
