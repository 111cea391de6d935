import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { inTime } from '../../../src/domain/with-deadline.ts'
import { aCall, refusal } from '../call.ts'

const never = new Promise<never>(() => {})

test('inTime: is what others wait for as well', async () => {
  const call = aCall()

  expect(await inTime(Promise.resolve(7), call)).toBe(7)
  expect(getEventListeners(call.signal, 'abort')).toHaveLength(0)
})

test('inTime: waits no longer than its caller', async () => {
  const refused = await refusal(inTime(never, aCall({ deadlineAt: Date.now() + 20 })))

  expect(refused).toMatchObject({ error: 'EngineUnavailableError', retryAfterSeconds: 1 })
})

test('inTime: ends when its caller goes away', async () => {
  const caller = new AbortController()
  const waiting = refusal(inTime(never, aCall({ signal: caller.signal })))

  caller.abort()

  expect((await waiting).error).toBe('EngineUnavailableError')
})
