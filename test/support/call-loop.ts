/**
 * Calls the engine over TLS on Node, Bun or Deno. Prints how many calls it has made and its resident memory after each
 * batch. Arguments: the engine's address, the path of the certificate authority, the number of calls, the milliseconds
 * after which it makes no more, and the number of calls that it makes however long they take.
 */
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { grpcTransport } from '../../src/service/engine/transport/grpc/transport.ts'

declare const Bun: { gc(synchronous: boolean): void } | undefined
declare const gc: (() => void) | undefined

export interface MemorySample {
  /** So far. */
  calls: number
  failed: number
  residentBytes: number
}

// With garbage collected after each 1000 calls, that took a third of the CPU time.
const BATCH = 5000
const AT_ONCE = 50

const [address = '', ca = '', maxCalls = '', maxMs = '', minCalls = ''] = process.argv.slice(2)
const transport = grpcTransport({
  address,
  apiKey: null,
  tls: { ca: readFileSync(ca, 'utf8'), serverName: 'localhost' },
})

let failed = 0
const endsAt = Date.now() + Number(maxMs)
const isDue = (calls: number) => calls <= Number(minCalls) || (calls <= Number(maxCalls) && Date.now() < endsAt)
for (let calls = BATCH; isDue(calls); calls += BATCH) {
  await callMany(BATCH)
  collectGarbage()
  const sample: MemorySample = { calls, failed, residentBytes: process.memoryUsage.rss() }
  console.log(JSON.stringify(sample))
}
await transport.close()

async function callMany(count: number): Promise<void> {
  let left = count
  async function callInTurn(): Promise<void> {
    while (left-- > 0) {
      const options = { deadlineAt: Date.now() + 30_000, signal: new AbortController().signal }
      await transport.call('getSystemInfo', {}, options).catch(() => failed++)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, callInTurn))
}

function collectGarbage(): void {
  if (typeof Bun !== 'undefined') Bun.gc(true)
  else gc?.()
}
