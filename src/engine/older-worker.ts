/** Wrappers that workers of the older generation put around outputs, and where they say where their traces are. */
import { ServiceError } from '../domain/errors.ts'
import type { TraceMeta } from '../domain/execution.ts'
import { toTraceMeta } from '../domain/trace-meta.ts'
import { isObject } from '../protocol/is-object.ts'
import type { Failure } from './failure.ts'
import type { Payloads } from './payload.ts'

const WORKFLOW_WRAPPER = '__output_workflow_wrapper_version'
const ACTIVITY_WRAPPER = '__output_activity_wrapper_version'

export interface WorkflowOutput {
  output: unknown
  /** Null when the output is not wrapped, or its wrapper does not say. */
  trace: TraceMeta | null
}

/** The output of a workflow without its wrapper; null where the wrapper has none. */
export function unwrapWorkflowOutput(value: unknown): WorkflowOutput {
  if (!isObject(value) || !Object.hasOwn(value, WORKFLOW_WRAPPER)) return { output: value, trace: null }
  return { output: value.output ?? null, trace: toTraceMeta(value.trace) }
}

/** The output of an activity or a child workflow without its wrapper; null where the wrapper has none. */
export function unwrapOutput(value: unknown): unknown {
  const isWrapped = isObject(value) && (Object.hasOwn(value, WORKFLOW_WRAPPER) || Object.hasOwn(value, ACTIVITY_WRAPPER))
  return isWrapped ? (value.output ?? null) : value
}

// As deep as a chain of causes is shown.
const MAX_CAUSES = 10

/** Where the details of a failure, or of one of its causes, say that the trace is. Never rejects for what cannot be decoded. */
export async function traceInDetails(failure: Failure, payloads: Pick<Payloads, 'decode'>): Promise<TraceMeta | null> {
  const details = chainOf(failure).flatMap(({ applicationFailureInfo }) => applicationFailureInfo?.details?.payloads ?? [])
  if (details.length === 0) return null
  try {
    const found = (await payloads.decode(details)).find((detail) => isObject(detail) && isObject(detail.trace))
    return isObject(found) ? toTraceMeta(found.trace) : null
  } catch (error) {
    // How the run ended is known without its details.
    if (error instanceof ServiceError) return null
    throw error
  }
}

function chainOf(failure: Failure): Failure[] {
  const chain = [failure]
  for (let next = failure.cause; next && chain.length <= MAX_CAUSES; next = next.cause) chain.push(next)
  return chain
}
