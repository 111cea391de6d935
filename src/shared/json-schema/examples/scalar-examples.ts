/** Candidates for strings and numbers, the best ones first. The caller takes the first one that is valid. */
import type { Budget } from '../check.ts'
import type { FlatSchema } from './flat-schema.ts'
import { patternExample } from './pattern-example.ts'

const FORMATS: ReadonlyMap<unknown, string> = new Map([
  ['date-time', '2026-01-31T09:30:00Z'],
  ['date', '2026-01-31'],
  ['time', '09:30:00Z'],
  ['duration', 'PT1H'],
  ['email', 'ada@example.com'],
  ['idn-email', 'ada@example.com'],
  ['hostname', 'example.com'],
  ['idn-hostname', 'example.com'],
  ['ipv4', '192.0.2.1'],
  ['ipv6', '2001:db8::1'],
  ['cidrv4', '192.0.2.0/24'],
  ['cidrv6', '2001:db8::/32'],
  ['ipv4network', '192.0.2.0/24'],
  ['ipv6network', '2001:db8::/32'],
  ['uri', 'https://example.com'],
  ['uri-reference', 'https://example.com'],
  ['iri', 'https://example.com'],
  ['iri-reference', 'https://example.com'],
  ['uuid', '3f2b8c1e-5d47-4c0a-9b1e-7a6d2f8e4c90'],
  ['uuid4', '3f2b8c1e-5d47-4c0a-9b1e-7a6d2f8e4c90'],
  ['json-pointer', '/name'],
  ['regex', '^a+$'],
  ['byte', 'QWRh'],
  ['base64', 'QWRh'],
  ['base64url', 'QWRh'],
])

const STRING = 'string'

// Longer strings are not readable.
const MAX_LENGTH = 500

export function stringExamples({ format, pattern, minLength, maxLength }: FlatSchema, budget: Budget): string[] {
  const minimum = typeof minLength === 'number' ? Math.min(minLength, MAX_LENGTH) : 0
  const maximum = typeof maxLength === 'number' ? maxLength : MAX_LENGTH
  const repetitions = typeof pattern === 'string' ? [1, 0, minimum, 8] : []
  const made = repetitions.map((times) => patternExample(String(pattern), times, budget))
  const plain = STRING.repeat(Math.ceil(Math.max(1, minimum / STRING.length)))
  const fitting = plain.slice(0, Math.min(maximum, Math.max(minimum, STRING.length)))
  return [FORMATS.get(format), ...made, fitting].filter((example) => typeof example === 'string')
}

export function numberExamples(keywords: FlatSchema, isInteger: boolean): number[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = keywords
  const from = [minimum, exclusiveMinimum].filter(isFiniteNumber)
  const to = [maximum, exclusiveMaximum].filter(isFiniteNumber)
  const step = isFiniteNumber(multipleOf) && multipleOf > 0 ? multipleOf : 1
  const above = from.flatMap((bound) => [bound, Math.ceil(bound / step) * step, (Math.floor(bound / step) + 1) * step])
  const below = to.flatMap((bound) => [bound, Math.floor(bound / step) * step, (Math.ceil(bound / step) - 1) * step])
  const between = from.flatMap((low) => to.map((high) => (low + high) / 2))
  const all = [1, step, ...above, ...below, ...between, 0]
  return isInteger ? all.filter(Number.isInteger) : all
}

function isFiniteNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}
