import type { Call } from '../model/call.ts'
import type { UpdateState } from '../model/engine.ts'
import type { Ports } from '../model/ports.ts'
import { assertSupported } from '../model/supported-feature.ts'
import type { ReadUpdateCommand } from '../model/workflows.ts'

export async function readUpdate(
  { engine, deployment }: Pick<Ports, 'deployment' | 'engine'>,
  { ref, name, updateId, waitMs }: ReadUpdateCommand,
  call: Call,
): Promise<UpdateState> {
  assertSupported(deployment.features, 'asyncUpdates')
  return engine.pollUpdate(ref, { name, updateId }, waitMs, call)
}
