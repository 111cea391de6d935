import type { RunningEngine } from '../../../dev/servers/engine.ts'
import type { Exchange, Target } from './load.ts'
import type { Scenario } from './scenarios.ts'
import type { RunningTarget } from './targets.ts'

/** One of the servers that a scenario measures in turns. */
export interface Contender {
  name: string
  target: Target
  next: () => Exchange
}

export const SDK = 'SDK execute on node'
export const ENGINE_HTTP = "Temporal's HTTP API"

/** The bare server on the same runtime; null for a target that is not ours. */
export function floorOf(name: string): string | null {
  if (name === SDK) return 'floor on node'
  return name.startsWith('portico') ? name.replace('portico', 'floor') : null
}

export function contendersFor(
  { next, sdk, engineHttp }: Scenario,
  targets: readonly RunningTarget[],
  engine: RunningEngine,
): Contender[] {
  const own = targets.map((target) => ({ name: target.name, target, next }))
  const floor = targets.find(({ name }) => name === floorOf(SDK))
  const port = Number(new URL(engine.httpUrl).port)
  return [
    ...own,
    ...(sdk && floor ? [{ name: SDK, target: floor, next: sdk }] : []),
    ...(engineHttp ? [{ name: ENGINE_HTTP, target: { port, pid: engine.pid }, next: engineHttp }] : []),
  ]
}
