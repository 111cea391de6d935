/** Schemas of JSON documents, such as the policy. All mistakes are reported, with their places and without values. */
import * as z from 'zod/mini'
import { isObject } from '../lib/json.ts'
import { findJsonSyntaxError } from '../lib/json-syntax-error.ts'
import { isLoopback } from '../lib/network-address.ts'
import { type Mistake, shownPointer } from './policy-mistakes.ts'

/** The value of a JSON text, or what is wrong with the text. */
export function parseDocument(text: string): { value: unknown } | { issues: string[] } {
  const error = findJsonSyntaxError(text)
  if (error !== null) return { issues: [`is not valid JSON: line ${error.line}, column ${error.column}`] }
  return { value: JSON.parse(text) }
}

/** The text of a file, or the system's code of the error. */
export type FileText = { text: string } | { error: string }

/** What `parse` returns for the text of the file, or why the file cannot be read. */
export function parseFile<Parsed>(
  file: FileText,
  parse: (text: string) => Parsed | { issues: string[] },
): Parsed | { issues: string[] } {
  return 'text' in file ? parse(file.text) : { issues: [`names a file that cannot be read (${file.error})`] }
}

/** What the schema returns, or all mistakes: those that it finds, and `others`. None shows a value. */
export function parseWith<Output>(
  schema: z.ZodMiniType<Output>,
  value: unknown,
  others: readonly Mistake[],
): { data: Output } | { issues: string[] } {
  const { success, data, error } = schema.safeParse(value, { error: typeMessage })
  const mistakes = [...(success ? [] : error.issues.flatMap(toMistakes)), ...others]
  const issues = mistakes.map(({ path, message }) => `${shownPointer(path)} ${message}`.trim())
  return success && issues.length === 0 ? { data } : { issues }
}

export const name = z
  .string()
  .check(z.regex(/^[\w-]{1,64}$/, { error: 'must be 1 to 64 letters, digits, "_" and "-"' }))

export const nonEmpty = z.string().check(z.minLength(1, { error: 'must not be empty' }))

export function listOf<T extends z.core.$ZodType>(item: T) {
  return z.array(item).check(z.minLength(1, { error: 'must not be an empty array' }))
}

/** A value, or an array of values. */
export function oneOrMore<T extends z.core.$ZodType<string, unknown>>(item: T) {
  return z.pipe(
    z.union([item, listOf(item)]),
    z.transform((value): string[] => (Array.isArray(value) ? value : [value as string])),
  )
}

/** For a check of an object: runs it also if one of the object's values is wrong, when Zod would skip it. */
export const always = { when: ({ value }: { value: unknown }) => isObject(value) }

/** A record whose values are checked even if their name is wrong. Zod's own records do not check them then. */
export function recordOf<T extends z.core.$ZodType>(name: z.core.$ZodType<string, string>, value: T) {
  return z.record(z.string(), value).check(
    z.check(({ value, issues }) => {
      for (const key of Object.keys(value)) {
        const [issue] = z.safeParse(name, key).error?.issues ?? []
        if (issue) issues.push({ code: 'custom', input: key, path: [key], message: `has a name that ${issue.message}` })
      }
    }, always),
  )
}

/** A URL with TLS, or on loopback: its requests cannot be read on the network. */
export const privateUrl = z.string().check(
  z.refine(isPrivateUrl, {
    error: 'must be a URL that begins with https:// (http:// only on loopback), without user, password and fragment',
  }),
)

function isPrivateUrl(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, hostname, username, password, hash } = new URL(value)
  const isProtected =
    protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname.replace(/^\[(.*)\]$/, '$1')))
  return isProtected && username === '' && password === '' && hash === ''
}

/** The message for a value of the wrong type; undefined keeps the schema's own message. */
function typeMessage({ code, input, ...issue }: z.core.$ZodRawIssue): string | undefined {
  if (code !== 'invalid_type') return undefined
  if (input === undefined) return 'is required'
  return `must be ${/^[aeiou]/.test(String(issue.expected)) ? 'an' : 'a'} ${issue.expected}`
}

function toMistakes(issue: z.core.$ZodIssue): Mistake[] {
  const { path, message } = issue
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: [...path, key], message: 'is not a known key' }))
  if (issue.code !== 'invalid_union') return [{ path, message }]
  // A union is a value or an array of values. Only the issues of the form that the document has are reported.
  const branches = issue.errors.filter(([first]) => first?.code !== 'invalid_type' || first.path.length > 0)
  const [meant] = branches
  if (meant === undefined) return [{ path, message: alternatives(issue.errors.flat()) }]
  return meant.flatMap(toMistakes).map((mistake) => ({ ...mistake, path: [...path, ...mistake.path] }))
}

/** One message for a value that has the type of no form. */
function alternatives(issues: readonly z.core.$ZodIssue[]): string {
  const [first = '', ...more] = new Set(issues.map(({ message }) => message))
  return [first, ...more.map((message) => message.replace('must be ', ''))].join(' or ')
}
