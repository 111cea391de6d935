/** Tests that prove what a page says: titles end with `(threat 17)`, `(threats 1, 2)` or `(failure 12)`. */
import { sourcesIn, textOf } from './repository.ts'

/** `threat`: an attack of `docs/threat-model.md`; `failure`: a row of `docs/what-happens-when.md`. */
export type Subject = 'threat' | 'failure'

export interface Proof {
  number: number
  file: string
  title: string
}

/** The tests whose title names a number of this subject, one entry for each number. */
export function proofsOf(subject: Subject): Proof[] {
  const titles = new RegExp(`(['"\`])([^\\n]*? \\(${subject}s? (\\d+(?:, \\d+)*)\\)[^\\n]*?)\\1,`, 'g')
  return sourcesIn('test', 'lab').flatMap((file) =>
    [...textOf(file).matchAll(titles)].flatMap(([, , title = '', numbers = '']) =>
      numbers.split(', ').map((number) => ({ number: Number(number), file, title })),
    ),
  )
}
