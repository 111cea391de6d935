import { type Call, withTimeout } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import type { Capabilities } from '../model/deployment.ts'
import type { Ports } from '../ports.ts'

export type CapabilitiesOptions = Pick<Ports, 'deployment' | 'engine' | 'engineSupport'>

export type ReadCapabilities = (call: Call) => Promise<Capabilities>

/**
 * Returns the function that describes the deployment. It always reads the engine's version, which shows whether the
 * engine responds.
 */
export function createCapabilities({ engine, deployment, engineSupport }: CapabilitiesOptions): ReadCapabilities {
  return async (call) => {
    const { version, runtime, transport, uiUrl } = deployment
    const bounded = withTimeout(call, TIMEOUT_MS.engineVersion)
    const [ping, pause, repair, schedules, standaloneActivities] = await Promise.all([
      unlessUnavailable('engineVersion', engine.ping(bounded), call),
      unlessUnavailable('pause', engineSupport.pause(bounded), call),
      unlessUnavailable('repair', engineSupport.repair(bounded), call),
      unlessUnavailable('schedules', engineSupport.schedules(bounded), call),
      unlessUnavailable('standaloneActivities', engineSupport.activities(bounded), call),
    ])
    const features = {
      ...deployment.features,
      slashInIds: deployment.features.slashInIds.supported,
      updateWithStart: deployment.features.updateWithStart.supported,
      asyncUpdates: deployment.features.asyncUpdates.supported,
      pause,
      repair,
      schedules,
      standaloneActivities,
    }
    return { version, runtime, transport, engine: { version: ping?.version ?? null, uiUrl }, features, caller: null }
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
