/** Small defects in all folders of the sources, and for each the test that finds it. */
import { readFile } from 'node:fs/promises'
import type { Mutant } from '../soak/mutants/list.ts'

export interface TestedMutant extends Mutant {
  /** The file of a test that fails. */
  test: string
}

const rows: Omit<TestedMutant, 'name'>[] = JSON.parse(await readFile(new URL('./list.json', import.meta.url), 'utf8'))

export const MUTANTS: readonly TestedMutant[] = rows.map((row) => ({ ...row, name: nameOf(row) }))

/** What is different, without the text around it. */
function nameOf({ file, target, replacement }: Omit<TestedMutant, 'name'>): string {
  return `${file}: ${lineOf(target, replacement)} -> ${lineOf(replacement, target)}`
}

function lineOf(text: string, other: string): string {
  const lines = other.split('\n')
  return (
    text
      .split('\n')
      .find((line) => !lines.includes(line))
      ?.trim() ?? 'nothing'
  )
}
