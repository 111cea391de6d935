import type { Inventory } from '../../dev/servers/observed-service.ts'
import type { Ledger } from './ledger.ts'

export interface SoakReport {
  seed: number
  minutes: number
  ledger: Ledger
  faults: ReadonlyMap<string, number>
  auditedRuns: number
  /** Of the replica that was never stopped, without clients: early, and at the end. */
  inventories: readonly [Inventory, Inventory]
}

const MEBIBYTE = 2 ** 20
const SHOWN_VIOLATIONS = 30

/** Tables of text. */
export function formatReport({ seed, minutes, ledger, faults, auditedRuns, inventories }: SoakReport): string {
  const responses = ledger
    .rows()
    .map(({ endpoint, outcomes, p50Ms, p99Ms }) => [
      endpoint,
      `${sum(outcomes.values())}`,
      [...outcomes].map(([outcome, count]) => `${outcome}: ${count}`).join(', '),
      p50Ms.toFixed(0),
      p99Ms.toFixed(0),
    ])
  const [early, late] = inventories
  return [
    `Soak of ${minutes} minutes, SOAK_SEED=${seed} repeats it`,
    '',
    ...table([['request', 'count', 'outcomes', 'p50 ms', 'p99 ms'], ...responses]),
    '',
    ...table([['fault', 'times'], ...[...faults].map(([name, times]) => [name, `${times}`])]),
    '',
    ...table([
      ['of one replica', 'early', 'late'],
      ['heap, MiB', ...[early, late].map(({ heapBytes }) => (heapBytes / MEBIBYTE).toFixed(1))],
      ['resident, MiB', ...[early, late].map(({ rssBytes }) => (rssBytes / MEBIBYTE).toFixed(1))],
      ['timers', ...[early, late].map(({ timers }) => `${timers}`)],
      ['sockets', ...[early, late].map(({ sockets }) => `${sockets}`)],
    ]),
    '',
    `${ledger.workflows.length} workflows, ${auditedRuns} runs compared with the engine's histories`,
    `${ledger.violations.length} violations`,
    ...ledger.violations.slice(0, SHOWN_VIOLATIONS).map((violation) => `  ${violation}`),
  ].join('\n')
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, number) => total + number, 0)
}
