import { writeFile } from 'node:fs/promises'
import { percentile } from '../../dev/percentiles.ts'
import type { Inventory } from '../../dev/servers/print-inventory.ts'
import type { Operation, Recording } from './record.ts'
import type { Violation } from './violation.ts'

export interface SoakReport {
  seed: number
  minutes: number
  recordFile: string
  recording: Recording
  violations: readonly Violation[]
  /** How often each fault was injected. */
  faults: ReadonlyMap<string, number>
  /** Of the replica that was never stopped, without clients: early, and at the end. Null if not measured. */
  inventories: readonly [Inventory, Inventory] | null
}

const MEBIBYTE = 2 ** 20
const SHOWN_VIOLATIONS = 30

/** Writes the report next to the record: JSON, and what `formatReport` returns. */
export async function writeReport(report: SoakReport, file: string): Promise<void> {
  const { recording, faults, ...rest } = report
  const json = { ...rest, operations: countOperations(recording.operations), faults: Object.fromEntries(faults) }
  await writeFile(`${file}.json`, `${JSON.stringify(json, null, 2)}\n`)
  await writeFile(`${file}.txt`, `${formatReport(report)}\n`)
}

/** Tables of text. */
export function formatReport(report: SoakReport): string {
  const { seed, minutes, recordFile, recording, violations, faults, inventories } = report
  const { operations, runs } = recording
  return [
    `Soak of ${minutes} minutes; SOAK_SEED=${seed} repeats its choices. The record is ${recordFile}`,
    '',
    ...table([
      ['client, operation', 'acknowledged', 'rejected', 'unknown', 'p50 ms', 'p99 ms'],
      ...countOperations(operations).map(({ name, acknowledged, rejected, unknown, p50Ms, p99Ms }) =>
        [name, acknowledged, rejected, unknown, p50Ms, p99Ms].map(String),
      ),
    ]),
    '',
    ...table([['fault', 'times'], ...[...faults].toSorted().map(([name, times]) => [name, String(times)])]),
    ...(inventories === null ? [] : ['', ...table(inventoryRows(inventories))]),
    '',
    `${operations.length} operations compared with the histories of ${runs.length} runs`,
    `${violations.length} violations`,
    ...violations.slice(0, SHOWN_VIOLATIONS).map(({ rule, message }) => `  ${rule}: ${message}`),
  ].join('\n')
}

function countOperations(operations: readonly Operation[]) {
  const byName = Map.groupBy(operations, ({ client, op }) => `${client} ${op}`)
  return [...byName]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([name, all]) => {
      const count = (outcome: Operation['outcome']) => all.filter((operation) => operation.outcome === outcome).length
      const ms = all.map(({ startedAt, endedAt }) => endedAt - startedAt)
      return {
        name,
        acknowledged: count('acknowledged'),
        rejected: count('rejected'),
        unknown: count('unknown'),
        p50Ms: percentile(ms, 0.5),
        p99Ms: percentile(ms, 0.99),
      }
    })
}

function inventoryRows(inventories: readonly [Inventory, Inventory]): string[][] {
  const row = (name: string, read: (inventory: Inventory) => string) => [name, ...inventories.map(read)]
  return [
    ['of one replica', 'early', 'late'],
    row('heap, MiB', ({ heapBytes }) => (heapBytes / MEBIBYTE).toFixed(1)),
    row('resident, MiB', ({ rssBytes }) => (rssBytes / MEBIBYTE).toFixed(1)),
    row('timers', ({ timers }) => String(timers)),
    row('sockets', ({ sockets }) => String(sockets)),
  ]
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
