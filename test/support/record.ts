/** What a run of the tests has seen, for `coverage.test.ts`: lines in a folder that all its processes append to. */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** One answer of the API. */
export interface SeenAnswer {
  method: string
  /** Like `/workflow/:id/status`. */
  route: string
  status: number
  /** The stable name; null when it was no error. */
  error: string | null
  /** `disturbed`: something between the API and its engine was made to lie or to be silent. */
  engine: 'disturbed' | 'real'
}

/** One rule of the API, proven. */
export interface ProvenRule {
  id: string
}

/** A process whose log lines were all checked. */
export interface WatchedProcess {
  /** The names of the variables in its environment. */
  variables: string[]
}

/** A line that shows the value of a variable, or details of the machine. */
export interface Leak {
  variable: string
  line: string
}

interface Lists {
  answers: SeenAnswer
  leaks: Leak
  rules: ProvenRule
  watched: WatchedProcess
}

// Two runs at once in one checkout need a folder each.
const FOLDER = process.env.PORTICO_TEST_RECORD ?? fileURLToPath(new URL('../../.cache/test-record/', import.meta.url))

mkdirSync(FOLDER, { recursive: true })

/** Deletes the records of an earlier run. */
export function beginRecord(): void {
  for (const name of readdirSync(FOLDER)) rmSync(join(FOLDER, name))
}

/** Lines must be short: then concurrent appends by several processes do not mix. */
export function record<List extends keyof Lists>(list: List, entry: Lists[List]): void {
  appendFileSync(fileOf(list), `${JSON.stringify(entry)}\n`)
}

export function recorded<List extends keyof Lists>(list: List): Lists[List][] {
  const file = fileOf(list)
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Lists[List] => JSON.parse(line))
}

function fileOf(list: keyof Lists): string {
  return join(FOLDER, `${list}.jsonl`)
}
