import { type OnCacheRead, readThroughCache } from '../../lib/cache.ts'
import { backgroundCall, type Call, withTimeout } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import type { Capabilities } from '../model/deployment.ts'
import type { Ports } from '../model/ports.ts'
import { withinCall } from '../model/share-calls.ts'

export interface CapabilitiesOptions extends Pick<Ports, 'deployment' | 'engine' | 'now'> {
  sharesPending: boolean
  onCacheRead: OnCacheRead | undefined
}

// A setting of the namespace, which hardly ever changes.
const PAUSE_TTL_MS = 60_000

/**
 * Returns the function that describes the deployment. It always reads the engine's version, which shows whether the
 * engine responds.
 */
export function createCapabilities({
  engine,
  deployment,
  now = Date.now,
  sharesPending,
  onCacheRead,
}: CapabilitiesOptions): (call: Call) => Promise<Capabilities> {
  const pauseSupport = readThroughCache({
    name: 'pause_support',
    read: () => engine.pauseSupported(backgroundCall('capabilities', TIMEOUT_MS.engineVersion)),
    ttlMs: PAUSE_TTL_MS,
    maxKeys: 1,
    now,
    sharesPending,
    onCacheRead,
  })

  async function isPauseSupported(call: Call): Promise<boolean> {
    return (await withinCall(pauseSupport.get(''), call)).value
  }

  return async (call) => {
    const { version, runtime, transport, uiUrl } = deployment
    const bounded = withTimeout(call, TIMEOUT_MS.engineVersion)
    const [ping, pause] = await Promise.all([
      unlessUnavailable('engineVersion', engine.ping(bounded), call),
      unlessUnavailable('pause', isPauseSupported(bounded), call),
    ])
    const features = {
      ...deployment.features,
      slashInIds: deployment.features.slashInIds.supported,
      updateWithStart: deployment.features.updateWithStart.supported,
      asyncUpdates: deployment.features.asyncUpdates.supported,
      pause,
    }
    return { version, runtime, transport, engine: { version: ping?.version ?? null, uiUrl }, features }
  }
}

/** Null if the engine does not respond, or rejects the call. */
async function unlessUnavailable<T>(name: string, read: Promise<T>, call: Call): Promise<T | null> {
  try {
    return await read
  } catch (error) {
    call.note({ [name]: `unknown: ${error instanceof Error ? error.message : 'the engine is not responding'}` })
    return null
  }
}
