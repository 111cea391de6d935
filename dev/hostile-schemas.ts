/** JSON Schemas that are small to write and expensive to check. */

/** A chain of `levels` schemas, each of which refers to the next one twice: 2^levels checks without a budget. */
export function doubling(keyword: 'allOf' | 'anyOf' | 'oneOf', levels: number, last: unknown): unknown {
  const link = (level: number) => ({ $ref: `#/$defs/${level}` })
  const $defs = Object.fromEntries(
    numbers(levels).map((level) => [level, { [keyword]: [link(level + 1), link(level + 1)] }]),
  )
  return { ...link(0), $defs: { ...$defs, [levels]: last } }
}

export function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, number) => number)
}
