import { sha256 } from '../lib/sha256.ts'
import { newId } from './new-id.ts'

/**
 * The id that stands for an `Idempotency-Key`: of the workflow that a request without `workflowId` starts, of an update, of
 * a signal. It is derived from the key alone, so that every replica uses the same one.
 */
export async function keyedId(key: string): Promise<string> {
  return `key-${(await sha256(key)).slice(0, 32)}`
}

/** The engine carries out one update of a run for each id. */
export async function updateIdOf(idempotencyKey: string | undefined): Promise<string> {
  return idempotencyKey === undefined ? newId() : keyedId(idempotencyKey)
}
