/** What a row of `docs/what-happens-when.md` promises its readers, for the tests that prove it. */
import { textOf } from './repository.ts'

export interface Row {
  number: number
  /** What callers see, and for how long: errors like `503 EngineUnavailableError` or `503`, and times like `5 s`. */
  promises: ReadonlySet<string>
  /** The names that the row quotes. */
  quoted: string[]
}

const ROW = /^\| (\d+)\. .+?( \| (.+?) \| (.+?) \| .+) \|$/gm
const ERROR = /\b([1-5]\d\d)\b(?! s\b)(?: \[`(\w+)`\])?/g
const TIME = /\b\d+ s\b/g

const rows: Row[] = [...textOf('docs/what-happens-when.md').matchAll(ROW)].map(
  ([, number, cells = '', seen = '', lasting = '']) => ({
    number: Number(number),
    promises: new Set([
      ...[...seen.matchAll(ERROR)].map(([, status = '', name]) => (name === undefined ? status : `${status} ${name}`)),
      ...(`${seen} ${lasting}`.match(TIME) ?? []),
    ]),
    quoted: [...cells.matchAll(/`(.+?)`/g)].map(([, name = '']) => name),
  }),
)

export function failureRows(): readonly Row[] {
  return rows
}

/** Its status and its name, as in `promisedError(12, '502 EngineError')`. Throws if the row does not promise it. */
export function promisedError(row: number, error: string): [status: number, ...name: string[]] {
  const [status, ...name] = promised(row, error).split(' ')
  return [Number(status), ...name]
}

/** In milliseconds, as in `promisedMs(3, '5 s')`. Throws if the row does not promise it. */
export function promisedMs(row: number, time: string): number {
  return Number.parseInt(promised(row, time), 10) * 1000
}

function promised(number: number, promise: string): string {
  if (rows.find((row) => row.number === number)?.promises.has(promise)) return promise
  throw new Error(`docs/what-happens-when.md, row ${number}: does not promise ${promise}`)
}
