import { type RememberOptions, remember } from '../../lib/read-through-cache.ts'
import { sharedCall } from '../call.ts'
import type { Engine, EngineReadiness } from '../engine.ts'

// The wire contract allows 2 s; with less, all is well within them of an engine's return, this answer too.
const DEADLINE_MS = 1000
const REMEMBERED_MS = 1000

/** Whether the engine can serve requests; read at most once a second. */
export function createReady(
  engine: Engine,
  options: Pick<RememberOptions<EngineReadiness>, 'sharesPending'>,
): () => Promise<EngineReadiness> {
  const read = () =>
    engine
      .readiness(sharedCall('ready', DEADLINE_MS))
      // Its client could not be loaded: the requests that meet this have it in their log lines.
      .catch((): EngineReadiness => 'unreachable')
  const readings = remember({ ...options, read, ttlMs: REMEMBERED_MS, maxKeys: 1 })
  return async () => (await readings('engine')).value
}
