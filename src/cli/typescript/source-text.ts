/**
 * Values as TypeScript source. Names and descriptions come from workers: none of them may end a string or a comment.
 */
import { isObject } from '../../shared/lib/json.ts'

/** The JSON value as a literal type. */
export function literal(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (value === null || typeof value === 'boolean') return JSON.stringify(value)
  // A number that a double cannot represent has no literal type.
  if (typeof value === 'number') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (isObject(value))
    return `{ ${Object.entries(value)
      .map(([name, field]) => `${propertyName(name)}: ${literal(field)}`)
      .join('; ')} }`
  return 'number'
}

export function propertyName(name: string): string {
  return quoted(name)
}

/** On one line: JSON does not escape U+2028 and U+2029, which end a line for a regular expression. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/[\u2028\u2029]/g, (end) => `\\u${end.charCodeAt(0).toString(16)}`)
}

/** An object type with one member on each line. */
export function block(members: string[]): string {
  return members.length === 0 ? '{}' : `{\n${members.join('\n').replaceAll(/^/gm, '  ')}\n}`
}

/** A comment on a line of its own. */
export function comment(text: string): string {
  const line = text
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
    .replaceAll('*/', '*\\/')
    .trim()
  return line === '' ? '' : `/** ${line} */\n`
}
