/** How the client continues a stream whose connection is lost. The clock is virtual. */
import { expect, test, vi } from 'vitest'
import { cut, problem, type Respond, resetBeforeEach, sent } from './scripted-service.ts'
import {
  at,
  done,
  events,
  frame,
  HEADERS,
  item,
  lastEventIds,
  RUN,
  RUN_ID,
  readAll,
  stream,
  workflow,
} from './scripted-stream.ts'

resetBeforeEach()

test('stream: continues after the last id when the connection is lost, without losing or repeating an item', async () => {
  const responses = [events(workflow(), item(0)), cut, events(workflow(1), item(1), item(2)), events(workflow(3), done)]

  const { items, error } = await readAll(stream(responses))

  expect(error).toBeUndefined()
  expect(items.map(({ offset }) => offset)).toEqual([0, 1, 2])
  expect(lastEventIds()).toEqual([null, at(0), at(0), at(2)])
})

test('stream: an event that has only an id moves its place', async () => {
  const { items } = await readAll(
    stream([events(workflow(), item(0), `: still running\nid: ${at(8)}\n\n`), events(done)]),
  )

  expect(items).toHaveLength(1)
  expect(lastEventIds()).toEqual([null, at(8)])
})

test('stream: ignores an event whose end was lost, and its id', async () => {
  const torn = item(1).slice(0, -1)

  const { items } = await readAll(stream([events(workflow(), item(0), torn), events(item(1), done)]))

  expect(items.map(({ offset }) => offset)).toEqual([0, 1])
  expect(lastEventIds()).toEqual([null, at(0)])
})

test('stream: without an item it continues where it began, although that was now', async () => {
  await readAll(stream([events(workflow(7)), events(done)], { from: 'now' }))
  const fromNow = sent.splice(0)
  await readAll(
    stream([events(frame('workflow', { ...RUN, status: 'running', from: 'now' })), events(done)], { from: 'now' }),
  )
  const unknown = sent.splice(0)
  await readAll(stream([events(workflow(0)), events(done)]))

  expect(fromNow.map(({ headers }) => headers.get('Last-Event-ID'))).toEqual([null, at(6)])
  expect(fromNow.map(({ url }) => new URL(url).search)).toEqual(['?from=now', ''])
  // Without a worker the service does not know the offset yet.
  expect(unknown.map(({ url }) => new URL(url).search)).toEqual(['?from=now', '?from=now'])
  expect(lastEventIds()).toEqual([null, RUN_ID])
})

test('stream: opens a new connection after 30 s without a byte; a comment is enough', async () => {
  const comments = ({ signal }: { signal: AbortSignal | undefined }) => {
    const body = new ReadableStream({
      start(controller) {
        const send = (text: string) => controller.enqueue(new TextEncoder().encode(text))
        send(workflow())
        const timer = setInterval(() => send(': still running\n\n'), 10_000)
        setTimeout(() => clearInterval(timer), 95_000)
        signal?.addEventListener('abort', () => controller.error(signal.reason))
      },
    })
    return new Response(body, { headers: HEADERS })
  }
  const onRetry = vi.fn()
  const beganAt = Date.now()
  let lostAfterMs = 0
  onRetry.mockImplementation(() => {
    lostAfterMs = Date.now() - beganAt
  })

  const { items } = await readAll(stream([comments, events(done)], {}, { onRetry }))

  expect(items).toEqual([])
  expect(lostAfterMs).toBe(120_000)
  expect(onRetry.mock.calls).toMatchObject([
    [{ error: { message: `GET /workflow/w/runs/${RUN_ID}/stream: nothing was received for 30000 ms` } }],
  ])
  expect(lastEventIds()).toEqual([null, RUN_ID])
})

test.for([429, 503])('stream: waits as long as Retry-After of a %i says', async (status) => {
  const limited = problem(status, 'ResourceExhaustedError', {}, { 'Retry-After': '7' })
  const beganAt = Date.now()
  let openedAt = 0
  const second: Respond = (request) => {
    openedAt = Date.now()
    return events(done)(request)
  }

  await readAll(stream([limited, second]))

  expect(openedAt - beganAt).toBeGreaterThanOrEqual(7000)
})

test('stream: continues after a server_error that can be resumed', async () => {
  const failed = frame('server_error', { status: 429, error: 'ResourceExhaustedError', message: 'later' }, at(0))

  const { items, error } = await readAll(stream([events(workflow(), item(0), failed), events(item(1), done)]))

  expect(error).toBeUndefined()
  expect(items).toHaveLength(2)
  expect(lastEventIds()).toEqual([null, at(0)])
})

test('stream: throws a server_error that ends every connection at once, after retryMs', async () => {
  const failed = frame('server_error', { status: 429, error: 'ResourceExhaustedError', message: 'later' }, at(0))

  const { error } = await readAll(stream([events(workflow(), failed)], {}, { retryMs: 20_000 }))

  expect(error).toMatchObject({ error: 'ResourceExhaustedError', attempts: sent.length })
  expect(sent.length).toBeLessThan(20)
})

test('stream: a connection that lasts, and one that brings an item, begin the time of retryMs again', async () => {
  const lasting: Respond = () => {
    const start = (controller: ReadableStreamDefaultController) => void setTimeout(() => controller.close(), 1500)
    return new Response(new ReadableStream({ start }), { headers: HEADERS })
  }
  const lost = Array.from({ length: 30 }, (_, n) => (n % 2 === 0 ? events(workflow(), item(n)) : lasting))

  const { items, error } = await readAll(stream([...lost, events(done)], {}, { retryMs: 1000 }))

  expect(error).toBeUndefined()
  expect(items).toHaveLength(15)
})

test('stream: with retryMs 0 a lost connection is an error', async () => {
  const { items, error } = await readAll(stream([events(workflow(), item(0))], {}, { retryMs: 0 }))

  expect(items).toHaveLength(1)
  expect(error).toMatchObject({
    error: 'ConnectionError',
    message: expect.stringContaining('the connection was closed'),
  })
})

test('stream: onRetry is called for a lost connection', async () => {
  const onRetry = vi.fn()

  await readAll(stream([events(workflow(), item(0)), events(done)], {}, { onRetry }))

  expect(onRetry.mock.calls).toMatchObject([[{ attempts: 1, error: { error: 'ConnectionError' } }]])
})
