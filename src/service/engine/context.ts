/**
 * The context of engine calls: the parts that their requests share, what is known about the engine's clock, and values
 * as Temporal's payloads.
 */
import type { temporal } from '@temporalio/proto'
import { fromBase64 } from '../../shared/lib/base64.ts'
import {
  type Codec,
  createPayloadReader,
  encodingOf,
  needsCodec,
  type Payload,
  type PayloadReader,
  toPayload,
} from '../../shared/temporal/payload.ts'
import { toRedactable } from '../../shared/temporal/redactable-value.ts'
import type { Call } from '../model/call.ts'
import type { EngineFeatures } from '../model/engine.ts'
import { type ErrorFacts, ServiceError } from '../model/errors.ts'
import type { ExecutionRef } from '../model/execution.ts'
import { isRawPayload } from '../model/raw-payload.ts'
import type { Headers } from '../model/workflow-options.ts'
import type { PollSlots } from './polls.ts'
import type { Rpc } from './rpc.ts'

/** What every engine call needs. */
export interface EngineContext {
  rpc: Rpc
  /** What the transport supports. */
  features: EngineFeatures
  namespace: string
  payloads: Payloads
  clock: EngineClock
  /** For every long poll. */
  polls: PollSlots
}

/** The identity that the engine records with our requests. It names neither host nor process. */
export const IDENTITY = 'portico'

/** The same with the caller, for requests that change something: the engine's history is the audit log. */
export function identityOf({ caller }: Call): string {
  return caller === undefined ? IDENTITY : `${IDENTITY} ${caller.id}`
}

/** The engine's form of a reference. An empty run id means the latest run. */
export function toExecution({ workflowId, runId = '' }: ExecutionRef): temporal.api.common.v1.IWorkflowExecution {
  return { workflowId, runId }
}

/** The details of every error about this execution. */
export function executionIds({ workflowId, runId }: ExecutionRef): ErrorFacts {
  return runId === undefined ? { workflowId } : { workflowId, runId }
}

export interface RequestHeaders {
  /** The engine's form; null without headers. */
  header: ReturnType<typeof toHeader>
  /** For the limit on the size of the request. */
  payloads: Payload[]
}

/** What the request carries to the interceptors of workers. Headers in its body replace those of the HTTP request. */
export function requestHeaders({ traceContext, forwardedHeaders = {} }: Call, headers: Headers = {}): RequestHeaders {
  const trace: [string, unknown][] = traceContext === undefined ? [] : [[TRACE_HEADER, traceContext]]
  const header = toHeader(new Map([...trace, ...Object.entries(forwardedHeaders), ...Object.entries(headers)]))
  return { header, payloads: Object.values(header?.fields ?? {}) }
}

/** Where the OpenTelemetry interceptors of Temporal's SDKs look for a trace context: a JSON object of strings. */
const TRACE_HEADER = '_tracer-data'

/** Temporal headers, as plain JSON: interceptors read them without a codec. Null without any. */
function toHeader(
  values: ReadonlyMap<string, unknown>,
): { fields: Record<string, temporal.api.common.v1.IPayload> } | null {
  if (values.size === 0) return null
  return { fields: Object.fromEntries([...values].map(([name, value]) => [name, toPayload(value)])) }
}

/** What is known about the engine's clock, from the start times of runs. */
export interface EngineClock {
  /**
   * Records a time of the engine's clock (epoch milliseconds) that has just been received. `isNew`: that of a run that
   * the call has started, which shows how far the clock is behind even if that is more than a minute.
   */
  observe(engineTime: number | null, options?: { isNew: boolean }): void
  /** The earliest time that the engine's clock can have shown when ours showed `at` (both epoch milliseconds). */
  earliest(at: number): number
}

// Assumed until it is measured: no engine is further behind than this.
const MAX_BEHIND_MS = 60_000

// A measurement expires, because clocks are adjusted.
const MEASUREMENT_VALID_MS = 600_000

/**
 * Keeps an upper bound of how far the engine's clock is behind ours: the difference between the arrival of a response
 * and the newest time in it.
 *
 * A clock that seems to be ahead counts as exact: an engine may have several hosts, and only one of them may be ahead.
 */
