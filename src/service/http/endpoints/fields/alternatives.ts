/** Fields of a body of which only one may have arguments: a value, or instead of it one of several lists. */
import * as z from 'zod/mini'

export type Alternatives = readonly [value: string, ...lists: string[]]

/**
 * The fields that a body has. An empty list beside another field counts as absent: the Java clients of
 * openapi-generator send one for each list that their program has not set.
 */
export function fieldsIn(body: object, [value, ...lists]: Alternatives): readonly string[] {
  const given = new Map(Object.entries(body))
  const present = lists.filter((key) => given.has(key))
  const filled = present.filter((key) => !isEmptyList(given.get(key)))
  if (given.has(value)) return [value, ...filled]
  return filled.length === 0 ? present.slice(0, 1) : filled
}

export function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

/** A check that a body has at most one of the fields. */
export function atMostOneOf(keys: Alternatives, message: string) {
  return z.refine<object>((body) => fieldsIn(body, keys).length <= 1, message)
}

/** The bodies that have two of the fields, as JSON Schema. */
export function pairsOf([value, ...lists]: Alternatives): { required: string[] }[] {
  const keys = [value, ...lists]
  return keys.flatMap((key, index) => keys.slice(index + 1).map((other) => pairOf([key, other], lists)))
}

function pairOf(pair: string[], lists: readonly string[]) {
  const filled = pair.filter((key) => lists.includes(key)).map((key) => [key, { minItems: 1 }])
  return { required: pair, properties: Object.fromEntries(filled) }
}
