import type { Call } from '../call.ts'
import type { UpdateState } from '../engine.ts'
import type { Ports } from '../ports.ts'
import { assertSupported } from '../supported-feature.ts'
import type { ReadUpdateCommand } from '../workflows.ts'

export async function readUpdate(
  { engine, deployment }: Pick<Ports, 'deployment' | 'engine'>,
  { ref, name, updateId, waitMs }: ReadUpdateCommand,
  call: Call,
): Promise<UpdateState> {
  assertSupported(deployment.features, 'asyncUpdates')
  return engine.pollUpdate(ref, { name, updateId }, waitMs, call)
}
