import { type OnCacheRead, readThroughCache } from '../../shared/lib/cache.ts'
import { backgroundCall } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import type { Engine, EngineReadiness } from '../model/engine.ts'

export interface ReadinessOptions {
  engine: Pick<Engine, 'readiness'>
  onCacheRead: OnCacheRead | undefined
}

/**
 * Returns the function that checks whether the engine can serve requests. It calls the engine at most once a second.
 */
export function createReadiness({ engine, onCacheRead }: ReadinessOptions): () => Promise<EngineReadiness> {
  const read = () =>
    engine
      .readiness(backgroundCall('ready', TIMEOUT_MS.readiness))
      // The engine client could not be loaded. The requests that fail because of it log the reason.
      .catch((): EngineReadiness => 'unreachable')
  const readiness = readThroughCache({
    name: 'readiness',
    onCacheRead,
    read,
    ttlMs: TIMEOUT_MS.readinessCache,
    maxKeys: 1,
  })
  return async () => (await readiness.get('engine')).value
}
