/** The service's own process ends, killed or in order, while runs are waited for. */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect } from 'vitest'
import type { LogEvent } from '../../dev/servers/service.ts'
import type { Ended } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { activityCalls } from '../conformance/activities-alone.ts'
import type { Answer } from '../support/api.ts'
import { startFirstRun } from '../support/first-run.ts'
import { test } from '../support/fixtures.ts'
import { promisedError } from '../support/promises.ts'
import type { Service } from '../support/service.ts'
import { isStatusUnread, timedOutAtShutdown } from '../support/timed-out.ts'

const catalog = `ends-${crypto.randomUUID()}`
const SHUTDOWN_TIMEOUT_MS = 15_000

/** Each to be ended in its own way, and one that stays. */
let killed: Service
let signaledTwice: Service
let signaled: Service
let other: Service

test.beforeAll(async ({ startWorker, startService }) => {
  const start = (env: Record<string, string> = {}) => startService({ catalog, env })
  ;[, killed, signaledTwice, signaled, other] = await Promise.all([
    startWorker({ taskQueue: catalog }),
    start(),
    start(),
    start({ SERVICE_SHUTDOWN_TIMEOUT: `${SHUTDOWN_TIMEOUT_MS}`, SERVICE_MESSAGE_TIMEOUT: '10m' }),
    start(),
  ])
  await Promise.all([killed, signaledTwice, signaled, other].map((service) => startFirstRun(service, 'nothing')))
})

function run(service: Service, workflowName: string, workflowId: string, input: unknown = null): Promise<Answer> {
  return service.run(workflowName, input, { workflowId, timeout: '10m' })
}

async function untilRunning(workflowId: string, events: number): Promise<void> {
  await until(`${workflowId} runs`, async () => (await other.get(`${workflowId}/status`)).body.historyLength >= events)
}

test('service killed: its runs keep running, and another service returns the result (failure 35)', async () => {
  const workflowId = `${catalog}-killed`
  const waiting = run(killed, 'waitForSignal', workflowId).catch((error: Error) => error)
  await untilRunning(workflowId, 4)

  await killed.kill()
  await other.post(`${workflowId}/signal/finish`, { payload: 'alone' })

  expect(await waiting).toBeInstanceOf(Error)
  const { body } = await until('it has ended', async () => {
    const answer = await other.get(`${workflowId}/result`)
    return answer.status === 200 ? answer : null
  })
  expect([body.status, body.output]).toEqual(['completed', ['alone']])
})

test('service stopped twice: an echo of the signal has no effect, a second signal ends the service at once', async () => {
  const [answered, waited] = [`${catalog}-echo`, `${catalog}-twice`]
  const answering = run(signaledTwice, 'waitForSignal', answered)
  const waiting = run(signaledTwice, 'neverEnds', waited).catch((error: Error) => error)
  await Promise.all([untilRunning(answered, 4), untilRunning(waited, 4)])

  // Both at once, as a terminal and npm send them. Two SIGTERM could arrive as one.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.kill(signaledTwice.pid, signal)
  await other.post(`${answered}/signal/finish`)
  const afterEcho = await answering
  const signaling = setInterval(() => process.kill(signaledTwice.pid, 'SIGTERM'), 100)
  const { code } = await signaledTwice.ended.finally(() => clearInterval(signaling))

  expect(afterEcho.status).toBe(200)
  // At the end of its own time it would have answered the request.
  expect(await waiting).toBeInstanceOf(Error)
  expect(code).toBe(1)
})

