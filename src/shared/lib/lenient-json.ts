/** JSON as programs in other languages write it: Python, for example, writes numbers that JSON does not have. */
import { endOfString, parseJson } from './json.ts'

export interface DepthLimit {
  maxDepth: number
  /** What replaces an array or object that is nested deeper. */
  replacement: string
}

/**
 * Like `parseJson`, but `NaN`, `Infinity` and `-Infinity` are the strings of these names, as in the JSON mapping of
 * protobuf. With a `limit`, what is nested too deep is replaced instead of rejected.
 */
export function parseLenientJson(json: string, limit?: DepthLimit): unknown {
  try {
    return parseJson(json, limit?.maxDepth)
  } catch (error) {
    const strict = toStrictJson(json, limit)
    if (strict === json) throw error
    return parseJson(strict, limit?.maxDepth)
  }
}

/** Takes time in proportion to the length. What is not JSON otherwise is left to the parser. */
function toStrictJson(json: string, limit: DepthLimit | undefined): string {
  let result = ''
  let copied = 0
  for (const { start, end, value } of replacements(json, limit)) {
    result += json.slice(copied, start) + JSON.stringify(value)
    copied = end
  }
  return result + json.slice(copied)
}

interface Replacement {
  start: number
  end: number
  value: string
}

function* replacements(json: string, limit?: DepthLimit): Iterable<Replacement> {
  const { maxDepth, replacement } = limit ?? { maxDepth: Number.POSITIVE_INFINITY, replacement: '' }
  let depth = 0
  // Where the part that is nested too deep begins.
  let tooDeepAt = 0
  const tokens = /["[\]{}]|NaN|-?Infinity/g
  for (let match = tokens.exec(json); match !== null; match = tokens.exec(json)) {
    const { 0: token, index: start } = match
    switch (token) {
      case '"':
        tokens.lastIndex = endOfString(json, start) + 1
        break
      case '[':
      case '{':
        if (depth++ === maxDepth) tooDeepAt = start
        break
      case ']':
      case '}':
        if (--depth === maxDepth) yield { start: tooDeepAt, end: start + 1, value: replacement }
        break
      default:
        if (depth <= maxDepth) yield { start, end: tokens.lastIndex, value: token }
    }
  }
}
