/** How a client behaves while the service is overloaded. The clock is virtual. */
import { expect, test, vi } from 'vitest'
import { clientOf, clientWith, ok, problem, resetBeforeEach, sent } from './scripted-service.ts'

resetBeforeEach()

const OVERLOADED = problem(503, 'OverloadedError', {}, { 'Retry-After': '1' })

/** A service with `places`, whose engine takes `workMs` for each start, one after another. */
function serviceWith(places: number, workMs: number) {
  let inFlight = 0
  let freeAt = 0
  return clientWith(async (request) => {
    if (inFlight >= places) return OVERLOADED(request)
    inFlight++
    freeAt = Math.max(freeAt, Date.now()) + workMs
    await new Promise((resolve) => setTimeout(resolve, freeAt - Date.now()))
    inFlight--
    return Response.json({ workflowId: 'x', runId: 'r' })
  })
}

test.for([16, 64, 256])(
  '500 starts at once: all succeed, almost as fast as the engine allows: %i places',
  async (places) => {
    const client = serviceWith(places, 6)
    const beganAt = Date.now()
    let endedAt = 0

    const starts = Array.from({ length: 500 }, () => client.start('order').finally(() => (endedAt = Date.now())))
    await vi.advanceTimersByTimeAsync(60_000)
    await Promise.all(starts)

    expect(endedAt - beganAt).toBeLessThan(2 * 500 * 6)
    expect(sent.length).toBeLessThan(2.2 * 500)
  },
)

test('an overloaded service: a request is sent again after Retry-After, however often it was rejected', async () => {
  const status = clientOf([...Array(10).fill(OVERLOADED), ok({ runId: 'r' })]).status('x')

  await vi.advanceTimersByTimeAsync(10_100)

  expect(await status).toEqual({ runId: 'r' })
})

test('an overloaded service: the time in which a request waits for its turn does not count as retryMs', async () => {
  const client = serviceWith(4, 500)
  const starts = Array.from({ length: 200 }, () => client.start('order'))

  await vi.advanceTimersByTimeAsync(300_000)

  expect(await Promise.all(starts)).toHaveLength(200)
})
