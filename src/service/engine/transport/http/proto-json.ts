/**
 * Converts between protobuf's JSON format (https://protobuf.dev/programming-guides/json/) and messages.
 *
 * Messages have the shape of `@temporalio/proto`, with two exceptions: 64-bit integers are plain numbers, and an `Any`
 * is an `ErrorDetail`.
 */
import { fromBase64, toBase64 } from '../../../../shared/lib/base64.ts'
import { isObject } from '../../../../shared/lib/json.ts'
import { toSnakeCase } from '../../../../shared/temporal/field-mask.ts'
import { type ErrorDetail, shortName } from '../transport.ts'
import type { HttpSchema } from './schema.ts'
import { createTypeTable } from './type-table.ts'

export interface ProtoJson {
  /** `type` is a name in the schema. Missing fields get defaults. Throws when the JSON is not a message of the type. */
  read(type: string, json: unknown): object
  write(type: string, message: object): object
}

/** The values of a type, and their JSON. */
interface Format {
  /** The value of a field that is not set. */
  none: unknown
  /** Undefined for a value of a newer engine, such as an unknown enum name. */
  read(json: unknown, depth: number): unknown
  write(value: unknown): unknown
}

// The limit of protobuf over gRPC.
const MAX_DEPTH = 100

export function createProtoJson(schema: Pick<HttpSchema, 'enums' | 'messages'>): ProtoJson {
  const formatOf: (type: string) => Format = createTypeTable<Format>(schema, {
    known: [...SCALARS, ['Any', anyFormat()]],
    list: listFormat,
    map: mapFormat,
    enum: (_, numbers) => enumFormat(numbers),
    message(name, fields) {
      if (fields === undefined) throw new Error(`the schema has no type ${name}`)
      return messageFormat(fields, formatOf)
    },
  })

  function anyFormat(): Format {
    return {
      none: null,
      read(json, depth): ErrorDetail {
        const { '@type': url, ...fields } = isObject(json) ? json : {}
        const name = shortName(typeof url === 'string' ? url : '')
        try {
          const isKnown = Object.hasOwn(schema.messages, name)
          return { name, fields: isKnown ? (formatOf(name).read(fields, depth) as object) : {} }
        } catch {
          // A detail that cannot be read must not hide the error that it belongs to.
          return { name, fields: {} }
        }
      },
      write() {
        throw new Error('writing an Any is not supported')
      },
    }
  }

  return {
    read: (type, json) => formatOf(type).read(json, 0) as object,
    write: (type, message) => formatOf(type).write(message) as object,
  }
}

/** `formatOf` is called on the first use of the message, because a message may contain itself. */
function messageFormat(types: Record<string, string>, formatOf: (type: string) => Format): Format {
  let known: MessageFields | null = null
  const fields = () => (known ??= toMessageFields(types, formatOf))
  return {
    none: null,
    read(json, depth) {
      if (!isObject(json)) throw unexpected('a message', json)
      if (depth > MAX_DEPTH) throw new Error(`messages are nested more than ${MAX_DEPTH} levels deep`)
      return readMessage(json, fields(), depth)
    },
    write: (message) => writeMessage(message as object, fields()),
  }
}

interface MessageFields {
  formats: ReadonlyMap<string, Format>
  defaults: object
}

function toMessageFields(types: Record<string, string>, formatOf: (type: string) => Format): MessageFields {
  const formats = new Map(Object.entries(types).map(([name, type]) => [name, formatOf(type)]))
  return { formats, defaults: Object.fromEntries([...formats].map(([name, { none }]) => [name, none])) }
}

function readMessage(json: Record<string, unknown>, { formats, defaults }: MessageFields, depth: number): object {
  const message: Record<string, unknown> = Object.create(defaults)
  for (const [name, value] of Object.entries(json)) {
    const read = value === null ? undefined : formats.get(name)?.read(value, depth + 1)
    if (read !== undefined) message[name] = read
  }
  return message
}

function writeMessage(message: object, { formats }: MessageFields): object {
  const json: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(message)) {
    const format = formats.get(name)
    if (format !== undefined && value != null && value !== format.none) json[name] = format.write(value)
  }
  return json
}

function listFormat({ read, write }: Format): Format {
  return {
    none: Object.freeze([]),
    read(json, depth) {
      if (!Array.isArray(json)) throw unexpected('a list', json)
      return json.map((item) => read(item, depth)).filter((item) => item !== undefined)
    },
    write: (list) => (list as unknown[]).map(write),
  }
}

/** Keys are data: `__proto__` is a key like any other. */
function mapFormat({ read, write }: Format): Format {
  return {
    none: Object.freeze({}),
    read(json, depth) {
      if (!isObject(json)) throw unexpected('a map', json)
      const entries = Object.entries(json).map(([key, value]) => [toText(key), read(value, depth)] as const)
      return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
    },
    write: (map) => Object.fromEntries(Object.entries(map as object).map(([key, value]) => [key, write(value)])),
  }
}

