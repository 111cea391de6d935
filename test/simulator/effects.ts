/** What histories show of each request, by its marker. */
import type { Run } from './engine-model/run.ts'
import { recordedRun } from './recorded-runs.ts'

export interface Effect {
  /** `start`, `signal`, `update`, `reset`, `stop`, `terminate`. */
  kind: string
  run: Run
}

export function effectsIn(runs: ReadonlyMap<string, Run>): ReadonlyMap<string, readonly Effect[]> {
  const ofClients = [...runs.values()].filter(({ type }) => !type.startsWith('$'))
  const effects = ofClients.flatMap((run): [string | null, Effect][] => {
    const { firstRunId, runId, startMarker, resetMarker, messages, stops, terminatedBy } = recordedRun(run)
    const isFirst = runId === firstRunId && resetMarker === null
    return [
      ...(isFirst ? [startMarker].map((marker) => of('start', marker, run)) : []),
      ...messages.map(({ kind, marker }) => of(kind, marker, run)),
      ...stops.map((marker) => of('stop', marker, run)),
      of('terminate', terminatedBy, run),
      of('reset', resetMarker, run),
    ]
  })
  const byMarker = new Map<string, Effect[]>()
  for (const [marker, effect] of effects)
    if (marker !== null) byMarker.set(marker, [...(byMarker.get(marker) ?? []), effect])
  return byMarker
}

function of(kind: string, marker: string | null, run: Run): [string | null, Effect] {
  return [marker, { kind, run }]
}
