/** How arktype's own converter marks what it leaves out. */

import { isObject } from '../../../shared/lib/json.ts'
import { isExactPattern } from './exact-pattern.ts'
import { markUnchecked } from './marks.ts'

type Json = Record<string, unknown>

interface LeftOut {
  /** What cannot be expressed, such as `predicate`. */
  code: string
  /** The rest of the schema. */
  base: Json
}

/** Options of the converter. */
export const ARKTYPE_OPTIONS = {
  fallback({ code, base }: LeftOut): Json | undefined {
    if (code === 'defaultValue') return undefined
    const json = { ...base }
    // Items after a part of variable length.
    if (code === 'arrayPostfix') delete json.items
    markUnchecked(json, code)
    return json
  },
}

/** Removes the patterns with flags, which JSON Schema does not have, and marks what the converter does not report. */
export function relaxArktype(type: object, json: Json): Json {
  if (Reflect.get(type, 'includesTransform') === true) markUnchecked(json, 'morph')
  const select: unknown = Reflect.get(type, 'select')
  const nodes: unknown = typeof select === 'function' ? Reflect.apply(select, type, ['pattern']) : []
  const inexact = new Set(Array.isArray(nodes) ? nodes.filter(isFlagged).map(({ rule }) => rule) : [])
  if (inexact.size > 0) removePatterns(json, inexact)
  return json
}

function isFlagged(node: { rule: string; flags?: string }): boolean {
  return !isExactPattern({ source: node.rule, flags: node.flags ?? '' })
}

function removePatterns(json: unknown, patterns: ReadonlySet<unknown>): void {
  if (typeof json !== 'object' || json === null) return
  if (isObject(json) && patterns.has(json.pattern)) {
    delete json.pattern
    markUnchecked(json, 'pattern')
  }
  for (const inner of Object.values(json)) removePatterns(inner, patterns)
}
