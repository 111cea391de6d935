import { type ReadThroughCacheOptions, readThroughCache } from '../../lib/read-through-cache.ts'
import { backgroundCall } from '../call.ts'
import { TIMEOUT_MS } from '../deadlines.ts'
import type { Engine, EngineReadiness } from '../engine.ts'

/** Whether the engine can serve requests; read at most once a second. */
export function createReady(
  engine: Engine,
  options: Pick<ReadThroughCacheOptions<EngineReadiness>, 'sharesPending'>,
): () => Promise<EngineReadiness> {
  const read = () =>
    engine
      .readiness(backgroundCall('ready', TIMEOUT_MS.readiness))
      // Its client could not be loaded: the requests that meet this have it in their log lines.
      .catch((): EngineReadiness => 'unreachable')
  const readings = readThroughCache({ ...options, read, ttlMs: TIMEOUT_MS.readinessCache, maxKeys: 1 })
  return async () => (await readings.get('engine')).value
}
