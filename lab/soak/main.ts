/**
 * `npm run soak`: all kinds of operations through `portico/client`, the command line and bare HTTP, while messages are
 * lost between clients, service and engine, replicas and the engine are killed, and workers are replaced. Afterwards
 * what the clients saw is compared with the engine's histories (`checker.ts`).
 *
 * `SOAK_MINUTES` (10) and `SOAK_SEED` (random) change it. `SOAK_REPORT` is the folder of the record and the report;
 * without it they are in `.cache/soak`. `SOAK_OPERATIONS` is a minimum, `SOAK_CLIENTS` names the clients,
 * `SOAK_OUTAGES=false` replaces nothing, and `SOAK_GROWTH=false` measures no memory. Exits with 1 if there is a
 * violation.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatReport, writeReport } from './report.ts'
import { runSoak } from './run-soak.ts'

const minutes = Number(process.env.SOAK_MINUTES ?? 10)
const seed = Number(process.env.SOAK_SEED ?? Math.floor(Math.random() * 2 ** 31))
const folder = process.env.SOAK_REPORT ?? fileURLToPath(new URL('../../.cache/soak/', import.meta.url))
const clients = (process.env.SOAK_CLIENTS ?? 'http,portico,cli').split(',')
const minOperations = Number(process.env.SOAK_OPERATIONS ?? 0)
const causesOutages = process.env.SOAK_OUTAGES !== 'false'
const measuresGrowth = process.env.SOAK_GROWTH !== 'false'

const print = (line: string) => void process.stdout.write(`${line}\n`)

print(`Soak of ${minutes} minutes, SOAK_SEED=${seed}`)
await mkdir(folder, { recursive: true })
const report = await runSoak({ minutes, seed, folder, minOperations, causesOutages, clients, measuresGrowth, print })
await writeReport(report, join(folder, `report-${seed}`))
print(formatReport(report))
process.exit(report.violations.length === 0 ? 0 : 1)
