import { afterEach, expect, test, vi } from 'vitest'
import { ServiceError } from '../../../src/domain/model/errors.ts'
import type { WorkflowResult } from '../../../src/domain/model/execution.ts'
import type { RunCommand } from '../../../src/domain/model/workflows.ts'
import { createOpenRequests } from '../../../src/http/serve.ts'
import { makeApi } from './api.ts'
import { result } from './run-api.ts'

afterEach(() => void vi.useRealTimers())

const RUN = { workflowId: 'w', runId: 'r' }
const RESULT: WorkflowResult = { ...result, ...RUN }
const BODY = { workflowName: 'greet', input: null }
const EVENTS = { Accept: 'text/event-stream' }

/** A run that starts at once and ends when the test settles `ended`. */
function makeRun(options: Parameters<typeof makeApi>[0] = {}) {
  const ended = Promise.withResolvers<WorkflowResult>()
  const seen = { aborted: false }
  const run = async (command: RunCommand, { signal }: { signal: AbortSignal }) => {
    command.onStarted?.(RUN)
    signal.addEventListener('abort', () => {
      seen.aborted = true
      ended.reject(
        new ServiceError('WorkflowExecutionTimedOutError', 'did not complete', {
          details: { ...RUN, workflowStatus: 'running' },
        }),
      )
    })
    return ended.promise
  }
  const api = makeApi({ ...options, workflows: { run } })
  return { ...api, ended, seen, ask: () => api.call('POST', '/workflow/run', BODY, EVENTS) }
}

test('run as events: sends started at once, and the result later', async () => {
  const { ask, ended } = makeRun()

  const response = await ask()
  const chunks = response.body?.values() as AsyncIterableIterator<Uint8Array>
  const next = async () => new TextDecoder().decode((await chunks.next()).value)
  const first = (await next()) + (await next())
  ended.resolve(RESULT)
  const second = await next()
  const last = await chunks.next()

  expect([response.status, response.headers.get('Content-Type')]).toEqual([200, 'text/event-stream'])
  expect(response.headers.get('Cache-Control')).toBe('no-store')
  expect(response.headers.get('X-Request-Id')).toMatch(/./)
  expect(first).toBe('retry: 2000\n\nid: w/r\nevent: started\ndata: {"workflowId":"w","runId":"r"}\n\n')
  expect(second).toBe(`id: w/r/end\nevent: result\ndata: ${JSON.stringify(RESULT)}\n\n`)
  expect(last.done).toBe(true)
})

test('run as events: sends a comment every 10 s', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { ask, ended } = makeRun()

  const { body } = await ask()
  const chunks = body?.values() as AsyncIterableIterator<Uint8Array>
  const next = async () => new TextDecoder().decode((await chunks.next()).value)
  await next()
  await next()
  const comments: string[] = []
  for (let count = 0; count < 2; count++) {
    vi.advanceTimersByTime(10_000)
    comments.push(await next())
  }
  ended.resolve(RESULT)
  const result = await next()
  const { done } = await chunks.next()

  expect(comments).toEqual([': still running\n\n', ': still running\n\n'])
  expect(result).toContain('event: result')
  expect(done).toBe(true)
  expect(vi.getTimerCount()).toBe(0)
})

test('run as events: a timeout is an event with the body of the 408', async () => {
  const { ask, ended, events } = makeRun()

  const response = await ask()
  ended.reject(
    new ServiceError('WorkflowExecutionTimedOutError', 'did not complete', {
      details: { ...RUN, workflowStatus: 'running' },
    }),
  )
  const [, name, data = ''] = /event: (timeout|result|server_error)\ndata: (.*)/.exec(await response.text()) ?? []

  expect(name).toBe('timeout')
  expect(JSON.parse(data)).toMatchObject({
    status: 408,
    error: 'WorkflowExecutionTimedOutError',
    ...RUN,
    workflowStatus: 'running',
  })
  await expect.poll(() => events).toMatchObject([{ fields: { status: 408 } }])
})

test('run as events: an error after the start is an event with the ids; a bug has no details and is logged', async () => {
  const { ask, ended, events } = makeRun()

  const response = await ask()
  ended.reject(new Error('secret'))
  const text = await response.text()

  expect(text).toContain(
    'event: server_error\ndata: {"type":"https://github.com/portico/portico/blob/main/docs/errors.md#internalerror"',
  )
  expect(text).not.toContain('secret')
  await expect
    .poll(() => events)
    .toMatchObject([{ level: 'error', fields: { status: 500, cause: new Error('secret') } }])
})

test('run as events: an error before the start is an ordinary response', async () => {
  const { call } = makeApi({
    workflows: { run: () => Promise.reject(new ServiceError('UnsupportedWorkflowError', 'no')) },
  })

  const response = await call('POST', '/workflow/run', BODY, EVENTS)

  expect([response.status, response.headers.get('Content-Type')]).toEqual([424, 'application/problem+json'])
})

test('run as events: only when the Accept header prefers them', async () => {
  const types = []
  for (const accept of [
    '*/*',
    'application/json',
    'application/json, text/event-stream',
    'text/event-stream;q=0',
    'text/event-stream, */*;q=0.1',
    'text/event-stream, application/json',
  ]) {
    const { call, ended } = makeRun()
    ended.resolve(RESULT)
    types.push((await call('POST', '/workflow/run', BODY, { Accept: accept })).headers.get('Content-Type'))
  }

  expect(types).toEqual([...Array(4).fill('application/json'), 'text/event-stream', 'text/event-stream'])
})

test('run as events: a disconnect ends the wait', async () => {
  const { ask, seen, events } = makeRun()

  const response = await ask()
  await response.body?.cancel()

  await expect.poll(() => seen.aborted).toBe(true)
  await expect.poll(() => events.length).toBe(1)
})

test('run as events: shutdown sends a timeout to waiting clients', async () => {
  const openRequests = createOpenRequests()
  const { ask } = makeRun({ openRequests })

  const response = await ask()
  openRequests.abortAll()

  expect(await response.text()).toContain('event: timeout\n')
})

test('run as events: an event that cannot be serialized ends the response and the request', async () => {
  const { ask, ended, events } = makeRun()
  const circle: unknown[] = []
  circle.push(circle)

  const response = await ask()
  ended.resolve({ ...RESULT, output: circle })
  await response.text()

  await expect.poll(() => events.length).toBe(1)
})
