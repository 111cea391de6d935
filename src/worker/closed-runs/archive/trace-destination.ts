import type { StoreCall } from '../../../shared/stores/store-call.ts'
import type { SpanRun } from '../../tracing/span.ts'

/** Stores archived traces, one document per run. Every method rejects if the destination cannot be used. */
export interface TraceDestination {
  /** For log messages: `bucket my-traces`, `folder /var/traces`. */
  name: string
  has(run: SpanRun, call: StoreCall): Promise<boolean>
  /** Null if no trace of the run is stored. */
  read(run: SpanRun, maxBytes: number, call: StoreCall): Promise<StoredTrace | null>
  /**
   * Replaces the stored trace of that version, or creates it if `version` is null. Returns false if the stored
   * version is another one.
   */
  write(run: SpanRun, text: string, version: string | null, call: StoreCall): Promise<boolean>
  /** Rejects with the reason if the destination cannot be written to. */
  check(call: StoreCall): Promise<void>
}

export interface StoredTrace {
  text: string
  /** Changes with every write. */
  version: string
}
