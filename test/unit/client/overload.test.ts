/** How a client behaves while the service is overloaded. The clock is virtual. */
import { expect, test, vi } from 'vitest'
import { createInFlightLimit } from '../../../src/service/http/pipeline/places.ts'
import { clientOf, clientWith, ok, problem, resetBeforeEach, sent } from './scripted-service.ts'

resetBeforeEach()

const OVERLOADED = problem(503, 'OverloadedError', {}, { 'Retry-After': '1' })

/** A service with `places` and a queue for them, whose engine takes `workMs` for each start, one after another. */
function serviceWith(places: number, workMs: number, hasQueue = true) {
  const limit = createInFlightLimit(places, null)
  let freeAt = 0
  return clientWith(async (request) => {
    const place = limit.take() ?? (hasQueue ? await limit.wait()?.place : null)
    if (!place) return OVERLOADED(request)
    freeAt = Math.max(freeAt, Date.now()) + workMs
    await new Promise((resolve) => setTimeout(resolve, freeAt - Date.now()))
    place.leave()
    return Response.json({ workflowId: 'x', runId: 'r' })
  })
}

test.for([
  [16, 6, 'no queue'],
  [64, 6, 'no queue'],
  [64, 6, 'a queue'],
  [64, 50, 'a queue'],
] as const)(
  '500 starts at once: all succeed about as fast as the engine allows: %i places, %i ms, %s',
  async (service) => {
    const [places, workMs, queue] = service
    const client = serviceWith(places, workMs, queue === 'a queue')
    const beganAt = Date.now()
    let endedAt = 0

    const starts = Array.from({ length: 500 }, () => client.start('order').finally(() => (endedAt = Date.now())))
    await vi.advanceTimersByTimeAsync(60_000)
    await Promise.all(starts)

    expect(endedAt - beganAt).toBeLessThan(2 * 500 * workMs)
    expect(sent.length).toBeLessThan(2.2 * 500)
  },
)

test('an overloaded service: no request takes the turn of one that waits for Retry-After', async () => {
  const client = clientOf([OVERLOADED])
  for (let count = 0; count < 200; count++) void client.start('order').catch(() => null)

  await vi.advanceTimersByTimeAsync(900)
  const late = client.start('order').catch((error) => error)
  const first = sent.length
  await vi.advanceTimersByTimeAsync(10_000)
  const later = sent.length - first
  await vi.advanceTimersByTimeAsync(60_000)

  expect(first).toBe(200)
  expect(later).toBeLessThan(10 * 32)
  expect(await late).toMatchObject({ error: 'OverloadedError' })
})

test('an overloaded service: a request is sent again after Retry-After, however often it was rejected', async () => {
  const status = clientOf([...Array(10).fill(OVERLOADED), ok({ runId: 'r' })]).status('x')

  await vi.advanceTimersByTimeAsync(10_100)

  expect(await status).toEqual({ runId: 'r' })
})

test('an overloaded service: a request waits for its turn for longer than retryMs while others get theirs', async () => {
  const client = serviceWith(4, 500)
  const starts = Array.from({ length: 200 }, () => client.start('order'))

  await vi.advanceTimersByTimeAsync(300_000)

  expect(await Promise.all(starts)).toHaveLength(200)
})
