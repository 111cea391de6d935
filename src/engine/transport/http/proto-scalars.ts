/** Scalars and times in protobuf's JSON format. */
import { fromBase64, toBase64 } from '../../../lib/base64.ts'

/** A kind of value, and its JSON. */
export interface Kind {
  /** The value of a field that is not set. */
  none: unknown
  /** Undefined for a value of a newer engine, such as an unknown enum name. */
  read(json: unknown, depth: number): unknown
  write(value: unknown): unknown
}

const INTEGER: Kind = { none: 0, read: toInteger, write: unchanged }
const FLOAT: Kind = { none: 0, read: toNumber, write: (number) => (Number.isFinite(number) ? number : String(number)) }

export const SCALARS = new Map<string, Kind>([
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
])

function unchanged(value: unknown): unknown {
  return value
}

export function toText(json: unknown): string {
  // A lone surrogate would break whatever the string becomes a part of.
  if (typeof json !== 'string' || !json.isWellFormed()) throw unexpected('a string', json)
  return json
}

function toBoolean(json: unknown): boolean {
  if (typeof json !== 'boolean') throw unexpected('a boolean', json)
  return json
}

/** Above 2^53 the nearest number. */
export function toInteger(json: unknown): number {
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

function toNanos(fraction = ''): number {
  return Number(fraction.padEnd(9, '0'))
}

function fromNanos(nanos: number | null = 0): string {
  return String(Math.abs(nanos ?? 0)).padStart(9, '0')
}

/** Without the value, which may be confidential. */
export function unexpected(what: string, json: unknown): Error {
  return new Error(`expected ${what}, got a ${typeof json}`)
}
