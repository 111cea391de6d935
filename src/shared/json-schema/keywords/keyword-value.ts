/** The value of a keyword, checked to be of the type that the keyword needs. Throws a `SchemaError` otherwise. */
import { isObject } from '../../lib/json.ts'
import { SchemaError } from '../errors.ts'

export function asString(value: unknown): string {
  return typeof value === 'string' ? value : mismatch('a string', value)
}

export function asNumber(value: unknown): number {
  if (typeof value === 'number') return value
  return JSON.isRawJSON(value) ? Number(JSON.stringify(value)) : mismatch('a number', value)
}

export function asBoolean(value: unknown): boolean {
  return typeof value === 'boolean' ? value : mismatch('a boolean', value)
}

export function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : mismatch('an array', value)
}

export function asEntries(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : mismatch('an object', value)
}

function mismatch(expected: string, value: unknown): never {
  throw new SchemaError(`must be ${expected}, not ${JSON.stringify(value)?.slice(0, 100)}`)
}
