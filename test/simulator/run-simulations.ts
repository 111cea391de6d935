/** Runs simulations in a process of their own, because they replace the clock, timers and random numbers. */
import { execFile } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'

export interface Simulations {
  exitCode: number
  /** The last line, with the hash of all traces. */
  last: string
  /** The lines about violations. */
  violations: string[]
}

// Young objects die before the collector looks at them: a tenth of the time less.
const MEMORY = '--max-semi-space-size=128'

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url))

export interface SimulationsOptions {
  count: number
  from: number
  /** Whether other programs come first. Default: no. */
  inBackground?: boolean
}

export function runSimulations({ count, from, inBackground = false }: SimulationsOptions): Promise<Simulations> {
  const args = [MEMORY, MAIN, '--seeds', String(count), '--from', String(from)]
  return new Promise((resolve) => {
    const simulator = execFile(process.execPath, args, { maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      const lines = `${stderr}${stdout}`.trim().split('\n')
      const violations = lines.filter((line) => line.startsWith('seed '))
      resolve({ exitCode: error === null ? 0 : Number(error.code), last: lines.at(-1) ?? '', violations })
    })
    if (inBackground && simulator.pid !== undefined)
      setPriority(simulator.pid, constants.priority.PRIORITY_BELOW_NORMAL)
  })
}
