import { ASKS_MEMO } from './asks.ts'
import { CATALOG_TYPE } from './catalog.ts'

const CATALOG_KEYS = ['workflowNames', 'hash', 'traces', 'redacted', 'version']

/** Which request with an `Idempotency-Key` has started the run. Always plain JSON, whatever codec payloads have. */
export const IDEMPOTENCY_MEMO = '$idempotency'

const RUN_KEYS = ['trace', IDEMPOTENCY_MEMO, ASKS_MEMO]

/** The memo fields that Portico uses in a run of this type. All others belong to the user. */
export function memoKeys(workflowName: string): readonly string[] {
  return workflowName === CATALOG_TYPE ? CATALOG_KEYS : RUN_KEYS
}
