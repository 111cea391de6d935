/** Workers of the older generation wrap their outputs: `docs/protocol.md`. */
import { isObject } from '../lib/json.ts'
import { type TraceMeta, toTraceMeta } from './trace/trace-meta.ts'

const WORKFLOW_WRAPPER = '__output_workflow_wrapper_version'
const ACTIVITY_WRAPPER = '__output_activity_wrapper_version'

export interface WorkflowOutput {
  output: unknown
  /** Null when the output is not wrapped, or its wrapper does not say. */
  trace: TraceMeta | null
}

/** Unwraps the output of a workflow, if it is wrapped. */
export function unwrapWorkflowOutput(value: unknown): WorkflowOutput {
  if (!isObject(value) || !Object.hasOwn(value, WORKFLOW_WRAPPER)) return { output: value, trace: null }
  return { output: value.output ?? null, trace: toTraceMeta(value.trace) }
}

/** The output of a workflow or an activity without its wrapper; null if the wrapper holds none. */
export function unwrapOutput(value: unknown): unknown {
  if (isObject(value) && Object.hasOwn(value, ACTIVITY_WRAPPER)) return value.output ?? null
  return unwrapWorkflowOutput(value).output
}
