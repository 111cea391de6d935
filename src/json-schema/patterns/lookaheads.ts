/** RE2 has no lookaheads. Those right after `^`, as zod writes them, can be matched as patterns of their own. */

interface Lookahead {
  body: string
  negative: boolean
}

/** `^(?!a)(?=b)c` matches where `^c` and `^b` match and `^a` does not. */
export function splitLookaheads(pattern: string): { lookaheads: Lookahead[]; rest: string } {
  const lookaheads: Lookahead[] = []
  let at = 1
  while (pattern.startsWith('^') && /^\(\?[=!]/.test(pattern.slice(at, at + 3))) {
    const end = findOutsideGroups(pattern, ')', at + 3)
    // A quantifier makes it optional, which ECMAScript's older syntax allows.
    if (/[*+?{]/.test(pattern.charAt(end + 1))) break
    lookaheads.push({ body: pattern.slice(at + 3, end), negative: pattern[at + 2] === '!' })
    at = end + 1
  }
  // If there are alternatives, the lookahead belongs only to the first.
  if (lookaheads.length === 0 || findOutsideGroups(pattern, '|', at) < pattern.length) {
    return { lookaheads: [], rest: pattern }
  }
  return { lookaheads, rest: `^${pattern.slice(at)}` }
}

/** Index of the next `wanted` that is not in a group, class or escape; the pattern's length if it is not found. */
function findOutsideGroups(pattern: string, wanted: string, from: number): number {
  let depth = 0
  let inClass = false
  for (let at = from; at < pattern.length; at++) {
    const character = pattern[at]
    if (character === '\\') at++
    else if (inClass) inClass = character !== ']'
    else if (depth === 0 && character === wanted) return at
    else if (character === '[') inClass = true
    else if (character === '(') depth++
    else if (character === ')') depth--
  }
  return pattern.length
}
