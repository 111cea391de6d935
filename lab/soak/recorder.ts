/** Writes the record of a soak. */
import { appendFileSync, writeFileSync } from 'node:fs'
import type { Intent, Performed, Send } from './clients/intent.ts'
import type { Operation, RecordedRun, Recording } from './record.ts'

export interface Recorder {
  /** Sends what the client intends, and records the outcome. */
  perform(client: SoakClient, intent: Intent): Promise<Performed>
  addRun(run: RecordedRun): void
  recording: Recording
}

export interface SoakClient {
  /** Such as `http-3`. */
  name: string
  send: Send
}

export function createRecorder(file: string): Recorder {
  writeFileSync(file, '')
  const recording: Recording = { operations: [], runs: [] }
  const append = (entry: object) => appendFileSync(file, `${JSON.stringify(entry)}\n`)
  return {
    recording,
    async perform({ name, send }, intent) {
      const startedAt = Date.now()
      const performed = await send(intent)
      const { op, workflowId, runId, key, marker } = intent
      const operation: Operation = {
        type: 'operation',
        client: name,
        op,
        workflowId,
        ...(runId !== undefined && { runId }),
        ...(key !== undefined && { key }),
        marker,
        startedAt,
        endedAt: Date.now(),
        ...performed,
      }
      recording.operations.push(operation)
      append(operation)
      return performed
    },
    addRun(run) {
      recording.runs.push(run)
      append(run)
    },
  }
}
