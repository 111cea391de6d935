/** What is asked of one value, whatever is in it. */
import { canonicalJson } from '../../protocol/canonical-json.ts'
import type { Compiler } from './compile.ts'
import { FORMATS } from './format.ts'
import { keysOf } from './objects.ts'
import { compilePattern } from './pattern.ts'
import { type Check, type Run, refuse, SchemaFault, type Work } from './run.ts'
import { isObject, number, text, toDouble } from './shape.ts'

const TYPES = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])

export function type(value: unknown): Check {
  const types = [...new Set((Array.isArray(value) ? value : [value]).map(text))]
  const unknown = types.find((name) => !TYPES.has(name))
  if (unknown !== undefined) throw new SchemaFault(`there is no type ${JSON.stringify(unknown.slice(0, 100))}`)
  return (it, at, run) => {
    const own = typeOf(it)
    if (types.includes(own) || (own === 'number' && types.includes('integer') && Number.isInteger(it))) return true
    return refuse(run, at, `must be of type ${types.join(' or ')}, not ${own}`)
  }
}

export function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** By their canonical text, so that it matters little how many values there are. */
export function oneOfValues(values: unknown[], message: string, { work }: Compiler): Check {
  const known = new Set(values.map((value) => canonicalText(JSON.isRawJSON(value) ? toDouble(value) : value, work)))
  const holdsObjects = values.some(isComposed)
  return (value, at, run) => {
    const isKnown = (holdsObjects || !isComposed(value)) && known.has(canonicalText(value, run.work))
    return isKnown || refuse(run, at, message)
  }
}

/** Equal values have equal texts. */
export function canonicalText(value: unknown, work: Work): string {
  const json = JSON.stringify(value)
  work.spend(isComposed(value) ? 20 + json.length * 3 : 20 + json.length / 10)
  return isComposed(value) ? canonicalJson(value) : json
}

function isComposed(value: unknown): boolean {
  return Array.isArray(value) || isObject(value)
}

/** A bound on a number that `measure` takes of a value; null: it is not of the kind that the keyword speaks of. */
export function limit(
  measure: (value: unknown, run: Run) => number | null,
  bound: number,
  holds: (measured: number, bound: number) => boolean,
  message: string,
): Check {
  return (value, at, run) => {
    const measured = measure(value, run)
    return measured === null || holds(measured, bound) || refuse(run, at, `${message} ${bound}`)
  }
}

export function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

/** Unicode's characters: a surrogate pair is one. */
export function charactersOf(value: unknown, run: Run): number | null {
  if (typeof value !== 'string') return null
  run.work.spend(value.length / 10)
  return value.length - (value.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0)
}

export function itemsOf(value: unknown): number | null {
  return Array.isArray(value) ? value.length : null
}

export function propertiesOf(value: unknown, run: Run): number | null {
  return isObject(value) ? keysOf(value, run).length : null
}

export function multipleOf(value: unknown): Check {
  const of = number(value)
  if (!(of > 0)) throw new SchemaFault('its multipleOf is not above zero')
  return (it, at, run) => typeof it !== 'number' || isMultiple(it, of, run) || refuse(run, at, `must be a multiple of ${of}`)
}

function isMultiple(value: number, of: number, run: Run): boolean {
  if (!Number.isFinite(value)) return false
  if (Number.isSafeInteger(value) && Number.isSafeInteger(of)) return value % of === 0
  const [digits, exponent] = decimal(value)
  const [ofDigits, ofExponent] = decimal(of)
  const least = Math.min(exponent, ofExponent)
  run.work.spend(10 + exponent + ofExponent - 2 * least)
  return (digits * 10n ** BigInt(exponent - least)) % (ofDigits * 10n ** BigInt(ofExponent - least)) === 0n
}

/** The number as digits and the power of ten of the last one. */
function decimal(value: number): [digits: bigint, exponent: number] {
  const [mantissa = '0', exponent = '0'] = String(value).split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  return [BigInt(whole + fraction), Number(exponent) - fraction.length]
}

export function pattern(value: unknown, _schema: object, { work }: Compiler): Check {
  const matches = compilePattern(text(value), work)
  return (it, at, run) => typeof it !== 'string' || matches(it, run.work) || refuse(run, at, 'must match its pattern')
}

export function format(value: unknown): Check {
  const name = text(value)
  const isOne = FORMATS.get(name)
  if (isOne === undefined) return () => true
  return (it, at, run) => {
    if (typeof it !== 'string') return true
    run.work.spend(2 + it.length / 5)
    return isOne(it) || refuse(run, at, `must be of format ${name}`)
  }
}
