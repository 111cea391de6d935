import { type OnCacheRead, readThroughCache } from '../../shared/lib/cache.ts'
import { backgroundCall, type Call, withinCall } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import type { Engine } from '../model/engine.ts'

/** What not every engine can do. Cached for a minute; a failed read is not kept. */
export interface EngineSupport {
  pause(call: Call): Promise<boolean>
  repair(call: Call): Promise<boolean>
  schedules(call: Call): Promise<boolean>
  activities(call: Call): Promise<boolean>
}

export interface EngineSupportOptions {
  engine: Pick<Engine, 'activitiesSupported' | 'pauseSupported' | 'repairSupported' | 'schedulesSupported'>
  now?: (() => number) | undefined
  onCacheRead: OnCacheRead | undefined
}

// Settings of the namespace and the version of the engine, which hardly ever change.
const TTL_MS = 60_000

export function createEngineSupport({ engine, now = Date.now, onCacheRead }: EngineSupportOptions): EngineSupport {
  function cached(name: string, isSupported: (call: Call) => Promise<boolean>): EngineSupport[keyof EngineSupport] {
    const support = readThroughCache({
      name,
      read: () => isSupported(backgroundCall('capabilities', TIMEOUT_MS.engineVersion)),
      ttlMs: TTL_MS,
      maxKeys: 1,
      now,
      onCacheRead,
    })
    return async (call) => (await withinCall(support.get(''), call)).value
  }

  return {
    pause: cached('pause_support', (call) => engine.pauseSupported(call)),
    repair: cached('repair_support', (call) => engine.repairSupported(call)),
    schedules: cached('schedule_support', (call) => engine.schedulesSupported(call)),
    activities: cached('activity_support', (call) => engine.activitiesSupported(call)),
  }
}
