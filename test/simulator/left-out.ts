/** What no simulation shows. Other tests cover it with real servers. */
import { METHODS } from '../../src/service/engine/transport/transport.ts'
import type { EngineModel } from './engine-model/engine-model.ts'

const PARTS = [
  'bytes on the wire: gRPC, HTTP and TLS between all processes, proxies, compression, sizes of values and messages',
  'other runtimes: one Node process runs everything, so neither memory nor CPU time nor sockets count',
  'workers: the workflows of the soak alone, with neither replays, sticky queues, versions nor failing tasks',
  'the engine: timeouts, retries and crons of runs; retries, failures and heartbeats of activities; search attributes',
  'the order in which a reset repeats several updates, which the engine leaves open',
  'its visibility: all but the queries of waits and of lists without filters',
  'its limits: all but the rate of the namespace',
  'activities without a workflow, batches, bulks, streams, traces, schedules, webhooks, links, MCP, JWTs, the codec server, and stores of traces',
]

export function leftOut({ methods }: Pick<EngineModel, 'methods'>): string[] {
  const missing = METHODS.filter((method) => !methods.includes(method))
  return [`calls to the engine: ${missing.join(', ')}`, ...PARTS]
}
