/** JSON on the command line: as it stands, `@file`, or `-` for stdin. Numbers stay exact. */
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { RawPayload } from '../../client/index.ts'
import { unlessAborted } from '../../shared/lib/abort.ts'
import { errorCode } from '../../shared/lib/error-code.ts'
import { errorMessage } from '../../shared/lib/error-message.ts'
import { isObject, parseJson } from '../../shared/lib/json.ts'
import { findJsonSyntaxError } from '../../shared/lib/json-syntax-error.ts'
import { UsageError } from '../failures.ts'
import { printNote } from '../output/terminal.ts'

export interface ArgumentFlags {
  input?: string
  /** One for each argument. */
  arg?: string[]
  /** The path of a file. */
  payloads?: string
}

/** The arguments of a workflow or a handler. */
export type GivenArguments = { input: unknown } | { args: unknown[] } | { payloads: RawPayload[] }

/**
 * Null if none of the flags is given. Throws a `UsageError` for anything that is not JSON.
 * `options`, if set, is read from stdin too if it is `-`.
 */
export async function readArguments(
  { input, arg, payloads, options }: ArgumentFlags & { options?: string },
  signal: AbortSignal,
): Promise<GivenArguments | null> {
  if ([input, arg, payloads].filter((flag) => flag !== undefined).length > 1)
    throw new UsageError('Use only one of --input, --arg and --payloads')
  if ([options, input, ...(arg ?? [])].filter((value) => value === '-').length > 1)
    throw new UsageError('Only one value can be read from stdin; use @file for the others')
  if (input !== undefined) return { input: await readJsonArgument('--input', input, signal) }
  if (payloads !== undefined) return { payloads: await readPayloads(payloads, signal) }
  if (arg === undefined) return null
  const args: unknown[] = []
  for (const value of arg) args.push(await readJsonArgument('--arg', value, signal))
  return { args }
}

/** Payloads from a file. The service checks them. */
export async function readPayloads(path: string, signal: AbortSignal): Promise<RawPayload[]> {
  const payloads = await readJsonArgument('--payloads', `@${path}`, signal)
  if (!Array.isArray(payloads)) throw new UsageError('--payloads must be the file of a JSON array')
  return payloads
}

/** Throws a `UsageError` for a value that is not JSON. */
export async function readJsonArgument(flag: string, value: string, signal: AbortSignal): Promise<unknown> {
  const json = await readArgument(flag, value, signal)
  const error = findJsonSyntaxError(json)
  if (error !== null) throw new UsageError(syntaxMessage(flag, value, error))
  try {
    return parseJson(json)
  } catch (error) {
    throw new UsageError(`${flag}: ${errorMessage(error)}`)
  }
}

/** The same, for an object. */
export async function readObjectArgument(
  flag: string,
  value: string,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const given = await readJsonArgument(flag, value, signal)
  if (!isObject(given)) throw new UsageError(`${flag} must be a JSON object`)
  return given
}

/** The text of a flag: as it stands, that of `@file`, or that of stdin. */
export async function readArgument(flag: string, value: string, signal: AbortSignal): Promise<string> {
  if (value === '-') return readStdin(flag, signal)
  if (!value.startsWith('@')) return value
  const path = value.slice('@'.length)
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new UsageError(`${flag}: the file ${path} cannot be read (${errorCode(error)})`)
  }
}

/** Reads stdin. Rejects with the signal's reason on Ctrl-C. */
async function readStdin(flag: string, signal: AbortSignal): Promise<string> {
  if (process.stdin.isTTY) printNote(`Type the value of ${flag}, and Ctrl-D on a line of its own to end it.`)
  try {
    return await unlessAborted(text(process.stdin), signal)
  } finally {
    // An open read would keep the process running.
    process.stdin.destroy()
  }
}

function syntaxMessage(flag: string, value: string, { line, column }: { line: number; column: number }): string {
  const place = value === '-' ? 'stdin, ' : value.startsWith('@') ? `${value.slice(1)}, ` : ''
  const isWord = /^[\w.-]+$/.test(value) && value !== '-'
  const advice = isWord ? `; a string needs quotes: ${flag} '"${value}"'` : ''
  return `${flag} is not valid JSON (${place}line ${line}, column ${column})${advice}`
}
