import { expect, onTestFinished, test, vi } from 'vitest'
import { createOpenRequests } from '../../../../src/service/http/pipeline/serve.ts'
import type { Call } from '../../../../src/service/model/call.ts'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import type { Workflows } from '../../../../src/service/verbs.ts'
import { makeApi } from './api.ts'
import { makeRunApi, result } from './run-api.ts'

/** Answers once its signal aborts, as a verb that waits does. */
function waiting(calls: Call[]): Partial<Workflows> {
  return {
    result: (_ref, call) => {
      calls.push(call)
      return call.signal.aborted
        ? Promise.resolve(result)
        : new Promise((resolve) => call.signal.addEventListener('abort', () => resolve(result)))
    },
  }
}

test('call: has a deadline within 5 s from the start of the handler', async () => {
  const calls: Call[] = []
  const { call } = makeRunApi({
    result: async (_ref, call) => {
      calls.push(call)
      return result
    },
  })

  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  await call('GET', '/workflow/w/result', undefined, { 'X-Request-Id': 'mine' })

  expect(calls[0]?.requestId).toBe('mine')
  expect(calls[0]?.deadlineAt).toBe(Date.now() + 4500)
})

test('call: is aborted when the client disconnects, which is not an error', async () => {
  const calls: Call[] = []
  const { fetch, events } = makeRunApi(waiting(calls))
  const client = new AbortController()

  const answered = fetch(new Request('http://portico.test/workflow/w/result', { signal: client.signal }))
  await expect.poll(() => calls.length).toBe(1)
  client.abort()
  await answered

  expect(events).toMatchObject([{ level: 'info', fields: { status: 499, route: '/workflow/:id/result' } }])
})

test('call: the error that ends the wait of a client that has left is not logged as one', async () => {
  const timedOut = new ServiceError('WorkflowExecutionTimedOutError', 'did not complete')
  const calls: Call[] = []
  const { fetch, events } = makeRunApi({
    result: (_ref, call) => {
      calls.push(call)
      return new Promise((_resolve, reject) => call.signal.addEventListener('abort', () => reject(timedOut)))
    },
  })
  const client = new AbortController()

  const answered = fetch(new Request('http://portico.test/workflow/w/result', { signal: client.signal }))
  await expect.poll(() => calls.length).toBe(1)
  client.abort()
  await answered

  expect(events).toMatchObject([{ level: 'info', fields: { status: 499 } }])
  expect(events[0]?.fields).not.toHaveProperty('error')
})

test('call: is no longer aborted once its response is sent', async () => {
  const calls: Call[] = []
  const openRequests = createOpenRequests()
  const { call } = makeApi({
    openRequests,
    workflows: {
      result: async (_ref, call) => {
        calls.push(call)
        return result
      },
    },
  })

  await call('GET', '/workflow/w/result')
  openRequests.abortAll()

  expect(calls[0]?.signal.aborted).toBe(false)
})
