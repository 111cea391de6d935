/** The values in a trace: encoded ones are decoded, and secrets are removed. */
import { isObject, pointerKeys } from '../../shared/lib/json.ts'
import { type EncodedPayload, ERROR_VALUES, type TraceEntry } from '../../shared/wire/trace/entry.ts'
import { redactEntry } from '../../shared/wire/trace/mask-entry.ts'
import type { Call } from '../model/call.ts'
import type { Engine } from '../model/engine.ts'
import { ServiceError } from '../model/errors.ts'

/** Decodes all encoded values in one call, and redacts the values of keys that name secrets. */
export async function decodeEntries(
  entries: readonly TraceEntry[],
  engine: Pick<Engine, 'decode'>,
  call: Call,
  warnings: Set<string>,
): Promise<TraceEntry[]> {
  const found = entries.map((entry) => ({ entry, payloads: encodedValues(entry) }))
  const payloads = found.flatMap((one) => one.payloads)
  const values = payloads.length === 0 ? [] : await decodeOrNull(payloads, engine, call, warnings)
  const next = values.values()
  return found.map(({ entry, payloads: own }) =>
    withoutSecrets(own.reduce((decoded, { path }) => put(decoded, path, next.next().value), entry)),
  )
}

interface EncodedValue {
  /** The keys that lead from the entry to the value. */
  path: string[]
  payload: EncodedPayload
}

function encodedValues(entry: TraceEntry): EncodedValue[] {
  return (entry.encoded ?? []).flatMap((pointer) => {
    const path = pointerKeys(pointer)
    const payload = path.reduce<unknown>(
      (value, key) => (value instanceof Object && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined),
      entry,
    )
    return isObject(payload) ? [{ path, payload: payload as EncodedPayload }] : []
  })
}

async function decodeOrNull(
  values: readonly EncodedValue[],
  engine: Pick<Engine, 'decode'>,
  call: Call,
  warnings: Set<string>,
): Promise<unknown[]> {
  try {
    return await engine.decode(
      values.map(({ payload }) => payload),
      call,
    )
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    warnings.add(`encoded values could not be decoded: ${error.message}`)
    return values.map(() => null)
  }
}

/** A copy of the entry with the decoded `value` at `path`. */
function put(entry: TraceEntry, path: readonly string[], value: unknown): TraceEntry {
  return setAt(entry, path, path[0] === 'error' ? toErrorMember(path, value) : value) as TraceEntry
}

/** The decoded value, as a member of an error: its message may come from the decoded attributes of the failure. */
function toErrorMember(path: readonly string[], value: unknown): unknown {
  const key = path.at(-1)
  if (ERROR_VALUES.some((name) => name === key)) return Array.isArray(value) ? value : ['[encoded]']
  if (key !== 'message') return value
  const message = isObject(value) ? value.message : value
  return typeof message === 'string' ? message : '[encoded]'
}

function setAt(holder: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value
  if (Array.isArray(holder)) return holder.with(Number(key), setAt(holder[Number(key)], rest, value))
  const object = holder as Record<string, unknown>
  return { ...object, [key]: setAt(object[key], rest, value) }
}

function withoutSecrets({ encoded: _, ...entry }: TraceEntry): TraceEntry {
  return redactEntry(entry)
}
