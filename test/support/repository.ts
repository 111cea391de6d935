/** The files of the repository, for tests that compare documents and sources. Paths are relative to its root. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'

const ROOT = new URL('../../', import.meta.url)

export function isThere(path: string): boolean {
  return existsSync(new URL(path, ROOT))
}

export function textOf(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8')
}

/** The files in this folder and below it that have this extension, sorted. */
export function filesIn(folder: string, extension: string): string[] {
  return readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(extension))
    .map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
    .toSorted()
}

/** The TypeScript files below the folders, with slashes on every system. */
export function sourcesIn(...folders: string[]): string[] {
  return folders.flatMap((folder) => ['.ts', '.tsx'].flatMap((extension) => filesIn(folder, extension))).toSorted()
}

export function linesOf(file: string): number {
  return textOf(file).trimEnd().split('\n').length
}
