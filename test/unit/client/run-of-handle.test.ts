/** Which run a message is sent to; test/conformance/client/ has a real service. */
import { expect, test, vi } from 'vitest'
import { clientWith, cut, ok, problem, type Respond, resetBeforeEach, sent, sentPaths } from './scripted-service.ts'

resetBeforeEach()

const CLOSED = problem(409, 'WorkflowNotRunningError', { workflowId: 'x', runId: 'r1', workflowStatus: 'continued' })

/** A service whose latest run of the id `x` is each of `runs` in turn, and then the last of them. */
function serviceWith(runs: string[], respond: (path: string) => Respond) {
  return clientWith((request) => {
    const path = new URL(request.url).pathname
    if (!path.endsWith('/status')) return respond(path)(request)
    return Response.json({ runId: runs.length > 1 ? runs.shift() : runs[0] })
  })
}

test('a handle: parallel messages share one status, and those that follow use its run', async () => {
  const handle = serviceWith(['r1'], () => ok())
    .workflow('order')
    .get('x')

  await Promise.all([handle.signal('a'), handle.update('b'), handle.pause()])
  await handle.terminate()

  expect(sentPaths().toSorted()).toEqual([
    '/workflow/x/runs/r1/pause',
    '/workflow/x/runs/r1/signal/a',
    '/workflow/x/runs/r1/terminate',
    '/workflow/x/runs/r1/update/b',
    '/workflow/x/status',
  ])
})

test('a handle: a message is sent again to the run that it was sent to', async () => {
  const responses = [cut, ok()]
  const signal = serviceWith(['r1', 'r2'], () => responses.shift() ?? cut).signal('x', 'go')

  await vi.advanceTimersByTimeAsync(1000)
  await signal

  expect(sentPaths().slice(1)).toEqual(Array(2).fill('/workflow/x/runs/r1/signal/go'))
  expect(new Set(sent.slice(1).map(({ headers }) => headers.get('Idempotency-Key'))).size).toBe(1)
})

test('a handle: a run that has ended before the message is followed by the latest run', async () => {
  const client = serviceWith(['r1', 'r2', 'r3'], (path) => (path.includes('/r3/') ? ok({ accepted: true }) : CLOSED))

  expect(await client.signal('x', 'go')).toEqual({ accepted: true })
  expect(sentPaths()).toEqual(
    ['r1', 'r2', 'r3'].flatMap((run) => ['/workflow/x/status', `/workflow/x/runs/${run}/signal/go`]),
  )
})

test('a handle: a run that is closed and the latest one is not running', async () => {
  const client = serviceWith(['r1'], () => CLOSED)

  await expect(client.signal('x', 'go')).rejects.toMatchObject({ error: 'WorkflowNotRunningError', attempts: 1 })
  await expect(client.signal({ workflowId: 'x', runId: 'r1' }, 'go')).rejects.toThrow('a message')
  expect(sentPaths().filter((path) => path.endsWith('/status'))).toHaveLength(2)
})

test('a handle: no other run gets a message that may have been received', async () => {
  const responses = [cut, CLOSED]
  const signal = serviceWith(['r1', 'r2'], () => responses.shift() ?? ok())
    .signal('x', 'go', { idempotencyKey: 'k' })
    .catch((error) => error)

  await vi.advanceTimersByTimeAsync(1000)

  expect(await signal).toMatchObject({
    error: 'WorkflowNotRunningError',
    message: 'a message; an earlier attempt may have been carried out',
    idempotencyKey: 'k',
    mayHaveTakenEffect: true,
    attempts: 2,
  })
  expect(sentPaths().filter((path) => path.includes('/r2/'))).toEqual([])
})

test('a handle: an update that its run has accepted is not sent to the next run', async () => {
  const ended = problem(409, 'WorkflowNotRunningError', { workflowId: 'x', runId: 'r1', updateId: 'u' })

  const update = serviceWith(['r1', 'r2'], () => ended).update('x', 'set')

  await expect(update).rejects.toMatchObject({ error: 'WorkflowNotRunningError', updateId: 'u' })
  expect(sent).toHaveLength(2)
})

test('start: the messages of its handle go to the run that was started, without a status', async () => {
  const client = serviceWith(['r2'], (path) => (path.includes('/r1/') ? CLOSED : ok({ workflowId: 'x', runId: 'r1' })))
  const handle = await client.start('order')

  await handle.signal('go')
  await handle.signal('on')

  expect(sentPaths().slice(1)).toEqual([
    '/workflow/x/runs/r1/signal/go',
    '/workflow/x/status',
    '/workflow/x/runs/r2/signal/go',
    '/workflow/x/runs/r2/signal/on',
  ])
})

test('reset: continues from the run that is the latest one when it is called', async () => {
  const client = serviceWith(['r2', 'r3'], () => ok({ workflowId: 'x', runId: 'r1' }))
  const handle = await client.start('order')

  await handle.reset({ eventId: 3 })
  await handle.reset({ eventId: 3 })

  expect(sentPaths().filter((path) => path.endsWith('/reset'))).toEqual([
    '/workflow/x/runs/r2/reset',
    '/workflow/x/runs/r3/reset',
  ])
})

test('a handle: a call that is aborted does not end the status that others wait for', async () => {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  const client = clientWith(async ({ url }) => {
    if (!url.endsWith('/status')) return Response.json({ accepted: true })
    await opened
    return Response.json({ runId: 'r1' })
  })
  const handle = client.workflow('order').get('x')
  const controller = new AbortController()

  const others = [handle.signal('a'), handle.signal('b', { timeoutMs: 1000 }).catch((error) => error)]
  const aborted = handle.signal('c', { signal: controller.signal }).catch((error) => error)
  controller.abort('enough')
  await vi.advanceTimersByTimeAsync(1000)
  open()

  expect(await aborted).toBe('enough')
  expect(await Promise.all(others)).toMatchObject([
    { accepted: true },
    { error: 'DeadlineExceededError', status: null },
  ])
})

test('a handle: after a rejection, a status that was read before does not count', async () => {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  let statuses = 0
  const client = clientWith(async ({ url }) => {
    if (url.includes('/r1/')) return CLOSED({ signal: undefined })
    if (!url.endsWith('/status')) return Response.json({ workflowId: 'x', runId: 'r1', accepted: true })
    if (statuses++ > 0) return Response.json({ runId: 'r2' })
    // The engine has responded before the run continued as a new one; the response is late.
    await opened
    return Response.json({ runId: 'r1' })
  })
  const handle = await client.start('order')

  const reset = handle.reset({ eventId: 3 }).catch((error) => error)
  const signal = handle.signal('go')
  await vi.advanceTimersByTimeAsync(100)
  open()

  expect(await signal).toMatchObject({ accepted: true })
  expect(await reset).toMatchObject({ error: 'WorkflowNotRunningError' })
  expect(sentPaths().at(-1)).toBe('/workflow/x/runs/r2/signal/go')
})
