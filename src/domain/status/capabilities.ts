import { type Call, within } from '../call.ts'
import { TIMEOUT_MS } from '../deadlines.ts'
import type { Engine } from '../engine.ts'
import type { Capabilities, Deployment } from '../workflows.ts'

/** What this deployment is made of, and can do. */
export async function readCapabilities(engine: Engine, deployment: Deployment, call: Call): Promise<Capabilities> {
  const { version, runtime, transport } = deployment
  const features = {
    ...deployment.features,
    slashInIds: deployment.features.slashInIds.supported,
    updateWithStart: deployment.features.updateWithStart.supported,
  }
  return { version, runtime, transport, engine: { version: await engineVersion(engine, call) }, features }
}

async function engineVersion(engine: Engine, call: Call): Promise<string | null> {
  try {
    return (await engine.ping(within(call, TIMEOUT_MS.engineVersion))).version
  } catch {
    call.note({ engineVersion: 'unknown: the engine does not answer' })
    return null
  }
}
