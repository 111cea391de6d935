/** How often an update is sent; test/conformance/client/ has a real service. */
import { expect, test, vi } from 'vitest'
import { clientOf, cut, ok, problem, type Respond, resetBeforeEach, sent } from './scripted-service.ts'

resetBeforeEach()

const RUN = { workflowId: 'x', runId: 'r' }

test('update: with timeoutMs it waits for the same update again', async () => {
  const unanswered = problem(504, 'DeadlineExceededError', { workflowId: 'x', runId: 'r', updateId: 'u' })
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
  const unanswered = problem(504, 'DeadlineExceededError', { workflowId: 'x', runId: 'r', updateId: 'u' })
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
