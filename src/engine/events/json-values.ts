/** Single values of history events as JSON. */
import { toBase64 } from '../../lib/base64.ts'
import type { Payload } from '../../temporal/payload.ts'
import { toDate } from '../../temporal/time.ts'

/** What the values of users become. */
export interface ValueConverter {
  /** Undefined leaves the value out. */
  payload(payload: Payload): unknown
  /** The message of a failure. */
  message(text: string): string
}

/** Undefined for a value that is not set. Both transports leave out some of these values, but not the same ones. */
export type Convert = (value: unknown, values: ValueConverter) => unknown

const toNumber: Convert = (value) => Number(value) || undefined
const unlessEmpty: Convert = (value) => value || undefined

export const SCALARS: ReadonlyMap<string, Convert> = new Map<string, Convert>([
  ['string', unlessEmpty],
  ['bool', unlessEmpty],
  ['bytes', (bytes) => toBase64(bytes as Uint8Array) || undefined],
  ['int32', toNumber],
  ['uint32', toNumber],
  ['int64', toNumber],
  ['float', toNumber],
  ['double', toNumber],
  ['Timestamp', (time) => toDate(time as Parameters<typeof toDate>[0]) ?? undefined],
  ['Duration', toSeconds],
  ['Payload', (payload, values) => values.payload(payload as Payload)],
])

/** Like `90s` or `0.25s`. */
function toSeconds(duration: unknown): string | undefined {
  const { seconds, nanos } = duration as { seconds?: unknown; nanos?: number | null }
  const total = Number(seconds ?? 0) + (nanos ?? 0) / 1e9
  return total === 0 ? undefined : `${total}s`
}

export function listConverter(convert: Convert): Convert {
  return (list, values) => {
    const items = (list as unknown[]).map((item) => convert(item, values)).filter((item) => item !== undefined)
    return items.length === 0 ? undefined : items
  }
}

export function mapConverter(convert: Convert): Convert {
  return (map, values) => {
    const entries = Object.entries(map as object).flatMap(([key, value]) => {
      const json = convert(value, values)
      return json === undefined ? [] : [[key, json] as const]
    })
    return entries.length === 0 ? undefined : Object.fromEntries(entries)
  }
}

/** `RETRY_STATE_IN_PROGRESS` becomes `InProgress`. Undefined for a value of a newer engine. */
export function enumConverter(type: string, numbers: Readonly<Record<string, number>>): Convert {
  const prefix = `${type.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()}_`
  const names = new Map(
    Object.entries(numbers).map(([name, number]) => [
      number,
      toPascalCase(name.startsWith(prefix) ? name.slice(prefix.length) : name),
    ]),
  )
  return (number) => (number === 0 ? undefined : names.get(number as number))
}

function toPascalCase(name: string): string {
  return name.toLowerCase().replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}
