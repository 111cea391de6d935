import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { withinCall } from '../../../../src/service/model/call.ts'
import { aCall, rejection } from '../../call.ts'

const never = new Promise<never>(() => {})

test('withinCall: settles as the promise does, and leaves no listener', async () => {
  const call = aCall()

  expect(await withinCall(Promise.resolve(7), call)).toBe(7)
  expect(getEventListeners(call.signal, 'abort')).toHaveLength(0)
})

test('withinCall: rejects at the deadline of the call', async () => {
  const rejected = await rejection(withinCall(never, aCall({ deadlineAt: Date.now() + 20 })))

  expect(rejected).toMatchObject({ error: 'EngineUnavailableError', retryAfterSeconds: 1 })
})

test('withinCall: rejects when the call is aborted', async () => {
  const caller = new AbortController()
  const waiting = rejection(withinCall(never, aCall({ signal: caller.signal })))

  caller.abort()

  expect((await waiting).error).toBe('EngineUnavailableError')
})

test('withinCall: passes on the error of the promise', async () => {
  const error = new Error('a bug')

  await expect(withinCall(Promise.reject(error), aCall())).rejects.toBe(error)
})

test('withinCall: waits until the deadline of a call that was aborted before', async () => {
  const late = new Promise((resolve) => setImmediate(() => resolve(7)))

  expect(await withinCall(late, aCall({ signal: AbortSignal.abort() }))).toBe(7)
})
