/** JSON on the command line: as it stands, `@file`, or `-` for stdin. Numbers stay exact. */
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { errorCode } from '../lib/error-code.ts'
import { errorMessage } from '../lib/error-message.ts'
import { parseJson } from '../lib/exact-json.ts'
import { isObject } from '../lib/is-object.ts'
import { findJsonSyntaxError } from '../lib/json-syntax-error.ts'
import { UsageError } from './failures.ts'

export interface ArgumentFlags {
  input?: string
  /** One for each argument. */
  arg?: string[]
}

/** The arguments of a workflow or a handler. */
export type Arguments = { input: unknown } | { args: unknown[] }

/** Null if neither flag is given. Throws a `UsageError` for anything that is not JSON. */
export async function readArguments({ input, arg }: ArgumentFlags): Promise<Arguments | null> {
  if (input !== undefined && arg !== undefined) throw new UsageError('Use --input or --arg, not both')
  if ([input, ...(arg ?? [])].filter((value) => value === '-').length > 1)
    throw new UsageError('Only one --arg can be read from stdin')
  if (input !== undefined) return { input: await readJsonArgument('--input', input) }
  if (arg === undefined) return null
  const args: unknown[] = []
  for (const value of arg) args.push(await readJsonArgument('--arg', value))
  return { args }
}

export async function readJsonArgument(flag: string, value: string): Promise<unknown> {
  const json = await sourceOf(flag, value)
  const error = findJsonSyntaxError(json)
  if (error !== null) throw new UsageError(syntaxMessage(flag, value, error))
  try {
    return parseJson(json)
  } catch (error) {
    throw new UsageError(`${flag}: ${errorMessage(error)}`)
  }
}

/** The same, for an object. */
export async function readObjectArgument(flag: string, value: string): Promise<Record<string, unknown>> {
  const given = await readJsonArgument(flag, value)
  if (!isObject(given)) throw new UsageError(`${flag} must be a JSON object`)
  return given
}

async function sourceOf(flag: string, value: string): Promise<string> {
  if (value === '-') return text(process.stdin)
  if (!value.startsWith('@')) return value
  const path = value.slice('@'.length)
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new UsageError(`${flag}: the file ${path} cannot be read (${errorCode(error)})`)
  }
}

function syntaxMessage(flag: string, value: string, { line, column }: { line: number; column: number }): string {
  const place = value === '-' ? 'stdin, ' : value.startsWith('@') ? `${value.slice(1)}, ` : ''
  const isWord = /^[\w.-]+$/.test(value) && value !== '-'
  const advice = isWord ? `; a string needs quotes: ${flag} '"${value}"'` : ''
  return `${flag} is not valid JSON (${place}line ${line}, column ${column})${advice}`
}
