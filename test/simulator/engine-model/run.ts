/** A run of the model, and what the engine says about it. */

export const STATUS = {
  running: 1,
  completed: 2,
  failed: 3,
  canceled: 4,
  terminated: 5,
  continued: 6,
  timedOut: 7,
  paused: 8,
} as const

export type RunStatus = (typeof STATUS)[keyof typeof STATUS]

/** The types of events that the model records: https://api-docs.temporal.io/#temporal.api.enums.v1.EventType */
export const EVENT = {
  started: 1,
  completed: 2,
  failed: 3,
  taskScheduled: 5,
  taskStarted: 6,
  taskCompleted: 7,
  taskFailed: 9,
  activityScheduled: 10,
  activityStarted: 11,
  activityCompleted: 12,
  activityFailed: 13,
  timerStarted: 17,
  timerFired: 18,
  timerCanceled: 19,
  cancelRequested: 20,
  canceled: 21,
  signaled: 26,
  terminated: 27,
  continued: 28,
  updateAccepted: 41,
  updateCompleted: 43,
  updateAdmitted: 47,
  paused: 58,
  unpaused: 59,
} as const

export interface Payloads {
  payloads?: Payload[] | null
}

export interface Payload {
  metadata?: Record<string, Uint8Array> | null
  data?: Uint8Array | null
}

export interface HistoryEvent {
  eventId: number
  eventType: number
  eventTime: Timestamp
  [attributes: string]: unknown
}

export interface Timestamp {
  seconds: number
  nanos: number
}

export interface Update {
  id: string
  name: string
  args: Payloads | null
  /** 1 admitted, 2 accepted, 3 completed. */
  stage: 1 | 2 | 3
  outcome: object | null
}

export interface Activity {
  id: string
  type: string
  scheduledEventId: number
}

export interface Run {
  workflowId: string
  runId: string
  firstRunId: string
  /** The run that it continues; empty for none. */
  continuedFrom: string
  type: string
  taskQueue: string
  input: Payloads | null
  memo: object
  status: RunStatus
  startedAt: number
  closedAt: number | null
  startRequestId: string
  /** Of the start, and those that later requests have attached. */
  requestIds: Set<string>
  signalIds: Set<string>
  isCancelRequested: boolean
  events: HistoryEvent[]
  /** How many events the worker has seen. */
  seen: number
  /** The run that a reset of this one has created. */
  resetRunId?: string
  updates: Map<string, Update>
  activities: Map<string, Activity>
  /** The events that have started the timers that have not fired. */
  timers: Set<number>
  /** What timers that have fired continue in the next workflow task. */
  fired: (() => Command[])[]
  /** What the worker keeps about it. */
  state: unknown
}

/** What a workflow task returns. */
export type Command =
  | { accept: Update }
  | { answer: Update; value: unknown }
  | { reject: Update; message: string }
  /** A timer. */
  | { afterMs: number; next(): Command[] }
  /** An activity that completes with its input, or, without `runsMs`, when a client completes it. */
  | { activity: string; type: string; input: unknown; runsMs?: number }
  | { complete: unknown }
  | { fail: string }
  | { continueAsNew: unknown }
  | { cancel: true }

/** The workers of the model: they poll one task queue, and carry out the workflows of the soak. */
export interface WorkerModel {
  /** Carries out a workflow task: what to do after these events, and with updates that it has not seen. */
  task(run: Run, events: readonly HistoryEvent[], updates: readonly Update[]): Command[]
  /** The result of a query; undefined if the workflow has no such handler. */
  query(run: Run, name: string): unknown
  latencyMs(): number
}

/** The time of the engine. */
export interface ModelClock {
  /** Epoch milliseconds. */
  now(): number
  after(ms: number, act: () => void): unknown
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function toPayload(value: unknown): Payload {
  return { metadata: { encoding: encoder.encode('json/plain') }, data: encoder.encode(JSON.stringify(value)) }
}

export function toPayloads(value: unknown): Payloads {
  return { payloads: [toPayload(value)] }
}

/** The first value; undefined without one. */
export function firstValue(payloads: Payloads | null | undefined): unknown {
  const data = payloads?.payloads?.[0]?.data
  return data === undefined || data === null ? undefined : JSON.parse(decoder.decode(data))
}

export function toTimestamp(ms: number): Timestamp {
  return { seconds: Math.floor(ms / 1000), nanos: (ms % 1000) * 1_000_000 }
}

export function isOpen({ status }: Run): boolean {
  return status === STATUS.running || status === STATUS.paused
}
