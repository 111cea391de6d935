import { CATALOG_TYPE } from './catalog.ts'

const CATALOG_KEYS = ['workflowNames', 'hash', 'traces', 'redacted', 'version']

const RUN_KEYS = ['trace']

/** Memo fields that this service reads of a run of this type; all others are the user's own. */
export function memoKeys(workflowName: string): readonly string[] {
  return workflowName === CATALOG_TYPE ? CATALOG_KEYS : RUN_KEYS
}