export function createEngineClock(now: () => number = Date.now): EngineClock {
  let measured = { behindMs: MAX_BEHIND_MS, validUntil: 0 }
  const isMeasured = () => now() < measured.validUntil
  const behindMs = () => (isMeasured() ? measured.behindMs : MAX_BEHIND_MS)
  return {
    observe(engineTime, { isNew } = { isNew: false }) {
      if (engineTime === null) return
      const differenceMs = Math.max(0, now() - engineTime)
      const isCloser = differenceMs <= behindMs() || (isNew && !isMeasured())
      if (isCloser) measured = { behindMs: differenceMs, validUntil: now() + MEASUREMENT_VALID_MS }
    },
    earliest: (at) => at - behindMs(),
  }
}

/** Values to Temporal's payloads and back. */
export interface Payloads extends PayloadReader {
  /** For places where secrets are redacted. */
  redactable: PayloadReader
  /** Whether values are encoded by a codec. */
  hasCodec: boolean
  /**
   * Rejects with `PayloadTooLargeError` when the encoded payloads exceed the limit, together with `others`, which are
   * sent in the same call. Null for an empty list.
   */
  encode(values: readonly unknown[], others?: readonly Payload[]): Promise<temporal.api.common.v1.IPayloads | null>
  /** The same for several lists. The codec is called once. */
  encodeLists(lists: readonly (readonly unknown[])[], others?: readonly Payload[]): Promise<Payload[][]>
}

interface PayloadOptions {
  codec: Codec | null
  /** For all payloads of one call together. */
  maxBytes: number
  /** Called for each output that only a codec can decode, while none is configured. */
  onEncodedOutput?: (output: EncodedOutput) => void
}

export interface EncodedOutput {
  encoding: string
  workflowId: string
}

export function createPayloads({ codec, maxBytes, onEncodedOutput = () => {} }: PayloadOptions): Payloads {
  const reader = createPayloadReader(codec)

  async function encode(values: readonly unknown[], others: readonly Payload[]): Promise<Payload[]> {
    const plain = values.map(toEnginePayload)
    const payloads = codec === null || plain.length === 0 ? plain : await codec.encode(plain)
    assertSize([...payloads, ...others], maxBytes)
    return payloads
  }

  return {
    ...reader,
    redactable: createPayloadReader(codec, toRedactable),
    hasCodec: codec !== null,

    encode: async (values, others = []) => toPayloads(await encode(values, others)),

    async encodeLists(lists, others = []) {
      const payloads = await encode(lists.flat(), others)
      return lists.map(({ length }) => payloads.splice(0, length))
    },

    decodeOutput(payloads, workflowId) {
      const encoded = codec === null && workflowId !== undefined ? payloads?.find(needsCodec) : undefined
      if (encoded && workflowId !== undefined) onEncodedOutput({ encoding: encodingOf(encoded), workflowId })
      return reader.decodeOutput(payloads)
    },
  }
}

const encoder = new TextEncoder()

function toEnginePayload(given: unknown): Payload {
  if (!isRawPayload(given)) return toPayload(given)
  const { metadata, data = '', ...json } = given.$payload
  return {
    metadata: Object.fromEntries(Object.entries(metadata).map(([key, text]) => [key, encoder.encode(text)])),
    data: 'value' in json ? encoder.encode(JSON.stringify(json.value)) : fromBase64(data),
  }
}

/** Null for an empty list, as the engine expects it. */
export function toPayloads(payloads: Payload[]): temporal.api.common.v1.IPayloads | null {
  return payloads.length === 0 ? null : { payloads }
}

// The most that protobuf adds to a payload, and to each entry of its metadata.
const PAYLOAD_BYTES = 10
const ENTRY_BYTES = 12

function assertSize(payloads: Payload[], maxBytes: number): void {
  const bytes = payloads.reduce((sum, payload) => sum + sizeOf(payload), 0)
  if (bytes <= maxBytes) return
  throw new ServiceError(
    'PayloadTooLargeError',
    `The payload is ${bytes} bytes as encoded for the engine; the limit is ${maxBytes} bytes. Store large values elsewhere and send a reference`,
    { details: { source: 'gateway' } },
  )
}

/** An upper bound of the size that the payload has in protobuf. */
export function sizeOf({ data, metadata }: Payload): number {
  const entries = Object.entries(metadata ?? {}).map(([key, value]) => key.length + value.length + ENTRY_BYTES)
  return entries.reduce((sum, bytes) => sum + bytes, (data?.length ?? 0) + PAYLOAD_BYTES)
}
