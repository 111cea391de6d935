import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorCode } from '../shared/lib/error-code.ts'
import { isObject } from '../shared/lib/json.ts'
import { findJsonSyntaxError } from '../shared/lib/json-syntax-error.ts'

const NAME = '.portico.json'

/** What a flag, a variable and the file can set. */
export const SETTINGS = ['url', 'token', 'namespace', 'catalog'] as const

export type Setting = (typeof SETTINGS)[number]

export interface SettingsFile {
  path: string
  given: Record<string, unknown>
  /** What is wrong with the file as a whole, and keys that are not settings. */
  issues: string[]
}

/** The nearest `.portico.json`: in the folder or in one of its parents. Empty if no folder has one. */
export async function readSettingsFile(directory: string): Promise<SettingsFile> {
  const path = join(directory, NAME)
  const parent = dirname(directory)
  try {
    return await readFrom(path)
  } catch (error) {
    const code = errorCode(error)
    if (code !== 'ENOENT' && code !== 'ENOTDIR')
      return { path, given: {}, issues: [`${path} cannot be read (${code})`] }
    return parent === directory ? { path, given: {}, issues: [] } : readSettingsFile(parent)
  }
}

async function readFrom(path: string): Promise<SettingsFile> {
  // Opened once: another file of this name could follow the one that was checked.
  // A pipe without a writer must not block.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const issue = await ownerIssue(path, file)
    return issue === null ? parse(path, await file.readFile('utf8')) : { path, given: {}, issues: [issue] }
  } finally {
    await file.close()
  }
}

/** In a shared folder, such as `/tmp`, somebody else's file could send the token anywhere. */
async function ownerIssue(path: string, file: FileHandle): Promise<string | null> {
  const { uid } = await file.stat()
  const own = process.getuid?.() ?? uid
  return uid === own || uid === 0 ? null : `${path} belongs to another user; use --url, or copy the file`
}

function parse(path: string, text: string): SettingsFile {
  const error = findJsonSyntaxError(text)
  if (error !== null)
    return { path, given: {}, issues: [`${path} is not valid JSON: line ${error.line}, column ${error.column}`] }
  const given: unknown = JSON.parse(text)
  if (!isObject(given)) return { path, given: {}, issues: [`${path} must contain a JSON object`] }
  const unknown = Object.keys(given).filter((key) => !SETTINGS.some((name) => name === key))
  return {
    path,
    given,
    issues: unknown.map((key) => `${path}: ${JSON.stringify(key)} is not a setting; there are ${SETTINGS.join(', ')}`),
  }
}
