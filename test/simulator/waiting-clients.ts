/** Clients that wait for runs that do not end in time, and that leave before the response. */
import { ORIGIN } from './client-network.ts'
import { randomOf } from './random.ts'
import type { VirtualTime } from './virtual-time.ts'

const CLIENTS = 4
/** How the ids of their workflows begin. The checker knows nothing of them. */
export const WAITED_FOR = 'waited-for-'

export function waitingClients(seed: number, time: VirtualTime): (() => Promise<void>)[] {
  const random = randomOf(seed, 'waits')

  async function request(path: string, leaveAfterMs: number, body?: object): Promise<void> {
    const init = body && { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
    try {
      const response = await fetch(`${ORIGIN}/workflow/${path}`, { ...init, signal: AbortSignal.timeout(leaveAfterMs) })
      await response.text()
    } catch {
      // It has left, or a message was lost.
    }
  }

  return Array.from({ length: CLIENTS }, (_, number) => async () => {
    await time.sleep(random.below(2000))
    const workflowId = `${WAITED_FOR}${seed}-${number}`
    const start = { workflowName: 'ledger', workflowId, input: { marker: workflowId }, timeout: '5s' }
    const left = request('run', random.chance(0.5) ? 1000 : 30_000, start)
    await time.sleep(300)
    const waits = [1, 2].map(() =>
      request(`${workflowId}/result?wait=${1 + random.below(8)}s`, 500 + random.below(9000)),
    )
    await Promise.all([left, ...waits])
  })
}
