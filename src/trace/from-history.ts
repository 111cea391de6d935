import type { Engine } from '../domain/engine.ts'
import type { TraceSource } from '../domain/traces.ts'
import type { TraceEntry } from '../protocol/trace-entry.ts'

/** The engine's own event history: there for every workflow of every SDK, running ones too. */
export function tracesFromHistory(engine: Engine): TraceSource {
  return {
    name: 'history',
    async find(run, call) {
      const entries: TraceEntry[] = []
      for await (const entry of engine.entries(run, call)) entries.push(entry)
      return { entries }
    },
  }
}
