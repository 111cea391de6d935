/** Wrappers that workers of the older generation put around outputs: `docs/protocol.md`. */
import { isObject } from '../lib/is-object.ts'

const WORKFLOW_WRAPPER = '__output_workflow_wrapper_version'
const ACTIVITY_WRAPPER = '__output_activity_wrapper_version'

/** The output of a workflow without its wrapper, null where that has none, and what the wrapper says of its trace. */
export function unwrapWorkflowOutput(value: unknown): { output: unknown; trace?: unknown } {
  if (!isObject(value) || !Object.hasOwn(value, WORKFLOW_WRAPPER)) return { output: value }
  return { output: value.output ?? null, trace: value.trace }
}

/** The output of a workflow or an activity without its wrapper; null where that has none. */
export function unwrapOutput(value: unknown): unknown {
  if (isObject(value) && Object.hasOwn(value, ACTIVITY_WRAPPER)) return value.output ?? null
  return unwrapWorkflowOutput(value).output
}
