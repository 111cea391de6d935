/** What is recorded about the `Idempotency-Key` of a start, and what a repeat of the start does. */
import { canonicalJson } from '../../lib/canonical-json.ts'
import { isObject } from '../../lib/is-object.ts'
import { sha256 } from '../../lib/sha256.ts'
import { IDEMPOTENCY_MEMO } from '../../protocol/memo-keys.ts'
import { keyedId } from '../model/keyed-id.ts'
import type { ConflictPolicy } from '../model/workflow-options.ts'
import type { MessageCommand, StartCommand } from '../model/workflows.ts'

/** In the run's memo: which request has started it. */
export interface StartKey {
  /** Stands for the key, which is not recorded. */
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

/** Everything of the request that decides what is started. The verb and `timeout` are not part of it. */
export async function toStartKey(
  key: string,
  { workflowName, catalog, args, options = {} }: StartCommand,
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

/** A start that was only to use an unused id, and has failed. */
export interface FailedStart {
  sent: StartKey
  /** The latest run of the workflow id. */
  found: { startKey: StartKey | null; open: boolean }
  /**
   * Whether it failed because the id is used. Otherwise it may have been carried out, or the catalog rejects it now.
   */
  isIdUsed: boolean
  /** What the request wants if a run is open that another request has started. */
  conflictPolicy: ConflictPolicy
}

/**
 * `return run`: the run that an earlier request with the key has started. `reject key`: that was another request.
 * `start`: the id belongs to other requests, so that the policies of this one apply. `throw`: the error of the start.
 */
export type StepAfterFailure = 'return run' | 'reject key' | 'start' | 'throw'

export function stepAfterFailure({ sent, found, isIdUsed, conflictPolicy }: FailedStart): StepAfterFailure {
  const { startKey, open } = found
  if (startKey?.key === sent.key) return startKey.request === sent.request ? 'return run' : 'reject key'
  if (!isIdUsed || (open && conflictPolicy === 'fail')) return 'throw'
  return 'start'
}