function enumFormat(values: Record<string, number>): Format {
  const numbers = new Map(Object.entries(values))
  return {
    none: 0,
    read: (json) => (typeof json === 'string' ? numbers.get(json) : toInteger(json)),
    write: (value) => [...numbers].find(([, number]) => number === value)?.[0] ?? value,
  }
}

const INTEGER: Format = { none: 0, read: toInteger, write: unchanged }
const FLOAT: Format = {
  none: 0,
  read: toNumber,
  write: (number) => (Number.isFinite(number) ? number : String(number)),
}

const SCALARS = new Map<string, Format>([
  ['string', { none: '', read: toText, write: unchanged }],
  ['bool', { none: false, read: toBoolean, write: unchanged }],
  [
    'bytes',
    {
      none: new Uint8Array(),
      read: (json) => fromBase64(toText(json)),
      write: (bytes) => toBase64(bytes as Uint8Array),
    },
  ],
  ['int32', INTEGER],
  ['uint32', INTEGER],
  ['int64', INTEGER],
  ['float', FLOAT],
  ['double', FLOAT],
  ['Duration', { none: null, read: toDuration, write: fromDuration }],
  ['Timestamp', { none: null, read: toTimestamp, write: fromTimestamp }],
  ['FieldMask', { none: null, read: toFieldMask, write: fromFieldMask }],
])

function unchanged(value: unknown): unknown {
  return value
}

function toText(json: unknown): string {
  // A lone surrogate would break whatever the string becomes a part of.
  if (typeof json !== 'string' || !json.isWellFormed()) throw unexpected('a string', json)
  return json
}

function toBoolean(json: unknown): boolean {
  if (typeof json !== 'boolean') throw unexpected('a boolean', json)
  return json
}

/** Above 2^53 the nearest number. */
function toInteger(json: unknown): number {
  const number = typeof json === 'string' && /^-?\d+$/.test(json) ? Number(json) : json
  if (typeof number !== 'number' || !Number.isInteger(number)) throw unexpected('an integer', json)
  return number
}

function toNumber(json: unknown): number {
  const number = typeof json === 'string' && json.trim() !== '' ? Number(json) : json
  if (typeof number !== 'number' || (Number.isNaN(number) && json !== 'NaN')) throw unexpected('a number', json)
  return number
}

interface Seconds {
  seconds?: unknown
  nanos?: number | null
}

function toDuration(json: unknown): Seconds {
  const [, sign, seconds, fraction] = /^(-?)(\d+)(?:\.(\d{1,9}))?s$/.exec(toText(json)) ?? []
  if (seconds === undefined) throw unexpected('a duration', json)
  const [whole, nanos] = [Number(seconds), toNanos(fraction)]
  return sign === '-' ? { seconds: 0 - whole, nanos: 0 - nanos } : { seconds: whole, nanos }
}

function fromDuration(duration: unknown): string {
  const { seconds, nanos } = duration as Seconds
  const sign = Number(seconds ?? 0) < 0 || (nanos ?? 0) < 0 ? '-' : ''
  return `${sign}${Math.abs(Number(seconds ?? 0))}.${fromNanos(nanos)}s`
}

function toTimestamp(json: unknown): Seconds {
  const [, second, fraction, zone] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/.exec(toText(json)) ?? []
  const seconds = Date.parse(`${second}${zone}`) / 1000
  if (Number.isNaN(seconds)) throw unexpected('a time', json)
  return { seconds, nanos: toNanos(fraction) }
}

function fromTimestamp(timestamp: unknown): string {
  const { seconds, nanos } = timestamp as Seconds
  return new Date(Number(seconds ?? 0) * 1000).toISOString().replace(/\d{3}Z$/, `${fromNanos(nanos)}Z`)
}

interface Paths {
  paths?: readonly string[] | null
}

/** JSON has `retryPolicy.maximumAttempts` for the path `retry_policy.maximum_attempts`. */
function toFieldMask(json: unknown): Paths {
  const text = toText(json)
  return { paths: text === '' ? [] : toSnakeCase(text).split(',') }
}

function fromFieldMask(mask: unknown): string {
  const paths = (mask as Paths).paths ?? []
  return paths.join().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function toNanos(fraction = ''): number {
  return Number(fraction.padEnd(9, '0'))
}

function fromNanos(nanos: number | null = 0): string {
  return String(Math.abs(nanos ?? 0)).padStart(9, '0')
}

/** Without the value, which may be confidential. */
function unexpected(what: string, json: unknown): Error {
  return new Error(`expected ${what}, got a ${typeof json}`)
}
