import { type Call, withTimeout } from '../call.ts'
import { TIMEOUT_MS } from '../deadlines.ts'
import type { Engine } from '../engine.ts'
import type { Ports } from '../ports.ts'
import type { Capabilities } from '../workflows.ts'

export async function readCapabilities(
  { engine, deployment }: Pick<Ports, 'deployment' | 'engine'>,
  call: Call,
): Promise<Capabilities> {
  const { version, runtime, transport, uiUrl } = deployment
  const features = {
    ...deployment.features,
    slashInIds: deployment.features.slashInIds.supported,
    updateWithStart: deployment.features.updateWithStart.supported,
    asyncUpdates: deployment.features.asyncUpdates.supported,
  }
  return { version, runtime, transport, engine: { version: await engineVersion(engine, call), uiUrl }, features }
}

async function engineVersion(engine: Engine, call: Call): Promise<string | null> {
  try {
    return (await engine.ping(withTimeout(call, TIMEOUT_MS.engineVersion))).version
  } catch {
    call.note({ engineVersion: 'unknown: the engine is not responding' })
    return null
  }
}
