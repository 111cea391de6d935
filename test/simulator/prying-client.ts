/** Clients that send requests about the workflows of other tenants, and that list what they may see. */
import { ORIGIN } from './client-network.ts'
import type { Run } from './engine-model/run.ts'
import { randomOf } from './random.ts'
import type { Tenants } from './tenants.ts'
import type { VirtualTime } from './virtual-time.ts'

export interface Prying {
  seed: number
  client: string
  time: VirtualTime
  tenants: Tenants
  runs: ReadonlyMap<string, Run>
}

const REQUESTS = 8

export async function pry({ seed, client, time, tenants, runs }: Prying): Promise<void> {
  // Without a policy, everything is of everybody.
  if (tenants.policy() === null) return
  const random = randomOf(seed, `prying ${client}`)

  async function request(path: string, init: RequestInit): Promise<void> {
    try {
      await (await fetch(`${ORIGIN}/workflow${path}`, init)).text()
    } catch {
      // A message was lost.
    }
  }

  for (let count = 0; count < REQUESTS; count++) {
    await time.sleep(random.below(1500))
    const others = [...runs.values()].filter(({ workflowId }) => !tenants.owns(client, workflowId))
    const { workflowId, runId } = others[random.below(others.length)] ?? { workflowId: 'none', runId: 'none' }
    const workflow = `/${encodeURIComponent(workflowId)}${random.chance(0.5) ? `/runs/${runId}` : ''}`
    const payload = `pry-${seed}-${count}`
    const [method, path] = random.pick<readonly [string, string]>([
      ['GET', `${workflow}/status`],
      ['GET', `${workflow}/result?wait=1s`],
      ['GET', `${workflow}/history`],
      ['POST', `${workflow}/signal/finish`],
      ['POST', `${workflow}/update/set`],
      ['POST', `${workflow}/query/state`],
      ['POST', `${workflow}/terminate`],
      ['PATCH', `${workflow}/stop`],
      ['GET', '/runs?pageSize=100'],
      ['GET', '/runs?pageSize=100'],
    ])
    const isMessage = /\/(?:signal|update|query)\//.test(path)
    const body = JSON.stringify(isMessage ? { payload } : { reason: payload })
    const headers = { 'Content-Type': 'application/json' }
    await request(path, method === 'GET' ? {} : { method, headers, body })
  }
}
