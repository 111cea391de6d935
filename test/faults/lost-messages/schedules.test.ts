/** The response to a request about a schedule is lost: what can be repeated is, and nothing is done twice. */
import { describe, expect } from 'vitest'
import { aSchedule, scheduleCalls } from '../../conformance/schedules.ts'
import type { Answer } from '../../support/api.ts'
import { test } from '../../support/fixtures.ts'
import { sendOverFaultProxy } from './fixture.ts'

describe.for(['grpc', 'http'] as const)('lost answers about schedules over %s', (transport) => {
  const { proxy, api } = sendOverFaultProxy(transport)

  /** Sends a request whose first attempts meet a fault. */
  async function faulted(
    method: string,
    id: string,
    fault: 'lost' | 'dropped',
    send: () => Promise<Answer>,
    times = 1,
  ) {
    let attempts = 0
    const count = async () => attempts++
    const takeBack = proxy.on({
      method,
      containing: id,
      fault: fault === 'lost' ? { lost: count } : { dropped: count },
      times,
    })
    const { status, body, headers } = await send()
    takeBack()
    return [status, body.error, headers.get('Retry-After'), attempts]
  }

  test('a PUT and a DELETE are sent again, and done once', async () => {
    for (const fault of ['lost', 'dropped'] as const) {
      const { id, put, get, remove } = scheduleCalls(api)
      const done = (status: number) => [status, undefined, null, 1]

      expect(await faulted('CreateSchedule', id, fault, () => put(aSchedule(), { 'If-None-Match': '*' }))).toEqual(
        done(201),
      )
      const { version } = (await get()).body
      const next = () => put(aSchedule({ note: fault }), { 'If-Match': `"${version}"` })
      expect(await faulted('UpdateSchedule', id, fault, next)).toEqual(done(200))
      expect((await get()).body.note).toBe(fault)
      expect(await faulted('UpdateSchedule', id, fault, () => put(aSchedule({ note: 'again' })))).toEqual(done(200))
      expect(await faulted('DeleteSchedule', id, fault, remove)).toEqual(done(200))
      expect((await get()).status).toBe(404)
    }
  })

  test('a PUT that has no response is 503, and can be repeated, also with the version that it has replaced', async () => {
    const { id, put, get } = scheduleCalls(api)
    const { version } = (await put()).body
    const next = () => put(aSchedule({ note: 'next' }), { 'If-Match': `"${version}"` })

    const [status, error, retryAfter] = await faulted('UpdateSchedule', id, 'lost', next, 9)

    expect([status, error, retryAfter]).toEqual([503, 'EngineUnavailableError', '1'])
    expect((await get()).body.note).toBe('next')
    expect((await next()).status).toBe(200)
    expect((await put(aSchedule({ note: 'other' }), { 'If-Match': `"${version}"` })).status).toBe(412)
  })

  test('a trigger and a backfill are not sent again: 424 says that they may have been carried out', async () => {
    const { id, put, get, post } = scheduleCalls(api)
    await put(aSchedule({ paused: true, overlap: 'allow-all' }))
    const unknown = [424, 'OutcomeUnknownError', null, 1]
    const range = { from: '2026-01-01T00:00:00Z', until: '2026-01-01T00:30:00Z' }
    const hasRunOnce = () => expect.poll(async () => (await get()).body.info.runs).toBe(1)

    expect(await faulted('PatchSchedule', id, 'lost', () => post('trigger'), 9)).toEqual(unknown)
    // A scheduler forgets a patch that it has not read when the next one comes.
    await hasRunOnce()
    expect(await faulted('PatchSchedule', id, 'dropped', () => post('backfill', range), 9)).toEqual(unknown)
    expect(await faulted('PatchSchedule', id, 'lost', () => post('pause'))).toEqual([200, undefined, null, 1])

    await hasRunOnce()
  })
})
