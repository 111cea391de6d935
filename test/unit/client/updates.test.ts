/** How often an update is sent; test/conformance/client/ has a real service. */
import { expect, test, vi } from 'vitest'
import { clientOf, cut, ok, problem, type Respond, resetBeforeEach, sent, sentPaths } from './scripted-service.ts'

resetBeforeEach()

const RUN = { workflowId: 'x', runId: 'r' }
const unanswered = problem(504, 'DeadlineExceededError', { ...RUN, updateId: 'u' })

test('update: with timeoutMs it waits for the same update again', async () => {
  const responses = [unanswered, unanswered, ok('new')]
  const waiting = clientOf(responses).update(RUN, 'set', { payload: 1, timeoutMs: 60_000 })

  await vi.advanceTimersByTimeAsync(10_000)

  expect(await waiting).toBe('new')
  expect(new Set(sent.map(({ headers }) => headers.get('Idempotency-Key'))).size).toBe(1)
  expect(sent).toHaveLength(3)
  await expect(clientOf([unanswered]).update(RUN, 'set')).rejects.toThrow(
    expect.objectContaining({ error: 'DeadlineExceededError', status: 504, updateId: 'u' }),
  )
})

const page =
  (status: number): Respond =>
  () =>
    new Response('<h1>a page</h1>', { status })

test('update: with timeoutMs it is sent again for longer than retryMs while there is no response of the service', async () => {
  const responses = [...Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? cut : page(502))), ok('new')]
  const options = { payload: 1, timeoutMs: 60_000 }
  const waiting = clientOf(responses, { retryMs: 1000 }).update(RUN, 'set', options)

  await vi.advanceTimersByTimeAsync(60_000)

  expect(await waiting).toBe('new')
  expect(sent).toHaveLength(9)
  expect(new Set(sent.map(({ headers }) => headers.get('Idempotency-Key'))).size).toBe(1)
})

test.for([
  ['without timeoutMs', { retryMs: 1000 }, {}, cut, 'ConnectionError'],
  ['when timeoutMs has passed', { retryMs: 1000 }, { timeoutMs: 20_000 }, cut, 'ConnectionError'],
  ['at once with retryMs 0', { retryMs: 0 }, { timeoutMs: 60_000 }, cut, 'ConnectionError'],
  ['at once if the URL is wrong', {}, { timeoutMs: 60_000 }, page(404), 'UnexpectedResponseError'],
] as const)('update: gives up %s', async ([, options, request, respond, error]) => {
  const waiting = clientOf([respond], options)
    .update(RUN, 'set', request)
    .catch((reason) => reason.error)

  await vi.advanceTimersByTimeAsync(20_000)

  expect(await waiting).toBe(error)
})

test('updateWithStart: with timeoutMs it waits for the same update again, unless it has no key', async () => {
  const request = { input: 1, payload: 1, timeoutMs: 60_000 }
  const workflow = clientOf([cut, unanswered, ok({ result: 'new' })], { retryMs: 1000 }).workflow('order')
  const waiting = workflow.updateWithStart('set', request)

  await vi.advanceTimersByTimeAsync(20_000)

  expect(await waiting).toMatchObject({ result: 'new' })
  expect(new Set(sent.map(({ headers }) => headers.get('Idempotency-Key'))).size).toBe(1)
  const withoutKey = { ...request, workflowIdConflictPolicy: 'terminate-existing' } as const
  await expect(clientOf([unanswered]).workflow('order').updateWithStart('set', withoutKey)).rejects.toThrow(
    expect.objectContaining({ error: 'DeadlineExceededError', updateId: 'u' }),
  )
})

const WITH_START = { workflowId: 'x', input: 1, payload: 2, idempotencyKey: 'k' }

const workflowOf = (...responses: Respond[]) => {
  sent.length = 0
  return clientOf(responses).workflow('order')
}

/** What the call ends with within 20 s. */
async function errorOrValue(call: Promise<unknown>) {
  const settled = call.catch((error) => error)
  await vi.advanceTimersByTimeAsync(20_000)
  return settled
}

test('signalWithStart, updateWithStart: are sent again without a workflowId, which then belongs to the key', async () => {
  const signaled = await errorOrValue(workflowOf(cut, ok({ runId: 'r' })).signalWithStart('go', { payload: 2 }))
  const updated = await errorOrValue(workflowOf(cut, ok({ runId: 'r' })).updateWithStart('set', { payload: 2 }))

  expect([signaled, updated]).toEqual([{ runId: 'r' }, { runId: 'r' }])
})

test('signalWithStart, updateWithStart: are not sent again to a workflowId of their own if they may have been carried out', async () => {
  const failed = [
    await errorOrValue(workflowOf(cut, ok()).signalWithStart('go', WITH_START)),
    await errorOrValue(workflowOf(cut, ok()).updateWithStart('set', { ...WITH_START, timeoutMs: 60_000 })),
  ]
  const overloaded = problem(503, 'OverloadedError', {}, { 'Retry-After': '1' })
  const later = await errorOrValue(workflowOf(overloaded, ok({ runId: 'r' })).signalWithStart('go', WITH_START))

  const open = { error: 'ConnectionError', mayHaveTakenEffect: true, idempotencyKey: 'k', workflowId: 'x', attempts: 1 }
  expect(failed).toMatchObject([open, open])
  expect(later).toEqual({ runId: 'r' })
})

test('updateWithStart: with timeoutMs it waits for its update in the run that the first response names', async () => {
  const request = { ...WITH_START, headers: { user: 'Ada' }, timeoutMs: 60_000 }
  const updating = workflowOf(unanswered, cut, unanswered, ok('new')).updateWithStart('set', request)

  expect(await errorOrValue(updating)).toEqual({ workflowId: 'x', runId: 'r', started: false, result: 'new' })
  const pinned = '/workflow/x/runs/r/update/set'
  expect(sentPaths()).toEqual(['/workflow/update-with-start/set', pinned, pinned, pinned])
  expect(sent.at(-1)?.body).toEqual({ payload: 2, headers: { user: 'Ada' } })
  expect(new Set(sent.map(({ headers }) => headers.get('Idempotency-Key')))).toEqual(new Set(['k']))
})

const ownRun = problem(422, 'IdempotencyKeyReusedError', RUN)

test('updateWithStart: if it has started the run itself, it reads the update there, and starts no other run', async () => {
  const accepted = () => Response.json({ ...RUN, updateId: 'u', stage: 'accepted' }, { status: 202 })
  const order = workflowOf(unanswered, ownRun, accepted, cut, ownRun, ok('new'))

  const updating = order.updateWithStart('set', { ...WITH_START, timeoutMs: 60_000 })

  expect(await errorOrValue(updating)).toEqual({ ...RUN, started: true, result: 'new' })
  const run = '/workflow/x/runs/r/update/set'
  expect(sentPaths()).toEqual(['/workflow/update-with-start/set', run, `${run}/u`, run, run, `${run}/u`])
})

test.for<[string, Respond[], string]>([
  ['does not have it', [unanswered, ownRun, problem(404, 'UpdateNotFoundError', RUN)], 'UpdateNotFoundError'],
  ['is not named', [problem(504, 'DeadlineExceededError', { updateId: 'u' })], 'DeadlineExceededError'],
])('updateWithStart: is not sent again if the run %s', async ([, responses, error]) => {
  const order = workflowOf(...responses, ok({ result: 'new' }))

  const updating = order.updateWithStart('set', { ...WITH_START, timeoutMs: 60_000 })

  expect(await errorOrValue(updating)).toMatchObject({ error, mayHaveTakenEffect: true, idempotencyKey: 'k' })
})
