/** Keywords about numbers. Some workers read them exactly, some as doubles: what either accepts is accepted. */
import { compareDecimals, toDecimal } from '../lib/decimal.ts'
import type { Compiler } from './compile.ts'
import { type Check, decide, type Run, refuse, SchemaFault } from './run.ts'
import { number } from './shape.ts'

/** A double, or the text of what a double can't hold. */
type Numeric = number | string

/** Null for anything but a number. */
function numericOf(value: unknown): Numeric | null {
  if (typeof value === 'number') return value
  return JSON.isRawJSON(value) ? JSON.stringify(value) : null
}

/** A number as the schema has it. */
export function numeric(value: unknown): Numeric {
  return numericOf(value) ?? number(value)
}

export function bound(of: Numeric, holds: (difference: number) => boolean, message: string, exact: boolean): Check {
  return (value, at, run) => {
    const it = numericOf(value)
    if (it === null) return true
    const exactly = holds(compare(it, of, run))
    // A bound that is a double may be of a worker that has doubles only, and rounds what it is sent.
    const rounded = typeof of === 'number' && typeof it === 'string' ? holds(Number(it) - of) : exactly
    return decide(exactly && rounded, exactly || rounded, exact) || refuse(run, at, `${message} ${of}`)
  }
}

function compare(a: Numeric, b: Numeric, run: Run): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  const [first, second] = [String(a), String(b)]
  run.work.spend(20 + (first.length + second.length) / 10)
  return compareDecimals(toDecimal(first), toDecimal(second))
}

/** Whether it has no fraction, however it is spelled. */
export function isInteger(value: unknown, exact: boolean): boolean {
  const it = numericOf(value)
  if (it === null || typeof it === 'number') return Number.isInteger(it)
  const certain = toDecimal(it).exponent >= 0
  return decide(certain, certain || Number.isInteger(Number(it)), exact)
}

export function multipleOf(value: unknown, { type }: Record<string, unknown>, { exact }: Compiler): Check {
  const of = number(value)
  if (!(of > 0 && of < Infinity)) throw new SchemaFault('its multipleOf is not above zero')
  return (given, at, run) => {
    const it = numericOf(given)
    if (it === null) return true
    const number = Number(it)
    const certain = typeof it === 'number' && isMultiple(number, of)
    const possible = certain || isRoughlyMultiple(number, of, type === 'integer' ? ZOD : PYDANTIC)
    return decide(certain, possible, exact) || refuse(run, at, `must be a multiple of ${of}`)
  }
}

/** To the last digits of a double: 0.3 is three times 0.1. */
function isMultiple(value: number, of: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(of)) return value % of === 0
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER && isRoughlyMultiple(value, of, ZOD)
}

// What these libraries let pass: zod by 4 times the precision of a double, pydantic by 1e-9, absolute or (before 2.6) relative.
const ZOD = { relative: 4 * Number.EPSILON, absolute: 0 }
const PYDANTIC = { relative: 1.01e-9, absolute: 1.01e-9 }

function isRoughlyMultiple(value: number, of: number, { relative, absolute }: typeof ZOD): boolean {
  const size = Math.abs(value)
  if (size === Infinity) return true
  const rest = size % of
  return Math.min(rest, of - rest) <= Math.max(relative * Math.max(size, of), absolute)
}