describe('service stopped with requests in flight', () => {
  let short: Answer
  let long: Answer[]
  let messages: Answer[]
  /** Of a query and of an update with a key. */
  let repeatable: Answer[]
  let activity: Answer
  /** What happened, in this order. */
  const order: string[] = []
  let ended: Ended

  test.beforeAll(async ({ client }) => {
    const idle = await keptAlive(signaled.url)
    const MESSAGES = { workflowName: 'messages', input: null }
    const ids = ['short', 'long-1', 'long-2', 'update', 'begun'].map((name) => `${catalog}-${name}`)
    const activityId = `${catalog}-activity`
    const [shortId = '', longId = '', otherId = '', updateId = '', begunId = ''] = ids
    await signaled.post('start', { ...MESSAGES, workflowId: updateId })
    const alone = { taskQueue: `${catalog}-nobody`, workflowId: `${catalog}-alone` }
    const unheard = await client.workflow.start('messages', alone)
    const waiting = [
      run(signaled, 'waitForSignal', shortId),
      run(signaled, 'neverEnds', longId),
      run(signaled, 'neverEnds', otherId),
      signaled.post(`${updateId}/update/wait`, { payload: 600_000 }),
      signaled.post('update-with-start/wait', { ...MESSAGES, workflowId: begunId, payload: 600_000 }),
      signaled.post(`${unheard.workflowId}/query/state`),
      signaled.post(`${updateId}/update/wait`, { payload: 600_000 }, { 'Idempotency-Key': updateId }),
      activityCalls(signaled, activityId).run('outside', { timeout: '10m' }),
    ]
    // Each of the two updates is accepted by an event of its own, after a workflow task of three.
    await Promise.all(ids.map((id) => untilRunning(id, id === updateId ? 9 : id === begunId ? 5 : 4)))
    const { post } = activityCalls(other, activityId)
    await until('the activity has begun', async () => (await post('heartbeat')).status === 200)

    process.kill(signaled.pid, 'SIGTERM')
    const answers = waiting.map(async (pending) => {
      const answer = await pending
      order.push('response')
      return answer
    })
    const idleClosed = once(idle, 'close').then(() => order.push('idle connection closed'))
    await until('a new connection is rejected', () => isRejected(signaled.url))
    order.push('connection refused')
    await other.post(`${shortId}/signal/finish`, { payload: 'in time' })

    const [first, ...rest] = await Promise.all(answers)
    const last = rest.pop()
    if (!first || !last) throw new Error('Eight requests were sent')
    short = first
    activity = last
    long = rest.slice(0, 2)
    messages = rest.slice(2, 4)
    repeatable = rest.slice(4)
    await idleClosed
    ended = await signaled.ended
    await unheard.terminate()
    await Promise.all([longId, otherId, updateId, begunId].map((id) => other.post(`${id}/terminate`)))
    await post('terminate')
  })

  test('service stopped: rejects new connections', () => {
    expect(order.indexOf('connection refused')).toBeLessThan(order.indexOf('response'))
  })

  test('service stopped: closes an idle keep-alive connection', () => {
    expect(order.indexOf('idle connection closed')).toBeLessThan(order.indexOf('response'))
  })

  test('service stopped: runs that end in time return their result (failure 34)', () => {
    const { status, body } = short

    expect([status, body.status, body.output]).toEqual([200, 'completed', ['in time']])
  })

  test('service stopped: the other requests time out (failure 34)', () => {
    expect(long.map(({ status, body }) => [status, body])).toEqual(
      long.map(({ body }, index) => [424, timedOutAtShutdown(`${catalog}-long-${index + 1}`, body)]),
    )
    expect(long.map((answer) => logged(answer)?.endUnread !== undefined)).toEqual(
      long.map(({ body }) => isStatusUnread(body)),
    )
  })

  test('service stopped: the wait for an activity without a workflow ends with its ids', () => {
    const { status, body, headers } = activity

    expect([status, body]).toMatchObject([
      424,
      { error: 'ActivityExecutionTimedOutError', activityId: `${catalog}-activity`, runId: expect.any(String) },
    ])
    expect(body.message).toBe('The service is stopping; continue at Location')
    expect([headers.get('Location'), headers.get('Retry-After')]).toEqual([
      `/activity/${catalog}-activity/result`,
      null,
    ])
  })

  test('service stopped: an unfinished update returns its ids (failure 34)', () => {
    // A busy engine may not find the run in the time that is left. The log says so.
    const isUnread = messages.map((answer) => logged(answer)?.runUnread !== undefined)
    const expected = (name: string, index: number) => ({
      error: 'OutcomeUnknownError',
      workflowId: `${catalog}-${name}`,
      ...(!isUnread[index] && { runId: expect.any(String) }),
      updateId: expect.any(String),
    })

    const unknown = promisedError(34, '424')
    expect(messages.map(({ status }) => [status])).toEqual([unknown, unknown])
    expect(messages.map(({ body }) => body)).toMatchObject(['update', 'begun'].map(expected))
    expect(messages.map(({ body }) => body.runId === undefined)).toEqual(isUnread)
  })

  test('service stopped: a query, and an update with a key, time out (failure 34)', () => {
    const late = promisedError(34, '504')
    expect(repeatable.map(({ status }) => [status])).toEqual([late, late])
  })

  test('service stopped: exits with 0, as it does only within its deadline (failure 34)', () => {
    expect(ended).toEqual({ code: 0, signal: null })
    expect(signaled.events.map(({ message }) => message)).toContain('shutting down')
  })
})

function logged({ body }: Answer): LogEvent | undefined {
  return signaled.events.find(({ message, requestId }) => message === 'request' && requestId === body.requestId)
}

/** A keep-alive connection that has received its response. */
async function keptAlive(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(socket, 'data')
  return socket
}

function isRejected(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  return new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(false))
    socket.once('error', (error) => resolve('code' in error && error.code === 'ECONNREFUSED'))
  }).finally(() => socket.destroy())
}
