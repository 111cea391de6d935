/** What stands behind a keyword, proven to be what the keyword wants. */
import { isObject } from '../lib/is-object.ts'
import { SchemaFault } from './run.ts'

export function text(value: unknown): string {
  return typeof value === 'string' ? value : broken('a string', value)
}

export function number(value: unknown): number {
  if (typeof value === 'number') return value
  return JSON.isRawJSON(value) ? Number(JSON.stringify(value)) : broken('a number', value)
}

export function flag(value: unknown): boolean {
  return typeof value === 'boolean' ? value : broken('a boolean', value)
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : broken('an array', value)
}

export function entries(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : broken('an object', value)
}

function broken(wanted: string, value: unknown): never {
  throw new SchemaFault(`${wanted} is missing where it has ${JSON.stringify(value)?.slice(0, 100)}`)
}
