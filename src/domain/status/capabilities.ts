import { type Call, withTimeout } from '../call.ts'
import { TIMEOUT_MS } from '../deadlines.ts'
import type { Ports } from '../ports.ts'
import type { Capabilities } from '../workflows.ts'

export async function readCapabilities(
  { engine, deployment }: Pick<Ports, 'deployment' | 'engine'>,
  call: Call,
): Promise<Capabilities> {
  const { version, runtime, transport, uiUrl } = deployment
  const bounded = withTimeout(call, TIMEOUT_MS.engineVersion)
  const [ping, pause] = await Promise.all([
    unlessUnavailable('engineVersion', engine.ping(bounded), call),
    unlessUnavailable('pause', engine.pauseSupported(bounded), call),
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

/** Null if the engine does not respond, or does not say it to this service. */
async function unlessUnavailable<T>(name: string, read: Promise<T>, call: Call): Promise<T | null> {
  try {
    return await read
  } catch (error) {
    call.note({ [name]: `unknown: ${error instanceof Error ? error.message : 'the engine is not responding'}` })
    return null
  }
}
