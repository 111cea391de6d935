import { beforeAll, describe, expect, test } from 'vitest'
import type { Call } from '../../src/domain/call.ts'
import { ServiceError } from '../../src/domain/errors.ts'
import type { TracedRun, TraceSource } from '../../src/domain/traces.ts'
import { toTraceDocument } from '../../src/protocol/trace-document.ts'
import type { TraceEntry } from '../../src/protocol/trace-entry.ts'

/** A place with stored traces, and how others put them there. */
export interface Place {
  /** Takes traces of 100 000 bytes. */
  source: TraceSource
  /** Where the trace of a run is said to be. */
  destinations(workflowId: string): Awaited<ReturnType<TracedRun['destinations']>>
  put(workflowId: string, text: string): Promise<void>
}

export function traceCall(overrides: Partial<Call> = {}): Call {
  return { signal: new AbortController().signal, deadlineAt: Date.now() + 3000, requestId: 'test', note() {}, warn() {}, ...overrides }
}

/** The first run of its chain is called `run-1`. */
export function tracedRun(workflowId: string, overrides: Partial<TracedRun> = {}): TracedRun {
  const run: TracedRun = {
    workflowId,
    runId: 'run-1',
    firstRunId: 'run-1',
    workflowName: 'order',
    catalog: 'orders',
    status: 'completed',
    parent: null,
    memo: new Map(),
    startedAt: new Date(1000),
    completedAt: new Date(2000),
    historyLength: 3,
    pinnedVersion: null,
    root: async () => run,
    destinations: async () => ({}),
    ...overrides,
  }
  return run
}

/** A run with a span in it. */
export function storedEntries({ ended = true } = {}): TraceEntry[] {
  const run = { id: 'run-1', parentId: null, kind: 'workflow', name: 'order' }
  const span = { id: 'run-1:span:1', parentId: 'run-1:step:1', kind: 'llm', name: 'summarise' }
  return [
    { ...run, at: 1000, phase: 'began', input: { ü: [1, null] } },
    { ...span, at: 1100, phase: 'began', input: 'long' },
    { ...span, at: 1200, phase: 'ended', output: 'short', attributes: { tokens: 7 } },
    ...(ended ? [{ ...run, at: 2000, phase: 'ended' as const, output: JSON.parse('{"__proto__":1}') }] : []),
  ]
}

/** What every source of stored traces must do. */
export function describeStoredTraces(name: string, make: () => Promise<Place>): void {
  describe(`stored traces: ${name}`, () => {
    let place: Place
    beforeAll(async () => {
      place = await make()
    })

    const runOf = (workflowId: string, overrides: Partial<TracedRun> = {}) =>
      tracedRun(workflowId, { destinations: async () => place.destinations(workflowId), ...overrides })
    const find = (workflowId: string, overrides?: Partial<TracedRun>) => place.source.find(runOf(workflowId, overrides), traceCall())
    const document = (workflowId: string, entries = storedEntries()) => toTraceDocument({ workflowId, rootRunId: 'run-1', entries })
    const stored = async (text: (workflowId: string) => string, workflowId = `orders-${crypto.randomUUID()}`) => {
      await place.put(workflowId, text(workflowId))
      return workflowId
    }
    const refusal = (workflowId: string, overrides?: Partial<TracedRun>) =>
      find(workflowId, overrides).then(
        () => Promise.reject(new Error('not refused')),
        (error: unknown) => (error instanceof ServiceError ? error.message : Promise.reject(error)),
      )

    test('gives back what was stored, whole', async () => {
      expect(await find(await stored(document))).toEqual({ entries: storedEntries(), whole: true, warnings: [] })
    })

    test('finds the trace of any workflow id', async () => {
      for (const id of ['orders/17', '../orders', '..', 'a b+c%2F', 'ünï\u{1F680}', '~', '*?"<>|:\\', 'x'.repeat(1000)]) {
        const workflowId = await stored(document, `${id} ${crypto.randomUUID()}`.slice(0, 1000))

        expect((await find(workflowId))?.entries).toEqual(storedEntries())
      }
    })

    test('has nothing of a run that is still open and not stored', async () => {
      expect(await find('not-there', { status: 'running' })).toBeNull()
    })

    test('what does not tell the end of the run is a part', async () => {
      const half = await stored((workflowId) => document(workflowId, storedEntries({ ended: false })))
      const whole = await stored(document)

      expect((await find(half))?.whole).toBe(false)
      expect((await find(whole, { runId: 'run-2' }))?.whole).toBe(false)
      expect((await find(whole, { status: 'running' }))?.whole).toBe(false)
    })

    test('a child is told from its root’s trace: its run, what is below it, and nothing else', async () => {
      const step = { kind: 'step', name: 'pack', at: 1500, phase: 'began' as const }
      const link = { parentId: 'run-1:child:5', kind: 'workflow', name: 'ship', phase: 'began' as const }
      const ofChild = [
        { ...link, id: 'child-1', at: 1300 },
        { ...link, id: 'child-2', at: 1400 },
      ]
      const belowIt = [
        { ...step, id: 'child-2:span:1', parentId: 'child-2:step:1' },
        { ...step, id: 'child-2:step:1', parentId: 'child-2' },
      ]
      const root = tracedRun(await stored((id) => document(id, [...belowIt, ...storedEntries(), ...ofChild])))
      const child = (runId: string) => runOf(root.workflowId, { workflowId: 'child', runId, firstRunId: 'child-1', root: async () => root })

      const found = await place.source.find(child('child-2'), traceCall())

      expect(found?.entries.toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))).toEqual([
        ...ofChild.map((entry) => ({ ...entry, parentId: null })),
        ...belowIt,
      ])
      expect(found?.whole).toBe(false)
      expect(await place.source.find(child('child-3'), traceCall())).toBeNull()
    })

    test('the trace of another workflow is not given out', async () => {
      const workflowId = await stored(() => document('another'))

      expect(await refusal(workflowId)).toBe('What is stored there is the trace of another workflow')
    })

    test('what is no trace is refused, and nothing of it shown', async () => {
      for (const text of ['', 'secret', '{"secret":', '[]', '{"portico":"trace","version":99}', `${'['.repeat(5000)}`])
        expect(await refusal(await stored(() => text))).toBe('What is stored there is no trace of this protocol')
    })

    test('entries that are none are left out and counted', async () => {
      const workflowId = await stored((id) => document(id).replace('"entries":[', '"entries":[null,{"id":7},'))

      expect(await find(workflowId)).toEqual({
        entries: storedEntries(),
        whole: true,
        warnings: ['2 of the stored entries could not be read'],
      })
    })

    test('what is too large is refused', async () => {
      const workflowId = await stored((id) => document(id) + ' '.repeat(100_001))

      expect(await refusal(workflowId)).toMatch(/has more than 100000 bytes/)
    })

    test('a caller who has left ends the reading with their own reason', async () => {
      const workflowId = await stored(document)
      const signal = AbortSignal.abort(new Error('left'))

      await expect(place.source.find(runOf(workflowId), traceCall({ signal }))).rejects.toThrow('left')
    })
  })
}
