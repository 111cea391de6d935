import { exitSignal, type RunningProcess } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { undisturbedClock } from './idle-clock.ts'

// A busy machine takes many times as long as an idle one, also to download.
const TIMEOUT_MS = 600_000

/** Waits until `portico dev`, which has just begun, lists runs. Returns how long that took by `undisturbedClock`. */
export async function msToFirstAnswer(dev: RunningProcess, port: number): Promise<number> {
  const passedMs = undisturbedClock(dev)
  const isAnswered = async () => (await fetch(`http://127.0.0.1:${port}/workflow/runs`)).ok
  await until('the service lists runs', isAnswered, { timeoutMs: TIMEOUT_MS, signal: exitSignal(dev, 'portico dev') })
  return passedMs()
}
