import { describe, expect, test } from 'vitest'
import type { Call } from '../../src/service/model/call.ts'
import { ServiceError } from '../../src/service/model/errors.ts'
import type { TracedRun, TraceSource } from '../../src/service/model/trace-source.ts'
import { type TraceDocument, toTraceDocument } from '../../src/shared/wire/trace/document.ts'
import type { TraceEntry } from '../../src/shared/wire/trace/entry.ts'

/** A place with stored traces, and how others put them there. */
export interface Place {
  /** Takes traces of 100 000 bytes. */
  source: TraceSource
  /** Where the trace of a run is said to be. */
  destinations(runId: string): Awaited<ReturnType<TracedRun['destinations']>>
  put(runId: string, text: string): Promise<void>
}

export function traceCall(overrides: Partial<Call> = {}): Call {
  return {
    signal: new AbortController().signal,
    deadlineAt: Date.now() + 3000,
    requestId: 'test',
    note() {},
    reportError() {},
    audit() {},
    addDecision: () => () => {},
    startWaiting() {},
    warnOfOutput() {},
    warn() {},
    ...overrides,
  }
}

export function tracedRun(overrides: Partial<TracedRun> = {}): TracedRun {
  return {
    workflowId: 'orders-17',
    runId: 'run-1',
    isOpen: false,
    startedAt: new Date(1000),
    completedAt: new Date(2000),
    destinations: async () => ({}),
    ...overrides,
  }
}

/** A run with a span in it. */
export function storedEntries({ runId = 'run-1', ended = true } = {}): TraceEntry[] {
  const run = { id: runId, parentId: null, kind: 'workflow', name: 'order' }
  const span = { id: `${runId}:span:1`, parentId: `${runId}:step:1`, kind: 'llm', name: 'summarise' }
  return [
    { ...run, at: 1000, phase: 'began', input: { ü: [1, null] } },
    { ...span, at: 1100, phase: 'began', input: 'long' },
    { ...span, at: 1200, phase: 'ended', output: 'short', attributes: { tokens: 7 } },
    ...(ended ? [{ ...run, at: 2000, phase: 'ended' as const, output: JSON.parse('{"__proto__":1}') }] : []),
  ]
}

export function storedDocument({ runId = 'run-1', ...overrides }: Partial<TraceDocument> = {}): string {
  const document = { namespace: 'default', workflowId: 'orders-17', runId, entries: storedEntries({ runId }) }
  return toTraceDocument({ ...document, ...overrides })
}

/** What every source of stored traces must do. */
export function describeStoredTraces(name: string, locate: () => Place): void {
  describe(`stored traces: ${name}`, () => {
    const runOf = (runId: string, overrides: Partial<TracedRun> = {}) =>
      tracedRun({ runId, destinations: async () => locate().destinations(runId), ...overrides })
    const find = (runId: string, overrides?: Partial<TracedRun>) =>
      locate().source.find(runOf(runId, overrides), traceCall())
    const stored = async (text: (runId: string) => string) => {
      const runId = crypto.randomUUID()
      await locate().put(runId, text(runId))
      return runId
    }
    const document = (runId: string) => storedDocument({ runId })
    const rejection = (runId: string) =>
      find(runId).then(
        () => Promise.reject(new Error('not rejected')),
        (error: unknown) => (error instanceof ServiceError ? error.message : Promise.reject(error)),
      )

    test('returns the stored trace completely', async () => {
      const runId = await stored(document)

      const { localPath: _, ...found } = (await find(runId)) ?? {}
      expect(found).toEqual({ entries: storedEntries({ runId }), whole: true, warnings: [] })
    })

    test('returns null for an open run without a stored trace', async () => {
      expect(await find('not-there', { isOpen: true })).toBeNull()
    })

    test('a stored trace without the end of the run is incomplete', async () => {
      const runId = await stored((id) =>
        storedDocument({ runId: id, entries: storedEntries({ runId: id, ended: false }) }),
      )

      expect((await find(runId))?.whole).toBe(false)
    })

    test('a stored trace of another run is rejected', async () => {
      for (const other of [{ namespace: 'other' }, { workflowId: 'orders-18' }, { runId: crypto.randomUUID() }]) {
        const runId = await stored((id) => storedDocument({ runId: id, ...other }))

        expect(await rejection(runId)).toBe('The stored trace belongs to another run')
      }
    })

    test('data that is not a trace is rejected, and the error shows nothing of it', async () => {
      for (const text of ['', 'secret', '{"secret":', '[]', '{"portico":"trace","version":99}', `${'['.repeat(5000)}`])
        expect(await rejection(await stored(() => text))).toBe('The stored data is not a Portico trace')
    })

    test('invalid entries are skipped and counted', async () => {
      const runId = await stored((id) => document(id).replace('"entries":[', '"entries":[null,{"id":7},'))

      expect(await find(runId)).toMatchObject({
        entries: storedEntries({ runId }),
        warnings: ['2 of the stored entries could not be read'],
      })
    })

    test('a trace above the size limit is rejected', async () => {
      const runId = await stored((id) => document(id) + ' '.repeat(100_001))

      expect(await rejection(runId)).toMatch(/(is larger|returned more) than 100000 bytes/)
    })

    test('an aborted read rejects with the reason of the caller', async () => {
      const runId = await stored(document)
      const signal = AbortSignal.abort(new Error('left'))

      await expect(locate().source.find(runOf(runId), traceCall({ signal }))).rejects.toThrow('left')
    })
  })
}
