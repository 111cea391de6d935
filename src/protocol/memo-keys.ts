import { CATALOG_TYPE } from './catalog.ts'

const CATALOG_KEYS = ['workflowNames', 'hash', 'traces', 'redacted', 'version']

const RUN_KEYS = ['trace']

/** The memo fields that Portico reads from a run of this type. All others belong to the user. */
export function memoKeys(workflowName: string): readonly string[] {
  return workflowName === CATALOG_TYPE ? CATALOG_KEYS : RUN_KEYS
}
