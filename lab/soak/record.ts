/** The record of a soak: what clients saw, and what the engine's histories say. One JSON object per line. */
import { readFileSync } from 'node:fs'

/** One request of a client, or one call of `portico/client` or the command line, which may send several requests. */
export interface Operation {
  type: 'operation'
  /** Such as `http-3`. */
  client: string
  op: OperationName
  workflowId: string
  /** The run that the client named; absent if it named only the workflow id. */
  runId?: string
  /** The `Idempotency-Key`, if the client chose one. Requests with the same one repeat one operation. */
  key?: string
  /** Part of what was sent, so that histories identify the operation; null for reads. */
  marker: string | null
  /** Epoch milliseconds. */
  startedAt: number
  endedAt: number
  /** What the client knows: `unknown` without a response, and after one that does not say what happened. */
  outcome: 'acknowledged' | 'rejected' | 'unknown'
  answer: Answer
}

export type OperationName =
  | 'start'
  | 'run'
  | 'signal'
  | 'update'
  | 'signal-with-start'
  | 'update-with-start'
  | 'stop'
  | 'terminate'
  | 'reset'
  | 'query'
  | 'result'
  | 'status'

/** What the response said. What it did not say is absent. */
export interface Answer {
  workflowId?: string
  runId?: string
  /** True for a 202, which names the run and says nothing about its end. */
  isAccepted?: boolean
  /** Whether this request started the run. */
  started?: boolean
  /** False if the response to a stop says that the run was closed. */
  changed?: boolean
  /** The header `Idempotency-Replayed`. */
  replayed?: boolean
  status?: string
  /** The output of a workflow, an update or a query. */
  output?: unknown
  /** Name and message of an error. */
  error?: string
  /** Of an error: the update that the run may have received. */
  updateId?: string
  /** Of an error over bare HTTP: whether it has `Retry-After`. */
  isRepeatable?: boolean
}

/** One run, from its history. */
export interface RecordedRun {
  type: 'run'
  workflowId: string
  runId: string
  /** The first run of its chain; its own id if it continues no other run. */
  firstRunId: string
  /** The marker of the reset that created it; null for all other runs. */
  resetMarker: string | null
  /** Of the input that the chain was started with. */
  startMarker: string | null
  startedAt: number
  /** Null while it is open. */
  closedAt: number | null
  /** As the API names it; `continued` if another run continues it. */
  status: string
  /** Null if it did not complete. */
  output: unknown
  messages: RecordedMessage[]
  /** Markers in the reasons of requested cancellations. */
  stops: string[]
  terminatedBy: string | null
}

export interface RecordedMessage {
  kind: 'signal' | 'update'
  marker: string
  /** Of an update that has completed. */
  output?: unknown
}

export interface Recording {
  operations: Operation[]
  runs: RecordedRun[]
}

export function parseRecording(text: string): Recording {
  const lines = text.split('\n').filter((line) => line !== '')
  const entries = lines.map((line): Operation | RecordedRun => JSON.parse(line))
  return {
    operations: entries.filter((entry) => entry.type === 'operation'),
    runs: entries.filter((entry) => entry.type === 'run'),
  }
}

export function readRecording(file: string): Recording {
  return parseRecording(readFileSync(file, 'utf8'))
}
