import { ASKS_MEMO } from './asks.ts'
import { CATALOG_TYPE } from './catalog.ts'
import { SCHEDULE_MEMO } from './schedule-mark.ts'
import { toTraceMeta } from './trace/trace-meta.ts'

const CATALOG_KEYS = ['workflowNames', 'hash', 'traces', 'redacted', 'version']

/** Which request with an `Idempotency-Key` has started the run. Always plain JSON, whatever codec payloads have. */
export const IDEMPOTENCY_MEMO = '$idempotency'

const TRACE_MEMO = 'trace'
const RUN_KEYS = [TRACE_MEMO, IDEMPOTENCY_MEMO, ASKS_MEMO, SCHEDULE_MEMO]

/** The memo fields that Portico reads in a run of this type. */
export function memoKeys(workflowName: string): readonly string[] {
  return workflowName === CATALOG_TYPE ? CATALOG_KEYS : RUN_KEYS
}

/** Whether the memo field is Portico's own. `trace` is only with the location of a trace as its value. */
export function isReservedMemo(workflowName: string, key: string, value: unknown): boolean {
  return memoKeys(workflowName).includes(key) && (key !== TRACE_MEMO || toTraceMeta(value) !== null)
}
