import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { withEngineWatchdog } from '../../../../../src/service/engine/calls/with-engine-watchdog.ts'
import type { Rpc } from '../../../../../src/service/engine/rpc.ts'
import { RpcError } from '../../../../../src/service/engine/transport/transport.ts'
import type { Call } from '../../../../../src/service/model/call.ts'
import { GrpcCode } from '../../../../../src/shared/temporal/grpc-code.ts'
import { aCall } from '../../../call.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** An engine that responds to pings with `answer`. */
function pinged(answer: (signal: AbortSignal, deadlineAt: number) => Promise<unknown>) {
  const pings: { method: string; at: number }[] = []
  const rpc = (method: string, _request: object, { signal, deadlineAt }: Call) => {
    pings.push({ method, at: Date.now() })
    return answer(signal, deadlineAt)
  }
  return { rpc: rpc as Rpc, pings }
}

const ALIVE = async () => ({})
/** An engine that hangs: only the caller ends the call. */
const HANGING = (signal: AbortSignal) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new RpcError('aborted', { code: GrpcCode.CANCELLED })))
  })

/** A call that gets its response after `ms`, and rejects when its signal aborts. */
function answeredAfter(ms: number) {
  return ({ signal }: Call) =>
    new Promise<string>((resolve, reject) => {
      if (signal.aborted) reject(new Error('aborted'))
      signal.addEventListener('abort', () => reject(new Error('aborted')))
      setTimeout(() => resolve('answer'), ms)
    })
}

test('withEngineWatchdog: pings the engine every 2 s', async () => {
  const { rpc, pings } = pinged(ALIVE)
  const beganAt = Date.now()
  const answer = withEngineWatchdog(rpc, aCall(), answeredAfter(7000))

  await vi.advanceTimersByTimeAsync(7000)

  expect(await answer).toBe('answer')
  expect(pings.map(({ method, at }) => [method, at - beganAt])).toEqual([
    ['getSystemInfo', 2000],
    ['getSystemInfo', 4000],
    ['getSystemInfo', 6000],
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

test('withEngineWatchdog: rejects with UNAVAILABLE when the engine does not respond for 2 s', async () => {
  const answer = withEngineWatchdog(pinged(HANGING).rpc, aCall(), answeredAfter(60_000))
  const settled = vi.fn()
  answer.then(settled, settled)

  await vi.advanceTimersByTimeAsync(3999)
  expect(settled).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)

  await expect(answer).rejects.toMatchObject({ code: GrpcCode.UNAVAILABLE, mayHaveBeenSent: true })
})

test('withEngineWatchdog: time in which our own process does not run is not counted', async () => {
  const pauseProcess = async (_: AbortSignal, deadlineAt: number) => {
    vi.setSystemTime(Date.now() + 3000)
    await new Promise((resolve) => setTimeout(resolve, 1000))
    if (Date.now() > deadlineAt) throw new RpcError('no answer', { code: GrpcCode.DEADLINE_EXCEEDED })
  }
  const answer = withEngineWatchdog(pinged(pauseProcess).rpc, aCall(), answeredAfter(3500))

  await vi.advanceTimersByTimeAsync(3500)

  expect(await answer).toBe('answer')
})

test('withEngineWatchdog: an engine that rejects the ping is alive', async () => {
  const rejecting = () => Promise.reject(new RpcError('too many', { code: GrpcCode.RESOURCE_EXHAUSTED }))
  const answer = withEngineWatchdog(pinged(rejecting).rpc, aCall(), answeredAfter(10_000))

  await vi.advanceTimersByTimeAsync(10_000)

  expect(await answer).toBe('answer')
})

test('withEngineWatchdog: aborts the call at once if its signal has aborted before', async () => {
  const answer = withEngineWatchdog(pinged(ALIVE).rpc, aCall({ signal: AbortSignal.abort() }), answeredAfter(60_000))

  await expect(answer).rejects.toThrow('aborted')
})

test('withEngineWatchdog: aborts a ping without a response when the call has ended', async () => {
  let ofPing: AbortSignal | undefined
  const { rpc } = pinged((signal) => {
    ofPing = signal
    return HANGING(signal)
  })
  const answer = withEngineWatchdog(rpc, aCall(), answeredAfter(3000))

  await vi.advanceTimersByTimeAsync(3000)

  expect([await answer, ofPing?.aborted, vi.getTimerCount()]).toEqual(['answer', true, 0])
})
