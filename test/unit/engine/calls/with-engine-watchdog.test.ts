import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Call } from '../../../../src/domain/call.ts'
import { withEngineWatchdog } from '../../../../src/engine/calls/with-engine-watchdog.ts'
import type { Rpc } from '../../../../src/engine/rpc.ts'
import { RpcError } from '../../../../src/engine/transport/transport.ts'
import { GrpcCode } from '../../../../src/temporal/grpc-code.ts'
import { aCall } from '../../call.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

/** An engine that responds to pings with `answer`. */
function pinged(answer: () => Promise<unknown>) {
  const pings: { method: string; at: number; deadlineMs: number }[] = []
  const rpc = (method: string, _request: object, call: Call) => {
    pings.push({ method, at: Date.now(), deadlineMs: call.deadlineAt - Date.now() })
    return answer()
  }
  return { rpc: rpc as Rpc, pings }
}

const ALIVE = async () => ({})
const TIMEOUT = () => Promise.reject(new RpcError('no answer', { code: GrpcCode.DEADLINE_EXCEEDED }))

/** A call that gets its response after `ms`, and rejects when its signal aborts. */
function answeredAfter(ms: number) {
  return ({ signal }: Call) =>
    new Promise<string>((resolve, reject) => {
      if (signal.aborted) reject(new Error('aborted'))
      signal.addEventListener('abort', () => reject(new Error('aborted')))
      setTimeout(() => resolve('answer'), ms)
    })
}

test('withEngineWatchdog: returns the result of the call', async () => {
  expect(await withEngineWatchdog(pinged(ALIVE).rpc, aCall(), async () => 'answer')).toBe('answer')
})

test('withEngineWatchdog: pings the engine every 3 s with a deadline of 1 s', async () => {
  const { rpc, pings } = pinged(ALIVE)
  const beganAt = Date.now()
  const answer = withEngineWatchdog(rpc, aCall(), answeredAfter(10_000))

  await vi.advanceTimersByTimeAsync(10_000)

  expect(await answer).toBe('answer')
  expect(pings.map(({ method, at, deadlineMs }) => [method, at - beganAt, deadlineMs])).toEqual([
    ['getSystemInfo', 3000, 1000],
    ['getSystemInfo', 6000, 1000],
    ['getSystemInfo', 9000, 1000],
  ])
})

test('withEngineWatchdog: a call that has no response after a second only waits', async () => {
  const { rpc } = pinged(ALIVE)
  const startWaiting = vi.fn()
  const quick = withEngineWatchdog(rpc, aCall({ startWaiting }), answeredAfter(999))
  await vi.advanceTimersByTimeAsync(5000)
  const callsOfQuick = startWaiting.mock.calls.length

  const slow = withEngineWatchdog(rpc, aCall({ startWaiting }), answeredAfter(1500))
  await vi.advanceTimersByTimeAsync(1000)
  const callsOfSlow = startWaiting.mock.calls.length
  await vi.advanceTimersByTimeAsync(500)

  expect([callsOfQuick, callsOfSlow]).toEqual([0, 1])
  expect(await Promise.all([quick, slow])).toEqual(['answer', 'answer'])
})

test('withEngineWatchdog: rejects with UNAVAILABLE when the engine stops responding', async () => {
  const answer = withEngineWatchdog(pinged(TIMEOUT).rpc, aCall(), answeredAfter(60_000)).catch(
    (error: unknown) => error,
  )

  await vi.advanceTimersByTimeAsync(3000)

  expect(await answer).toMatchObject({ code: GrpcCode.UNAVAILABLE, mayHaveBeenSent: true })
})

test('withEngineWatchdog: pings again if our own process was blocked during the ping', async () => {
  const blockProcess = () => {
    vi.setSystemTime(Date.now() + 1500)
    return TIMEOUT()
  }
  const answers = [blockProcess, ALIVE]
  const { rpc, pings } = pinged(() => (answers.shift() ?? ALIVE)())
  const answer = withEngineWatchdog(rpc, aCall(), answeredAfter(5000))

  await vi.advanceTimersByTimeAsync(5000)

  expect(await answer).toBe('answer')
  expect(pings.map(({ deadlineMs }) => deadlineMs)).toEqual([1000, 400])
})

test('withEngineWatchdog: rejects with UNAVAILABLE when the second ping fails too', async () => {
  const blockProcess = () => {
    vi.setSystemTime(Date.now() + 1500)
    return TIMEOUT()
  }
  const answer = withEngineWatchdog(pinged(blockProcess).rpc, aCall(), answeredAfter(60_000)).catch(
    (error: unknown) => error,
  )

  await vi.advanceTimersByTimeAsync(3000)

  expect(await answer).toMatchObject({ code: GrpcCode.UNAVAILABLE })
})

test('withEngineWatchdog: an engine that rejects the ping is alive', async () => {
  const rejecting = () => Promise.reject(new RpcError('too many', { code: GrpcCode.RESOURCE_EXHAUSTED }))
  const answer = withEngineWatchdog(pinged(rejecting).rpc, aCall(), answeredAfter(10_000))

  await vi.advanceTimersByTimeAsync(10_000)

  expect(await answer).toBe('answer')
})

test('withEngineWatchdog: aborts the call when its signal aborts', async () => {
  const caller = new AbortController()
  const answer = withEngineWatchdog(pinged(ALIVE).rpc, aCall({ signal: caller.signal }), answeredAfter(60_000))

  caller.abort()

  await expect(answer).rejects.toThrow('aborted')
})

test('withEngineWatchdog: aborts the call at once if its signal has aborted before', async () => {
  const answer = withEngineWatchdog(pinged(ALIVE).rpc, aCall({ signal: AbortSignal.abort() }), answeredAfter(60_000))

  await expect(answer).rejects.toThrow('aborted')
})

test('withEngineWatchdog: leaves no listener on its signal, and stops pinging', async () => {
  const { signal } = new AbortController()
  const { rpc, pings } = pinged(ALIVE)

  for (let times = 0; times < 20; times++) await withEngineWatchdog(rpc, aCall({ signal }), async () => 'answer')
  await vi.advanceTimersByTimeAsync(10_000)

  expect(getEventListeners(signal, 'abort')).toEqual([])
  expect(pings).toEqual([])
})
