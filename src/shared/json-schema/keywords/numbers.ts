/**
 * Keywords about numbers. Some implementations read numbers exactly, some as doubles:
 * a value that either accepts is valid.
 */
import { compareDecimals, toDecimal } from '../../lib/decimal.ts'
import { type Check, COST, type Compiler, type Context, reconcile, report } from '../check.ts'
import { SchemaError } from '../errors.ts'
import { asNumber } from './keyword-value.ts'

/** A double, or the digits of a number that a double cannot represent. */
type Numeric = number | string

/** Null for anything but a number. */
function toNumeric(value: unknown): Numeric | null {
  if (typeof value === 'number') return value
  return JSON.isRawJSON(value) ? JSON.stringify(value) : null
}

/** `holds` is given the sign of the value minus the limit. */
function bound(phrase: string, holds: (difference: number) => boolean) {
  return (keywordValue: unknown, _schema: object, { exact }: Compiler): Check => {
    const limit = toNumeric(keywordValue) ?? asNumber(keywordValue)
    return (value, at, context) => {
      const number = toNumeric(value)
      if (number === null) return true
      const exactly = holds(compare(number, limit, context))
      // An implementation that has only doubles has rounded this limit, and rounds the number too.
      const rounded = typeof limit === 'number' && typeof number === 'string' ? holds(Number(number) - limit) : exactly
      return reconcile(exactly && rounded, exactly || rounded, exact) || report(context, at, `${phrase} ${limit}`)
    }
  }
}

export const minimum = bound('must be at least', (difference) => difference >= 0)
export const maximum = bound('must be at most', (difference) => difference <= 0)
export const exclusiveMinimum = bound('must be greater than', (difference) => difference > 0)
export const exclusiveMaximum = bound('must be less than', (difference) => difference < 0)

function compare(a: Numeric, b: Numeric, context: Context): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  const [first, second] = [String(a), String(b)]
  context.budget.spend(COST.compareNumbers(first.length + second.length))
  return compareDecimals(toDecimal(first), toDecimal(second))
}

/** Whether it has no fraction, however it is spelled. */
export function isInteger(value: unknown, exact: boolean): boolean {
  const number = toNumeric(value)
  if (number === null || typeof number === 'number') return Number.isInteger(number)
  const isExactInteger = toDecimal(number).exponent >= 0
  return reconcile(isExactInteger, isExactInteger || Number.isInteger(Number(number)), exact)
}

export function multipleOf(keywordValue: unknown, { type }: Record<string, unknown>, { exact }: Compiler): Check {
  const divisor = asNumber(keywordValue)
  if (!(divisor > 0 && divisor < Infinity)) throw new SchemaError('must be greater than 0')
  return (value, at, context) => {
    const numeric = toNumeric(value)
    if (numeric === null) return true
    const number = Number(numeric)
    const allAccept = typeof numeric === 'number' && isMultiple(number, divisor)
    const someAccept = allAccept || isRoughlyMultiple(number, divisor, type === 'integer' ? ZOD : PYDANTIC)
    return reconcile(allAccept, someAccept, exact) || report(context, at, `must be a multiple of ${divisor}`)
  }
}

/** To the last digits of a double: 0.3 is three times 0.1. */
function isMultiple(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER && isRoughlyMultiple(value, divisor, ZOD)
}

// What these libraries tolerate: zod 4 times the precision of a double,
// pydantic 1e-9, absolute or (before 2.6) relative.
const ZOD = { relative: 4 * Number.EPSILON, absolute: 0 }
const PYDANTIC = { relative: 1.01e-9, absolute: 1.01e-9 }

function isRoughlyMultiple(value: number, divisor: number, { relative, absolute }: typeof ZOD): boolean {
  const size = Math.abs(value)
  if (size === Infinity) return true
  const rest = size % divisor
  return Math.min(rest, divisor - rest) <= Math.max(relative * Math.max(size, divisor), absolute)
}
