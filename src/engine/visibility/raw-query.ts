/**
 * Checks a client's visibility query before it is combined with other conditions: it must stay inside the parentheses
 * that are put around it. Strings and comments are recognized as the engine's parser (vitess) does.
 */

// People do not write longer queries, and the engine's parser is recursive.
const MAX_LENGTH = 10_000

// A backslash escapes a character of a string. A doubled quote needs no rule: it reads as the end of one string and the
// start of another.
const TOKEN = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|['"`()#;]|--|\/\/|\/\*/gs

/** What is wrong with the query; null if `(query)` is a single expression. The engine may still reject it. */
export function rawQueryIssue(query: string): string | null {
  if (query.trim() === '') return 'must not be empty'
  if (query.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`
  let depth = 0
  for (const [token] of query.matchAll(TOKEN)) {
    const issue = tokenIssue(token)
    if (issue !== null) return issue
    if (token === '(') depth++
    if (token === ')' && --depth < 0) break
  }
  return depth === 0 ? null : 'must have balanced parentheses'
}

function tokenIssue(token: string): string | null {
  switch (token) {
    case "'":
    case '"':
    case '`':
      return 'must have balanced quotes'
    case '#':
    case '--':
    case '//':
    case '/*':
      return 'must not contain comments'
    case ';':
      return 'must not contain a semicolon'
    default:
      return null
  }
}
