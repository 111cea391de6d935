import type { Engine } from '../domain/engine.ts'
import { type Codec, createPayloads, type EncodedOutput } from '../temporal/payload.ts'
import { fromPayloadJson } from '../temporal/payload-json.ts'
import { cancel, terminate } from './calls/control.ts'
import { describe } from './calls/describe.ts'
import { ping } from './calls/ping.ts'
import { lastPolledAt } from './calls/pollers.ts'
import { query } from './calls/query.ts'
import { input, read } from './calls/read.ts'
import { entries } from './calls/read-entries.ts'
import { readiness } from './calls/readiness.ts'
import { signal } from './calls/signal.ts'
import { start } from './calls/start.ts'
import { update } from './calls/update.ts'
import { updateWithStart } from './calls/update-with-start.ts'
import { wait } from './calls/wait.ts'
import { explaining } from './calls/with-problem.ts'
import { createEngineClock } from './clock.ts'
import type { Wire } from './context.ts'
import { toServiceError } from './errors.ts'
import { createRpc } from './rpc.ts'
import type { Transport } from './transport/transport.ts'

export interface EngineOptions {
  transport: Transport
  namespace: string
  /** Bytes that the payloads of one call may have, encoded, together. */
  maxPayloadBytes: number
  codec: Codec | null
  /** Gets each output, or value of a query or update, that needs a codec while there is none. */
  onEncodedOutput?: (output: EncodedOutput) => void
}

/** Temporal as the port Engine, whatever carries the calls. */
export function createEngine({ transport, namespace, maxPayloadBytes, codec, onEncodedOutput }: EngineOptions): Engine {
  const payloads = createPayloads({ codec, maxBytes: maxPayloadBytes, ...(onEncodedOutput && { onEncodedOutput }) })
  const wire: Wire = { rpc: createRpc(transport), namespace, payloads, clock: createEngineClock() }
  return {
    start: (request, call) => start(wire, request, call),
    wait: (run, call) => wait(wire, run, call),
    describe: (ref, call) => describe(wire, ref, call),
    read: (ref, call, closing) => read(wire, ref, call, closing),
    input: (run, call) => input(wire, run, call),
    signal: (ref, message, call) => signal(wire, ref, message, call),
    query: (ref, message, call) => explaining(wire, ref, call, () => query(wire, ref, message, call)),
    update: (ref, message, updateId, call) =>
      explaining(wire, ref, call, () => update(wire, ref, message, updateId, call)),
    updateWithStart: (request, message, updateId, call) =>
      explaining(wire, null, call, () => updateWithStart(wire, request, message, updateId, call)),
    cancel: (run, options, call) => cancel(wire, run, options, call),
    terminate: (run, reason, call) => terminate(wire, run, reason, call),
    entries: (run, call) => entries(wire, run, call),
    decode: (payloads) => wire.payloads.decode(payloads.map(fromPayloadJson)),
    lastPolledAt: (catalog, call) => lastPolledAt(wire, catalog, call),
    readiness: (call) => readiness(wire, call),
    ping: (call) =>
      ping(wire.rpc, call).catch((error) => Promise.reject(toServiceError(error, { kind: 'read', facts: {} }))),
  }
}
