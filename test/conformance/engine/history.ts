import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import {
  type EventPage,
  type EventsRequest,
  HISTORY_START,
  type HistoryEvent,
} from '../../../src/service/model/history-page.ts'
import type { RunRef } from '../../../src/shared/wire/run-ref.ts'
import { call, type EngineFixture, rejection } from './engine-fixture.ts'

const REQUEST: EventsRequest = {
  from: HISTORY_START,
  maxEvents: 1000,
  waitMs: 0,
  values: { payloads: true, redacted: false },
}

/** The events of a history. */
export function history(fixture: EngineFixture): void {
  const read = (run: RunRef, request: Partial<EventsRequest> = {}, signal?: AbortSignal): Promise<EventPage> =>
    fixture.engine.events(run, { ...REQUEST, ...request }, call(10_000, signal))
  const typesOf = (events: readonly HistoryEvent[]) => events.map(({ eventType }) => eventType)
  const idsOf = (events: readonly HistoryEvent[]) => events.map(({ eventId }) => eventId)
  const signal = (run: RunRef, signalName: string, payload: unknown = null) =>
    fixture.engine.signal(run, { name: signalName, args: [payload] }, call())

  /** A run of `messages` whose first workflow task has completed. */
  async function waiting(): Promise<RunRef> {
    const run = await fixture.start('messages')
    await until('it waits', async () => typesOf((await read(run)).events).includes('WorkflowTaskCompleted'))
    return run
  }

  test('events: have the engine’s names, decoded values and times, and no identity', async () => {
    const run = await fixture.start('everyKind', { a: [1, 'two'] })
    await fixture.closed(run)

    const { events, end } = await read(run)

    expect(idsOf(events)).toEqual(events.map((_, index) => index + 1))
    expect(events[0]).toMatchObject({
      eventId: 1,
      eventType: 'WorkflowExecutionStarted',
      eventTime: expect.any(Date),
      workflowType: { name: 'everyKind' },
      taskQueue: { name: fixture.taskQueue, kind: 'Normal' },
      input: [{ a: [1, 'two'] }],
      workflowTaskTimeout: '10s',
      attempt: 1,
    })
    expect(events.at(-1)).toMatchObject({ eventType: 'WorkflowExecutionCompleted', result: [{ a: [1, 'two'] }] })
    expect(typesOf(events)).toEqual(
      expect.arrayContaining(['ActivityTaskScheduled', 'TimerFired', 'ChildWorkflowExecutionCompleted']),
    )
    expect(end).toEqual({ status: 'completed', completedAt: expect.any(Date) })
    expect(JSON.stringify(events)).not.toMatch(/identity|\d+@|stackTrace/)
  })

  test('events: name no sticky queue, and failures have neither stack nor source', async () => {
    const run = await fixture.start('failWithCauses')
    await fixture.closed(run)
    const waits = await fixture.start('manySteps', { n: 1 })
    await fixture.closed(waits)

    const { events } = await read(run)
    const { events: stepped } = await read(waits)

    const sticky = stepped.map(({ taskQueue }) => taskQueue as { kind?: string; name?: string } | undefined)
    expect(sticky.filter((queue) => queue?.kind === 'Sticky').map((queue) => queue?.name)).toContain(fixture.taskQueue)
    expect(new Set(sticky.flatMap((queue) => queue?.name ?? []))).toEqual(new Set([fixture.taskQueue]))
    expect(events.at(-1)).toMatchObject({
      eventType: 'WorkflowExecutionFailed',
      failure: { message: expect.any(String), cause: { message: expect.any(String) } },
    })
    expect(JSON.stringify(events)).not.toMatch(/stack|source|workflows\.ts/)
  })

  test('events: pages of any size have every event once', async () => {
    const run = await fixture.start('manySteps', { n: 8 })
    await fixture.closed(run)
    const whole = await read(run)

    for (const maxEvents of [1, 7, 50]) {
      const pages: EventPage[] = []
      do pages.push(await read(run, { maxEvents, from: pages.at(-1)?.next ?? HISTORY_START }))
      while (pages.at(-1)?.end === null)
      expect(pages.flatMap(({ events }) => events)).toEqual(whole.events)
      expect(Math.max(...pages.map(({ events }) => events.length))).toBeLessThanOrEqual(maxEvents)
    }
  })

  test('events: the next one is waited for, and nothing is missing or doubled', async () => {
    const run = await waiting()
    const before = await read(run)

    const nothing = await read(run, { from: before.next })
    const waited = read(run, { from: before.next, waitMs: 20_000 })
    await signal(run, 'add', 1)
    const first = await waited
    await signal(run, 'finish')
    await fixture.closed(run)
    const rest: EventPage[] = [first]
    while (rest.at(-1)?.end === null)
      rest.push(await read(run, { from: rest.at(-1)?.next ?? HISTORY_START, waitMs: 20_000, maxEvents: 2 }))

    expect([nothing.events, nothing.end]).toEqual([[], null])
    expect(first.events[0]).toMatchObject({ eventType: 'WorkflowExecutionSignaled', signalName: 'add', input: [1] })
    const all = [...before.events, ...rest.flatMap(({ events }) => events)]
    expect(all).toEqual((await read(run)).events)
  })

  test('events: a position that waited also continues without waiting', async () => {
    const run = await waiting()
    const { next } = await read(run)
    const { next: waited } = await read(run, { from: next, waitMs: 1500 })

    await signal(run, 'add', 1)
    const { events } = await read(run, { from: waited })
    await fixture.engine.terminate(run, null, call())
    const { events: last, end } = await read(run, { from: waited, waitMs: 10_000 })

    expect(typesOf(events)[0]).toBe('WorkflowExecutionSignaled')
    expect(typesOf(last)[0]).toBe('WorkflowExecutionSignaled')
    expect(end?.status).toBe('terminated')
  })

  test('events: a wait ends with an empty page, also for a paused run, and when the client leaves', async () => {
    const run = await waiting()
    const identity = { namespace: 'default', workflowId: run.workflowId, identity: 'test', reason: 'a test' }
    await fixture.connection.workflowService.pauseWorkflowExecution({ ...identity, requestId: crypto.randomUUID() })
    const { next } = await read(run)
    const leaving = new AbortController()

    const paused = await read(run, { from: next, waitMs: 2500 })
    const left = read(run, { from: next, waitMs: 20_000 }, leaving.signal)
    leaving.abort()
    const afterLeaving = await left.catch((error: unknown) => error)
    const waited = read(run, { from: paused.next, waitMs: 20_000 })
    await fixture.connection.workflowService.unpauseWorkflowExecution({ ...identity, requestId: crypto.randomUUID() })

    expect([paused.events, paused.end, paused.next.after]).toEqual([[], null, next.after])
    expect(afterLeaving).toBeDefined()
    expect(typesOf((await waited).events)).toContain('WorkflowExecutionUnpaused')
    await fixture.engine.terminate(run, null, call())
  })

  test('events: a pending retry of a workflow task is not one, because its ids are used again', async () => {
    const run = await fixture.start('failTaskWithPath')
    await until(
      'its task is retried',
      async () => (await fixture.engine.describe(run, call())).failingTask !== undefined,
    )
    const { events: failing, next } = await read(run)
    await fixture.engine.terminate(run, null, call())
    const { events: rest } = await read(run, { from: next })

    expect(failing.at(-1)).toMatchObject({
      eventType: 'WorkflowTaskFailed',
      failure: { message: "can't read '<path>' of <worker>: connect ECONNREFUSED <address>" },
    })
    const all = [...failing, ...rest]
    expect(idsOf(all)).toEqual(all.map((_, index) => index + 1))
    expect(all).toEqual((await read(run)).events)
  })

  test('events: values can be left out or redacted', async () => {
    const run = await fixture.start('failWithCauses', 'confidential')
    await fixture.closed(run)

    const without = await read(run, { values: { payloads: false, redacted: false } })
    const redacted = await read(run, { values: { payloads: true, redacted: true } })

    expect(without.events[0]).not.toHaveProperty('input')
    expect(redacted.events[0]).toMatchObject({ input: ['[redacted]'] })
    expect(redacted.events.at(-1)).toMatchObject({
      failure: { message: '[redacted]', cause: { message: '[redacted]' } },
    })
    expect(JSON.stringify([without, redacted])).not.toContain('confidential')
  })

  test('events: an unknown run is not found', async () => {
    const run = { workflowId: crypto.randomUUID(), runId: crypto.randomUUID() }

    expect(await rejection(read(run))).toMatchObject({ error: 'WorkflowNotFoundError', ...run })
  })
}
