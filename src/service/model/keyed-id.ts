/** What an Idempotency-Key becomes: an id, and what is recorded about the request. */

import { sha256 } from '../../shared/lib/digest.ts'
import { canonicalJson, isObject } from '../../shared/lib/json.ts'
import { newId } from '../../shared/lib/new-id.ts'
import { IDEMPOTENCY_MEMO } from '../../shared/wire/memo-keys.ts'
import type { MessageCommand, StartCommand } from './commands.ts'

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

/** The engine keeps it with the report of an activity. */
export async function activityMarkOf(idempotencyKey: string, kind: string, activityId: string): Promise<string> {
  return keyedId(`${idempotencyKey}\n${kind}\n${activityId}`)
}

/** In the run's memo: which request has started it. */
export interface StartKey {
  /** A hash of the key, which is not recorded itself. */
  key: string
  /**
   * A hash of the request. The key is part of it, so that a reader of the memo cannot guess arguments that a codec
   * encrypts.
   */
  request: string
  /** The id of the signal or update that the start carried: a message with the key to the same handler has this id. */
  message?: string
}

/** A message that a start carries. */
export interface CarriedMessage extends MessageCommand {
  id: string
}

/** Hashes everything that decides what is started. The verb and `timeout` are not part of it. */
export async function toStartKey(
  key: string,
  { workflowName, catalog, args, options = {} }: Pick<StartCommand, 'args' | 'catalog' | 'options' | 'workflowName'>,
  message: CarriedMessage | null = null,
): Promise<StartKey> {
  const handler = message && { name: message.name, args: message.args, headers: message.headers ?? {} }
  const request = canonicalJson({ workflowName, catalog, args, options, ...(handler && { handler }) })
  const startKey = { key: await keyedId(key), request: await sha256(`${key}\n${request}`) }
  return message === null ? startKey : { ...startKey, message: message.id }
}

/** Null for a run that was started without a key. */
export function readStartKey(memo: ReadonlyMap<string, unknown>): StartKey | null {
  const value = memo.get(IDEMPOTENCY_MEMO)
  if (!isObject(value)) return null
  const { key, request, message } = value
  if (typeof key !== 'string' || typeof request !== 'string') return null
  return { key, request, ...(typeof message === 'string' && { message }) }
}
