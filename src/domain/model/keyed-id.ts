import { newId } from '../../lib/new-id.ts'
import { sha256 } from '../../lib/sha256.ts'

/**
 * The id for an `Idempotency-Key`, which is also the workflow id of a start that names none. It is derived from the key
 * alone, so that every replica uses the same one.
 */
export async function keyedId(key: string): Promise<string> {
  return `key-${(await sha256(key)).slice(0, 32)}`
}

/** The engine carries out one update of a run for each id. Each handler has keys of its own. */
export async function updateIdOf(idempotencyKey: string | undefined, handler: string): Promise<string> {
  return idempotencyKey === undefined ? newId() : keyedId(`${idempotencyKey}\nupdate\n${handler}`)
}

/** A run receives one signal for each id. */
export async function signalIdOf(idempotencyKey: string, handler: string): Promise<string> {
  return keyedId(`${idempotencyKey}\nsignal\n${handler}`)
}
