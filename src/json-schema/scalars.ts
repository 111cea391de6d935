/** What is asked of one value, whatever is in it. */
import { isObject } from '../lib/is-object.ts'
import type { Compiler } from './compile.ts'
import { isInteger } from './numbers.ts'
import { keysOf } from './objects.ts'
import { compilePattern } from './pattern.ts'
import { type Check, decide, type Run, refuse, SchemaFault } from './run.ts'
import { text } from './shape.ts'

const TYPES = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])

export function type(value: unknown, exact: boolean): Check {
  const types = [...new Set((Array.isArray(value) ? value : [value]).map(text))]
  const unknown = types.find((name) => !TYPES.has(name))
  if (unknown !== undefined) throw new SchemaFault(`there is no type ${JSON.stringify(unknown.slice(0, 100))}`)
  return (it, at, run) => {
    const own = typeOf(it)
    if (types.includes(own) || (own === 'number' && types.includes('integer') && isInteger(it, exact))) return true
    return refuse(run, at, `must be of type ${types.join(' or ')}, not ${own}`)
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (JSON.isRawJSON(value)) return 'number'
  return Array.isArray(value) ? 'array' : typeof value
}

/** Workers need not agree on how much there is. */
interface Measured {
  least: number
  most: number
}

const PLURALS = { character: 'characters', item: 'items', 'matching item': 'matching items', property: 'properties' }

export function counted(count: number, noun: keyof typeof PLURALS): string {
  return `${count} ${count === 1 ? noun : PLURALS[noun]}`
}

/** A lower or upper limit on what `measure` counts; it returns null for a value that the keyword is not about. */
export function limit(
  what: keyof typeof PLURALS,
  measure: (value: unknown, run: Run) => Measured | null,
  side: 'at least' | 'at most',
  bound: number,
  exact: boolean,
): Check {
  const message = `must have ${side} ${counted(bound, what)}`
  return (value, at, run) => {
    const measured = measure(value, run)
    if (measured === null) return true
    const { least, most } = measured
    const [certain, possible] = side === 'at least' ? [least >= bound, most >= bound] : [most <= bound, least <= bound]
    return decide(certain, possible, exact) || refuse(run, at, message)
  }
}

/** Unicode's characters, as JSON Schema has it, or UTF-16's units, as JavaScript, Java and .NET count. */
export function charactersOf(value: unknown, run: Run): Measured | null {
  if (typeof value !== 'string') return null
  run.work.spend(value.length / 10)
  return { least: value.length - (value.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0), most: value.length }
}

export function itemsOf(value: unknown): Measured | null {
  return Array.isArray(value) ? { least: value.length, most: value.length } : null
}

export function propertiesOf(value: unknown, run: Run): Measured | null {
  if (!isObject(value)) return null
  const { length } = keysOf(value, run)
  return { least: length, most: length }
}

export function pattern(value: unknown, _schema: object, { exact, work }: Compiler): Check {
  const match = compilePattern(text(value), work)
  return (it, at, run) => {
    if (typeof it !== 'string') return true
    const verdict = match(it, run.work)
    return decide(verdict === 'yes', verdict !== 'no', exact) || refuse(run, at, 'must match its pattern')
  }
}
